package benchmark

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
	"github.com/etcdbench/etcd-benchmark-operator/internal/runtest"
)

func TestSummaryOfWatches(t *testing.T) {
	b := runtest.Puts()
	s := Summary(b, results.Summarize([]*results.Snapshot{runtest.Measured(0, 100, runtest.Events(5)), runtest.Measured(1, 100, runtest.Events(0))}))
	want := &v1alpha1.WatchSummary{
		Watchers: 2, ExpectedEvents: 200, MissedEvents: 5, DuplicateEvents: 4, CancelledWatchers: 6, ResumedWatchers: 8, Replays: 18,
	}
	if diff := cmp.Diff(want, s.Watch); diff != "" {
		t.Errorf("watch (-want +got):\n%s", diff)
	}
	if s.MeasuredRequests != 200 || s.FailedRequests != 0 {
		t.Errorf("%d requests were measured and %d failed, wanted only the 200 puts", s.MeasuredRequests, s.FailedRequests)
	}
	if got := Pod(runtest.Measured(0, 100, runtest.Events(5))).MeasuredRequests; got != 100 {
		t.Errorf("a pod measured %d requests, wanted 100", got)
	}
	if s := Summary(b, results.Summarize([]*results.Snapshot{runtest.Measured(0, 1)})); s.Watch != nil {
		t.Errorf("a run without watchers has %+v", s.Watch)
	}
}
