package render

import (
	"testing"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/benchmark"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
	"github.com/etcdbench/etcd-benchmark-operator/internal/runtest"
	"github.com/etcdbench/etcd-benchmark-operator/internal/text"
)

// slow is a pod with this many puts in a window of this length.
func slow(puts int, window time.Duration) *results.Snapshot {
	return runtest.Measured(0, puts, func(s *results.Snapshot) {
		s.Window.End = s.Window.Start.Add(window)
		s.Window.LastResponse = s.Window.End
	})
}

// All places show the same rate, also if it is below one request per second.
func TestTheSameRateEverywhere(t *testing.T) {
	for want, snap := range map[string]*results.Snapshot{
		"0.0166": slow(1, time.Minute),
		"1.5":    slow(3, 2*time.Second),
		"999.5":  slow(1999, 2*time.Second),
		"149.9":  slow(8997, time.Minute),
	} {
		t.Run(want, func(t *testing.T) {
			b := finished([]*results.Snapshot{snap}, runtest.Objectives(runtest.MinThroughput(1000)))
			if got := b.Status.Objectives[0].Got; got != want+"/s" {
				t.Errorf("the objective got %s, wanted %s/s", got, want)
			}
			if got := Display(b).Throughput; got != want+"/s" {
				t.Errorf("the display shows %s, wanted %s/s", got, want)
			}
			op := b.Status.Summary.Operations[0]
			if got := text.RateIn(op.ThroughputPerSecond); got.Digits() != want {
				t.Errorf("status has %v, wanted %s/s", got, want)
			}
			so := &v1alpha1.EtcdBenchmark{Spec: b.Spec}
			so.Status.Progress = benchmark.Progress(b, results.Summarize([]*results.Snapshot{snap}), []*results.Snapshot{snap})
			so.Status.Progress.Requests = 1
			if got := Display(so).Throughput; got != want+"/s" {
				t.Errorf("progress shows %s, wanted %s/s", got, want)
			}
		})
	}
}

func TestASlowRateInTableAndPerfdash(t *testing.T) {
	b := finished([]*results.Snapshot{slow(1, time.Minute)})
	_, lines := cells(t, b)
	wantLine(t, lines, "Put 1 4 10 all members 0.0166 1ms 126 MB")
	items := readPerfdash(t, b).DataItems
	if got := items[len(items)-1].Data["Average"]; got < 0.0166 || got > 0.0167 {
		t.Errorf("perfdash has a throughput of %v/s, wanted a sixtieth", got)
	}
	if got, want := b.Status.Summary.ThroughputPerSecond.Float64(), items[len(items)-1].Data["Average"]; got != want {
		t.Errorf("the summary has a throughput of %v/s, wanted %v", got, want)
	}
}
