package render

import (
	"fmt"
	"strings"
	"testing"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
	"github.com/etcdbench/etcd-benchmark-operator/internal/runtest"
)

// However much a run has to say, its verdict stays on the page.
func TestWriteShortCutsWhatIsLessImportant(t *testing.T) {
	run := finished([]*results.Snapshot{runtest.Measured(0, 100)})
	s := run.Status.Summary
	for i := range 60 {
		s.Warnings = append(s.Warnings, fmt.Sprintf("warning %d: %s", i, strings.Repeat("a long sentence ", 20)))
		s.Operations = append(s.Operations, v1alpha1.OperationSummary{Operation: spec.Operation(fmt.Sprint("Operation", i))})
	}
	run.Status.Objectives = []v1alpha1.ObjectiveStatus{{Name: "fast", Result: v1alpha1.ObjectiveMissed, Wanted: "at most 1ms", Got: "2ms"}}
	var out strings.Builder
	if err := WriteShort(&out, run, "", nil, "more"); err != nil {
		t.Fatal(err)
	}
	got := out.String()
	if n := strings.Count(got, "\n"); n > ShortLines {
		t.Errorf("wanted at most %d lines, found %d", ShortLines, n)
	}
	for _, want := range []string{"result  ", "MISSED", "…\n", "\nmore\n"} {
		if !strings.Contains(got, want) {
			t.Errorf("wanted %q in\n%s", want, got)
		}
	}
}

func TestWriteShortLeavesDetailsOut(t *testing.T) {
	run := finished([]*results.Snapshot{runtest.Measured(0, 100)})
	var short, whole strings.Builder
	if err := WriteShort(&short, run, "", nil, "more"); err != nil {
		t.Fatal(err)
	}
	if err := WriteTable(&whole, run, nil); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(short.String(), "REQUESTS SENT") || !strings.Contains(whole.String(), "REQUESTS SENT") {
		t.Errorf("wanted the requests of each phase in the details alone\n%s", short.String())
	}
}
