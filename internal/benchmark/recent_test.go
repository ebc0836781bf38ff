package benchmark

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
	"github.com/etcdbench/etcd-benchmark-operator/internal/runtest"
)

// after is a pod that has answered n puts within 1 ms, then slow ones within 8 ms.
func after(seconds, n, slow int) *results.Snapshot {
	s := runtest.Measured(0, 0)
	s.Clock = runtest.WindowStart.Add(time.Duration(seconds) * time.Second)
	put := &results.OperationResult{}
	for range n {
		put.Latency.Record(int64(time.Millisecond))
	}
	for range slow {
		put.Latency.Record(int64(8 * time.Millisecond))
	}
	s.Operations = map[spec.Operation]*results.OperationResult{spec.OperationPut: put}
	return s
}

func TestRecentIsAboutTheTimeSinceTheUpdateBefore(t *testing.T) {
	var r Recent
	update := func(s *results.Snapshot) *v1alpha1.RecentProgress {
		p := progressOf(runtest.Puts(), []*results.Snapshot{s, nil})
		r.Update(p, s, []*results.Snapshot{s, nil})
		return p.Recent
	}
	if got := update(after(1, 5000, 0)); got != nil {
		t.Errorf("before there was an update, got %+v", got)
	}
	got := update(after(3, 5000, 2000))
	if got == nil || got.DurationMicroseconds != 2_000_000 || got.SucceededRequests != 2000 || got.P50Microseconds < 7900 || got.P50Microseconds > 8100 || got.P99Microseconds < 7900 {
		t.Errorf("got %+v, wanted 2,000 requests of 8 ms in 2 s", got)
	}
	if diff := cmp.Diff(got, update(after(3, 5000, 2000))); diff != "" {
		t.Errorf("without newer counts (-want +got):\n%s", diff)
	}
	if got := update(after(4, 5000, 2005)); got.SucceededRequests != 5 || got.P50Microseconds == 0 || got.P99Microseconds != 0 {
		t.Errorf("got %+v, wanted no 99th percentile of five requests", got)
	}
	// A pod was lost: its counts are missing.
	if got := update(after(5, 100, 0)); got != nil {
		t.Errorf("without a pod's counts, got %+v", got)
	}
}

// Work and the measured window have a rate and an estimate.
func TestProgressEstimates(t *testing.T) {
	at := func(seconds int) time.Time { return runtest.WindowStart.Add(time.Duration(seconds) * time.Second) }
	preloading := func(done uint64, clock int) *results.Snapshot {
		return &results.Snapshot{Stage: results.StagePreloading, Clock: at(clock), Work: results.Work{Done: done, Total: 1000, Since: at(0)}}
	}
	measuring := func(clock int) *results.Snapshot {
		s := after(clock, 100, 0)
		s.Stage, s.Window = results.StageMeasuring, results.Window{Start: at(0), Planned: 60 * time.Second, LastResponse: at(clock)}
		return s
	}
	bound := runtest.Puts()
	bound.Spec.Load.Requests, bound.Spec.Load.DurationSeconds = new(int64(500)), nil
	timed := runtest.Puts()
	timed.Spec.Load.Requests, timed.Spec.Load.DurationSeconds = nil, new(int32(60))
	byRequests := func(s *results.Snapshot) *results.Snapshot {
		s.Window.Planned, s.Window.PlannedRequests = 0, 500
		return s
	}
	for name, tc := range map[string]struct {
		run  *v1alpha1.EtcdBenchmark
		pods []*results.Snapshot
		work *v1alpha1.WorkProgress
		left *int64
	}{
		"two pods preload": {timed, []*results.Snapshot{preloading(100, 10), preloading(300, 9)},
			&v1alpha1.WorkProgress{Done: 400, Total: 2000, PerSecond: "43.333333"}, new(int64(37))},
		"the preload begins":   {timed, []*results.Snapshot{preloading(0, 1)}, &v1alpha1.WorkProgress{Total: 1000}, nil},
		"a window of time":     {timed, []*results.Snapshot{measuring(15), nil}, nil, new(int64(45))},
		"a window of requests": {bound, []*results.Snapshot{byRequests(measuring(10))}, nil, new(int64(40))},
		"nothing is known":     {timed, []*results.Snapshot{nil}, nil, nil},
		"the load is over":     {timed, []*results.Snapshot{runtest.Measured(0, 100)}, nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			got := progressOf(tc.run, tc.pods)
			if diff := cmp.Diff(tc.work, got.Work); diff != "" {
				t.Errorf("work (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tc.left, got.SecondsLeft); diff != "" {
				t.Errorf("seconds left (-want +got):\n%s", diff)
			}
		})
	}
}
