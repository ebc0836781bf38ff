package render

import (
	"strings"
	"testing"

	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
	"github.com/etcdbench/etcd-benchmark-operator/internal/runtest"
)

func TestTheTableShowsTheClient(t *testing.T) {
	text, lines := cells(t, finished([]*results.Snapshot{runtest.Measured(0, 100, runtest.Throttled(0)), runtest.Measured(1, 100, runtest.Throttled(0))}))
	wantLine(t, lines, "client not the limit: 75 % of its processors used, 3 % of that for garbage collection, work")
	if strings.Contains(text, "THE CLIENT") {
		t.Errorf("a client that was no limit is explained:\n%s", text)
	}
	text, lines = cells(t, finished([]*results.Snapshot{runtest.Measured(0, 100, runtest.Throttled(0.25)), runtest.Measured(1, 100, runtest.Throttled(0))}))
	wantLine(t, lines, "WHY THE CLIENT WAS A LIMIT")
	if !strings.Contains(text, "limits.cpu") {
		t.Errorf("wanted what to change in:\n%s", text)
	}
}
