//go:build e2e

package e2e

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
)

// reliability collects how the runs with faults ended. At level all, if no test failed or was skipped, it becomes the
// lists of results.md.
var reliability ledger

// ledger collects the ends of runs from concurrent tests.
type ledger struct {
	mu      sync.Mutex
	entries []ledgerEntry
}

type ledgerEntry struct{ fault, stage, reason, result, keys string }

func (e ledgerEntry) String() string {
	return fmt.Sprintf("| %s | %s | %s | %s | %s |", e.fault, e.stage, e.reason, e.result, e.keys)
}

// add records the end of a run, unless its test has failed. left means that the run's keys could not be deleted.
func (l *ledger) add(t *testing.T, fault, stage string, b *v1alpha1.EtcdBenchmark, left bool) {
	t.Helper()
	e := ledgerEntry{fault: fault, stage: stage, reason: "deleted", result: "deleted with the object", keys: "none left"}
	if finished := meta.FindStatusCondition(b.Status.Conditions, v1alpha1.ConditionFinished); finished != nil && ended(b) {
		e.reason, e.result = finished.Reason, resultWords(b)
	}
	if cleaned := meta.FindStatusCondition(b.Status.Conditions, v1alpha1.ConditionCleaned); cleaned != nil && cleaned.Reason == v1alpha1.ReasonNothingWritten {
		e.keys = "nothing written"
	}
	if left {
		e.keys = "left; the command that deletes them is reported"
	}
	t.Logf("%s", e)
	l.mu.Lock()
	defer l.mu.Unlock()
	if !t.Failed() {
		l.entries = append(l.entries, e)
	}
}

func resultWords(b *v1alpha1.EtcdBenchmark) string {
	switch s := b.Status.Summary; {
	case s == nil || s.MeasuredRequests == 0:
		return "none: nothing was measured"
	case s.Partial:
		return "partial"
	}
	return "whole"
}

// The comments around the lists in the document.
const (
	ledgerBegin = "<!-- faults: begin; written by `make e2e LEVEL=all` -->\n"
	ledgerEnd   = "<!-- faults: end -->\n"
)

// write replaces the lists of the document, unless a test has failed.
func (l *ledger) write(t *testing.T) {
	t.Helper()
	if t.Failed() {
		return
	}
	path := filepath.Join(suite.root, "hack", "e2e", "results.md")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, begins := strings.Cut(string(text), ledgerBegin)
	_, after, ends := strings.Cut(rest, ledgerEnd)
	if !begins || !ends {
		t.Fatalf("%s: wanted the two comments around the lists, found begin %t and end %t", path, begins, ends)
	}
	if err := os.WriteFile(path, []byte(before+ledgerBegin+l.markdown(time.Now())+ledgerEnd+after), 0o644); err != nil {
		t.Fatal(err)
	}
}

// markdown returns a list for each outcome. Stages in which a fault had the same outcome share a line.
func (l *ledger) markdown(now time.Time) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	stages := map[ledgerEntry][]string{}
	var order []ledgerEntry
	for _, e := range l.entries {
		stage := e.stage
		e.stage = ""
		if stages[e] == nil {
			order = append(order, e)
		}
		stages[e] = append(stages[e], stage)
	}
	// The best outcomes come first: whole, partial, none.
	slices.SortStableFunc(order, func(a, b ledgerEntry) int {
		return cmp.Or(cmp.Compare(b.result, a.result), cmp.Compare(b.keys, a.keys), cmp.Compare(a.fault, b.fault))
	})
	var out strings.Builder
	fmt.Fprintf(&out, "\nAll passed on %s, in one invocation of the tests with %d runs.\n", now.UTC().Format(time.DateOnly), len(l.entries))
	var last ledgerEntry
	for _, e := range order {
		if e.result != last.result || e.keys != last.keys {
			fmt.Fprintf(&out, "\n**Result: %s. Keys: %s.**\n\n", e.result, e.keys)
		}
		slices.Sort(stages[e])
		fmt.Fprintf(&out, "- %s (%s): %s\n", e.fault, strings.Join(slices.Compact(stages[e]), ", "), e.reason)
		last = e
	}
	out.WriteString("\n")
	return out.String()
}
