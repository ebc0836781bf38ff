package spec

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the table of stores into the documentation")

func page(name string) string { return filepath.Join("..", "..", "docs", name) }

// table returns the rows of all stores as the documentation has them.
func table() string {
	lines := []string{"| setting |", "|---|"}
	for _, setting := range []string{
		"`workload.type`", "`consistency` of reads", "`load.transport`", "several `target.endpoints`", "`target.members`", "`target.memberIndex`", "`target.tls`", "`target.auth`",
		"`disturbances`", "`guard.stopOn`", "`objectives`",
	} {
		lines = append(lines, "| "+setting+" |")
	}
	for _, d := range Datastores() {
		if stores[d].Folder {
			// It is no store: docs/disk.md.
			continue
		}
		s, all := stores[d], stores[DefaultDatastore]
		cells := []string{
			"`" + string(d) + "`", "", listOf(s.Workloads, all.Workloads), listOf(s.Consistencies, nil), listOf(s.Transports, nil),
			yesOrNo(s.Addresses), listOf(s.Members, all.Members), yesOrNo(s.MemberIndex), yesOrNo(s.TLS), listOf(s.Auth, nil),
			listOf(s.Disturbances, all.Disturbances), listOf(s.StopRules, all.StopRules), listOf(s.Objectives, all.Objectives),
		}
		for i, cell := range cells {
			if i == 1 {
				lines[i] += "---|"
				continue
			}
			lines[i] += " " + cell + " |"
		}
	}
	return "\n" + strings.Join(lines, "\n") + "\n"
}

// listOf shows values, and those that are all values as a word.
func listOf[T ~string](values, all []T) string {
	if len(values) == 0 || len(values) == len(all) {
		return map[bool]string{true: "none", false: "all"}[len(values) == 0]
	}
	words := make([]string, len(values))
	for i, v := range values {
		words[i] = "`" + string(v) + "`"
	}
	return strings.Join(words, ", ")
}

func yesOrNo(yes bool) string { return map[bool]string{true: "yes", false: "no"}[yes] }

func TestThePageOfStoresHasTheRows(t *testing.T) {
	const begin, end = "<!-- stores -->", "<!-- end -->"
	data, err := os.ReadFile(page("stores.md"))
	if err != nil {
		t.Fatal(err)
	}
	before, rest, found := strings.Cut(string(data), begin)
	got, after, closed := strings.Cut(rest, end)
	if !found || !closed {
		t.Fatalf("wanted %s and %s in docs/stores.md", begin, end)
	}
	if got == table() {
		return
	}
	if !*update {
		t.Fatalf("docs/stores.md differs from the rows; write it with go test ./api/spec -update. Found:%swanted:%s", got, table())
	}
	if err := os.WriteFile(page("stores.md"), []byte(before+begin+table()+end+after), 0o644); err != nil {
		t.Fatal(err)
	}
}

// The table of workloads says yes if Fast sends all variants of a row, and no if it sends none. The page says that JSON sends
// the same of the first five rows, and V2 of the first two.
func TestThePageOfWorkloadsKnowsWhatTransportsSend(t *testing.T) {
	data, err := os.ReadFile(page("workloads.md"))
	if err != nil {
		t.Fatal(err)
	}
	rows := regexp.MustCompile("(?m)^\\| \\[`(\\w+)`(?:, `mode: (\\w+)`)?\\].*\\| (.*) \\|$").FindAllStringSubmatch(string(data), -1)
	seen := map[Variant]bool{}
	for i, row := range rows {
		kind, mode, cell := row[1], row[2], row[3]
		sent, all := 0, 0
		for _, v := range Variants() {
			first, setting, _ := strings.Cut(string(v), " ")
			if first != kind || mode == "Puts" && setting != "" || mode == "CompareAndSwap" && setting != mode {
				continue
			}
			all, seen[v] = all+1, true
			fast := slices.Contains(TransportFast.Workloads(), v)
			if fast {
				sent++
			}
			for transport, rows := range map[Transport]int{TransportJSON: 6, TransportV2: 2} {
				if slices.Contains(transport.Workloads(), v) != (fast && (i < rows || kind == "Fetch")) {
					t.Errorf("docs/workloads.md is wrong about %s over %s", v, transport)
				}
			}
		}
		if (cell == "yes") != (sent == all) || (cell == "no") != (sent == 0) {
			t.Errorf("docs/workloads.md says %q about %s %s, and Fast sends %d of %d variants", cell, kind, mode, sent, all)
		}
	}
	if len(seen) != len(Variants()) {
		t.Errorf("docs/workloads.md has %d variants of %d", len(seen), len(Variants()))
	}
}

// A row without a prefix to match accepts none.
func TestPrefixLimits(t *testing.T) {
	for prefix, want := range map[string][3]bool{
		"bench/": {false, true, true}, "a//b/": {false, true, false}, "zookeeper/a/": {false, true, false}, "/a.b/": {false, true, true},
	} {
		got := [3]bool{PrefixLimits{}.Accept(prefix) || PrefixLimits{Except: "^$"}.Accept(prefix), stores[Etcd].KeyPrefix.Accept(prefix), stores[ZooKeeper].KeyPrefix.Accept(prefix)}
		if got != want {
			t.Errorf("%s: %v (no prefix to match, etcd, ZooKeeper), wanted %v", prefix, got, want)
		}
	}
}
