package results

import (
	"fmt"
	"strings"
	"testing"
	"unicode"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
)

func TestAnExampleIsShortAndPrintable(t *testing.T) {
	for name, message := range map[string]string{
		"a terminal's":      "\x1b[2J\x1b]0;title\a",
		"of several lines":  "too\r\nlarge\u2028or\u0085not",
		"the other way on":  "a\u202eb",
		"not UTF-8":         "\xff\xfe" + strings.Repeat("\xc3", 300),
		"long":              strings.Repeat("é", 1<<20),
		"long and of bytes": strings.Repeat("\x00", 1<<20),
	} {
		var all Examples
		all.Add("Unknown", message)
		got := all["Unknown"]
		if got == "" || len(got) > maxExample || strings.ContainsFunc(got, func(r rune) bool { return !unicode.IsPrint(r) || r == unicode.ReplacementChar }) {
			t.Errorf("%s: %d bytes, %.300q", name, len(got), got)
		}
	}
}

func TestThereAreFewExamples(t *testing.T) {
	var all Examples
	for i := range 1000 {
		all.Add(fmt.Sprintf("Code(%d)", i), "new")
		all.Add("Code(0)", "again")
	}
	if len(all) != MaxExamples || all["Code(0)"] != "new" {
		t.Errorf("%d examples; that of the first code is %q", len(all), all["Code(0)"])
	}
}

// Each code keeps the example of the first pod that has one.
func TestMergeKeepsAnExampleOfEachCode(t *testing.T) {
	all := mergeable()
	for i, examples := range []Examples{{"Aborted": "a"}, {"Aborted": "b", "Unavailable": "c"}, {"Unavailable": "d"}} {
		all[i].Operations[spec.OperationPut].Examples = examples
	}
	for range 20 {
		if got := Merge(all).Operations[spec.OperationPut].Examples; len(got) != 2 || got["Aborted"] != "a" || got["Unavailable"] != "c" {
			t.Fatalf("the merged examples are %v", got)
		}
	}
}
