package benchmark

import (
	"testing"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
	"github.com/etcdbench/etcd-benchmark-operator/internal/runtest"
)

func TestValidity(t *testing.T) {
	b := runtest.Puts()
	got := Summary(b, results.Summarize([]*results.Snapshot{runtest.Measured(0, 100, runtest.Throttled(0)), runtest.Measured(1, 100, runtest.Throttled(0.25))})).Validity
	if got.Verdict != v1alpha1.ValidityClientBound || len(got.Reasons) != 1 || got.Reasons[0].Cause != v1alpha1.CauseThrottled {
		t.Fatalf("wanted the throttled pod to be the limit, got %+v", got)
	}
	if *got.CPUPercent != 75 || *got.GarbageCollectionPercent != 3 || *got.ThrottledMicroseconds != 250_000 || *got.GoroutineDelayP99Microseconds != 125 || *got.DelayPerRequestMicroseconds != 5 {
		t.Errorf("wanted the numbers of the worst pod, got %+v", got)
	}
	got = Summary(b, results.Summarize([]*results.Snapshot{runtest.Measured(0, 100)})).Validity
	if got.Verdict != v1alpha1.ValidityUnknown || got.CPUPercent != nil || got.ThrottledMicroseconds != nil {
		t.Errorf("wanted no figures for a pod without a report, got %+v", got)
	}
}
