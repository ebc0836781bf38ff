package render

import (
	"strings"
	"testing"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
	"github.com/etcdbench/etcd-benchmark-operator/internal/runtest"
)

func TestTheTableShowsTheClient(t *testing.T) {
	text, lines := cells(t, finished([]*results.Snapshot{runtest.Measured(0, 100, runtest.Throttled(0)), runtest.Measured(1, 100, runtest.Throttled(0))}))
	wantLine(t, lines, "valid yes, the load generator was not a limit. The load generator used 75 % of its CPU (3 % of")
	wantLine(t, lines, "that for garbage collection), waited 5µs per request for a processor.")
	if strings.Contains(text, "WHY THE") {
		t.Errorf("wanted no reasons for a client that was not the limit:\n%s", text)
	}
	b := finished([]*results.Snapshot{runtest.Measured(0, 100, runtest.Throttled(0))})
	b.Status.Summary.Saturated = &v1alpha1.Saturation{Message: "It waited.", Change: "More clients."}
	text, lines = cells(t, b)
	wantLine(t, lines, "WHY THE TARGET DID NOT KEEP UP")
	wantLine(t, lines, "It waited.")
	wantLine(t, lines, "More clients.")
	if !strings.Contains(text, "yes, the load generator was not a limit. The target DID NOT KEEP UP") {
		t.Errorf("wanted both verdicts in:\n%s", text)
	}
	text, lines = cells(t, finished([]*results.Snapshot{runtest.Measured(0, 100, runtest.Throttled(0.25)), runtest.Measured(1, 100, runtest.Throttled(0))}))
	wantLine(t, lines, "WHY THE LOAD GENERATOR WAS A LIMIT")
	if !strings.Contains(text, "NOT FULLY, the load generator was itself a limit, see below") || !strings.Contains(text, "limits.cpu") {
		t.Errorf("wanted the verdict and the advice in:\n%s", text)
	}
}

// Lateness is a part of the latency, and no reason to distrust everything else.
func TestTheTableSaysWhatALateGeneratorAdded(t *testing.T) {
	text, _ := cells(t, finished([]*results.Snapshot{runtest.Measured(0, 2000, runtest.Late(2000, 600*time.Millisecond))}))
	if !strings.Contains(text, "yes, but the load generator added up to 600ms (p99)") {
		t.Errorf("wanted what the load generator added in:\n%s", text)
	}
	// Nothing calls harmless what the line before says was added, and the number is the same.
	if strings.Contains(text, "harmless") || strings.Count(text, "600ms") != strings.Count(text, "60")-strings.Count(text, "600 ") {
		t.Errorf("wanted one number for the lateness in:\n%s", text)
	}
	if strings.Contains(text, "WAS A LIMIT") || !strings.Contains(text, "HOW LATE THE LOAD GENERATOR WAS") {
		t.Errorf("wanted no limit beside a verdict of yes in:\n%s", text)
	}
}
