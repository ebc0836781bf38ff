package render

import (
	"slices"
	"strings"
	"testing"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
	"github.com/etcdbench/etcd-benchmark-operator/internal/runtest"
)

// Events are not requests. They have latencies, and no rate.
func TestEventsHaveLatenciesAndNoRates(t *testing.T) {
	run := finished([]*results.Snapshot{runtest.Measured(0, 1000, runtest.Events(5))}, func(b *v1alpha1.EtcdBenchmark) {
		b.Spec.Workload = spec.Workload{Type: spec.WorkloadWatch, Watch: &spec.Watch{}}
	})
	latency, rate := false, false
	for _, item := range readPerfdash(t, run).DataItems {
		if item.Labels["Operation"] == "WATCHEVENT" {
			rate = rate || item.Labels["Metric"] == "Throughput"
			latency = latency || item.Unit == "ms"
		}
	}
	if !latency || rate {
		t.Errorf("perfdash has a latency of events: %v, a throughput of them: %v; wanted only the latency", latency, rate)
	}
	_, lines := cells(t, run)
	if i := slices.IndexFunc(lines, func(l string) bool { return strings.HasPrefix(l, "WatchEvent latency ") }); i < 0 {
		t.Errorf("no latency of events in:\n%s", strings.Join(lines, "\n"))
	}
	if i := slices.IndexFunc(lines, func(l string) bool {
		return strings.HasPrefix(l, "WatchEvent 1") || strings.HasPrefix(l, "WatchEvent 9")
	}); i >= 0 {
		t.Errorf("events are among the requests: %s", lines[i])
	}
}

func TestTableOfWatches(t *testing.T) {
	_, lines := cells(t, finished([]*results.Snapshot{runtest.Measured(0, 1000, runtest.Events(5))}))
	wantLine(t, lines, "WATCHERS EXPECTED EVENTS MISSED DUPLICATE CANCELLED RESUMED REPLAYS")
	wantLine(t, lines, "1 1,000 5 2 3 4 9")
}

func TestTableShowsTheConnectionsOfWatchers(t *testing.T) {
	for name, tc := range map[string]struct {
		workload spec.Workload
		want     string
	}{
		"shared":  {spec.Workload{Type: spec.WorkloadWatch, Watch: &spec.Watch{}}, " connections, "},
		"of puts": {spec.Workload{Type: spec.WorkloadWatch, Watch: &spec.Watch{Connections: 4}}, " connections and 4 for watchers, "},
		"of gets": {spec.Workload{Type: spec.WorkloadWatchGet, WatchGet: &spec.WatchGet{Connections: 1000}}, " connections and 1,000 for watchers, "},
	} {
		t.Run(name, func(t *testing.T) {
			run := finished([]*results.Snapshot{runtest.Measured(0, 1000)})
			run.Spec.Workload = tc.workload
			if text, _ := cells(t, run); !strings.Contains(text, tc.want) {
				t.Errorf("wanted %q in:\n%s", tc.want, text)
			}
		})
	}
}
