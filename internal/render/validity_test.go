package render

import (
	"strings"
	"testing"

	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
	"github.com/etcdbench/etcd-benchmark-operator/internal/runtest"
)

func TestTheTableShowsTheClient(t *testing.T) {
	text, lines := cells(t, finished([]*results.Snapshot{runtest.Measured(0, 100, runtest.Throttled(0)), runtest.Measured(1, 100, runtest.Throttled(0))}))
	wantLine(t, lines, "client OK, it was not the limit: it used 75 % of its CPU (3 % of that for garbage collection),")
	wantLine(t, lines, "its scheduling delay was 125µs (p99)")
	if strings.Contains(text, "THE CLIENT") {
		t.Errorf("wanted no reasons for a client that was not the limit:\n%s", text)
	}
	text, lines = cells(t, finished([]*results.Snapshot{runtest.Measured(0, 100, runtest.Throttled(0.25)), runtest.Measured(1, 100, runtest.Throttled(0))}))
	wantLine(t, lines, "WHY THE CLIENT WAS A LIMIT")
	if !strings.Contains(text, "NOT OK, it WAS ITSELF A LIMIT") || !strings.Contains(text, "limits.cpu") {
		t.Errorf("wanted the verdict and the advice in:\n%s", text)
	}
}
