package flags

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The marks of flags that only one of the two versions has.
const (
	markOld = "³·⁶"
	markNew = "³·⁷"
)

// mention is a flag in the table, with its mark. Without a command it means that flag of any command.
type mention struct {
	flag
	mark string
}

func (m mention) means(f flag) bool {
	return m.name == f.name && (m.command == "" || m.command == f.command)
}

var (
	codes = regexp.MustCompile("`([^`]+)`(" + markOld + "|" + markNew + ")?")
	names = regexp.MustCompile(`--([a-z-]+)`)
)

// mentions returns the flags in the first column of a table. A row's first code
// names the command of all.
func mentions(table string) (out []mention) {
	for line := range strings.Lines(table) {
		if !strings.HasPrefix(line, "| `") {
			continue
		}
		cell, _, _ := strings.Cut(line[2:], " | ")
		command := ""
		for i, code := range codes.FindAllStringSubmatch(cell, -1) {
			if i == 0 {
				command = commandOf(code[1])
			}
			for _, name := range names.FindAllStringSubmatch(code[1], -1) {
				out = append(out, mention{flag{command, name[1]}, code[2]})
			}
		}
	}
	return out
}

// commandOf returns the words of a code span up to the first flag or argument.
func commandOf(code string) string {
	var words []string
	for _, word := range strings.Fields(code) {
		if strings.HasPrefix(word, "-") || word != strings.ToLower(word) {
			break
		}
		words = append(words, word)
	}
	return strings.Join(words, " ")
}

// faults returns the flags of two versions that a table lacks, and its wrong entries.
func faults(table []mention, older, newer map[flag]bool) (out []string) {
	for _, version := range []map[flag]bool{older, newer} {
		for f := range version {
			if !slices.ContainsFunc(table, func(m mention) bool { return m.means(f) }) {
				out = append(out, fmt.Sprintf("%s --%s is not there", f.command, f.name))
			}
		}
	}
	for _, m := range table {
		if want, there := markOf(m, older, newer); !there {
			out = append(out, fmt.Sprintf("%s --%s is no flag", m.command, m.name))
		} else if m.mark != want {
			out = append(out, fmt.Sprintf("%s --%s is marked %q, wanted %q", m.command, m.name, m.mark, want))
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// markOf returns the mark that a flag should have; false if neither version has the flag.
func markOf(m mention, older, newer map[flag]bool) (mark string, there bool) {
	has := func(version map[flag]bool) bool {
		for f := range version {
			if m.means(f) {
				return true
			}
		}
		return false
	}
	switch inOld, inNew := has(older), has(newer); {
	case inOld && inNew:
		return "", true
	case inOld:
		return markOld, true
	default:
		return markNew, inNew
	}
}

// A user of etcd's tool finds each of its flags in the table.
func TestTheTableHasEveryFlag(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "etcd-tool.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, table, found := strings.Cut(string(page), "## Flags of etcd's benchmark tool")
	older, newer := toolFlags(t, "benchmark"), toolFlags(t, "benchmark-3.7")
	if !found || len(older) < 50 || len(newer) < 50 {
		t.Fatalf("found %d and %d flags, and the table: %v", len(older), len(newer), found)
	}
	for _, fault := range faults(mentions(table), older, newer) {
		t.Error(fault)
	}
}

func TestFaults(t *testing.T) {
	older := map[flag]bool{{"", "conns"}: true, {"", "gone"}: true, {"put", "rate"}: true, {"mvcc put", "txn"}: true}
	newer := map[flag]bool{{"", "conns"}: true, {"put", "rate"}: true, {"range", "rate"}: true, {"range", "new"}: true, {"mvcc put", "txn"}: true}
	whole := "| `--conns`, `--gone`³·⁶ | here |\n| `--rate` | here `--other` |\n| `range KEY` | here |\n| `range --new x`³·⁷, `y` | here |\n| `mvcc put --txn` | no |\n"
	tests := map[string]struct {
		table string
		want  []string
	}{
		"whole":                {whole, nil},
		"a flag of all":        {strings.Replace(whole, "`--conns`, ", "", 1), []string{" --conns is not there"}},
		"of one command alone": {strings.Replace(whole, "`--rate`", "`put --rate`", 1), []string{"range --rate is not there"}},
		"of another command":   {strings.Replace(whole, "mvcc put", "put", 1), []string{"mvcc put --txn is not there", "put --txn is no flag"}},
		"old, unmarked":        {strings.Replace(whole, "³·⁶", "", 1), []string{` --gone is marked "", wanted "³·⁶"`}},
		"new, unmarked":        {strings.Replace(whole, "³·⁷", "", 1), []string{`range --new is marked "", wanted "³·⁷"`}},
		"unknown":              {whole + "| `put --size` | here |\n", []string{"put --size is no flag"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, faults(mentions(tc.table), older, newer)); diff != "" {
				t.Errorf("faults (-want +got):\n%s", diff)
			}
		})
	}
}
