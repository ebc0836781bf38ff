package consul

import (
	"os"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/etcdbench/etcd-benchmark-operator/internal/load/members"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// The pages are of Consul 1.10.12, after 300 puts and a transaction.
func TestSamplesOfAPage(t *testing.T) {
	for name, want := range map[string]map[results.Timer]members.Histogram{
		"leader": {
			results.TimerWALFsync:      {Count: 311, Seconds: 0.395},
			results.TimerApply:         {Count: 309, Seconds: 0.030},
			results.TimerPeerRoundTrip: {Count: 36, Seconds: 0.010},
			results.TimerHandling:      {Count: 301, Seconds: 0.922},
		},
		"follower": {
			results.TimerWALFsync: {Count: 311, Seconds: 0.450},
			results.TimerApply:    {Count: 308, Seconds: 0.043},
			// It has answered one read.
			results.TimerHandling: {},
		},
	} {
		text, err := os.ReadFile("testdata/" + name + ".txt")
		if err != nil {
			t.Fatal(err)
		}
		page, err := metrics.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		s := metrics.Sample(page, time.Time{})
		for timer, h := range s.Timers {
			h.Seconds = time.Duration(h.Seconds * float64(time.Second)).Round(time.Millisecond).Seconds()
			s.Timers[timer] = h
		}
		if diff := cmp.Diff(want, s.Timers); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if s.Counters[results.FigureCPUSeconds] == 0 || s.Gauges[members.GaugeMemoryBytes] == 0 || s.Gauges[members.GaugeStart] == 0 {
			t.Errorf("%s: got %+v, wanted those of the process, too", name, s)
		}
	}
}

// Later versions write paths in another way.
func TestOnlyWritesAreHandled(t *testing.T) {
	for _, tc := range []struct {
		method, path string
		want         bool
	}{
		{"PUT", "v1_kv_", true}, {"DELETE", "v1.kv._", true}, {"PUT", "v1_txn", true}, {"PUT", "v1_session_destroy_", true},
		{"GET", "v1_kv_", false}, {"PUT", "v1_session_renew_", false}, {"", "", false},
	} {
		labels := map[string]string{"method": tc.method, "path": tc.path}
		if got := isWrite(func(name string) string { return labels[name] }); got != tc.want {
			t.Errorf("%s %s: got %v", tc.method, tc.path, got)
		}
	}
}
