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

func TestSummary(t *testing.T) {
	snaps := []*results.Snapshot{
		runtest.Measured(0, 100),
		runtest.Measured(1, 100, runtest.Failing(3, "Unavailable", time.Millisecond), runtest.Failing(1, "DeadlineExceeded", time.Second), runtest.CutOff(2, 2*time.Second)),
	}
	got := Summary(runtest.Puts(), results.Summarize(snaps))
	if got.MeasuredRequests != 206 || got.FailedRequests != 4 || got.CensoredRequests != 2 {
		t.Errorf("wanted 206 requests, 4 failed, 2 censored, got %+v", got)
	}
	if got.ThroughputPerSecond != "200" || got.DurationMicroseconds != 1_000_000 {
		t.Errorf("wanted 200/s in a second, got %s/s in %d µs", got.ThroughputPerSecond, got.DurationMicroseconds)
	}
	op := got.Operations[0]
	wantErrors := []v1alpha1.ErrorCount{{Code: "Unavailable", Count: 3}, {Code: "DeadlineExceeded", Count: 1}}
	if diff := cmp.Diff(wantErrors, op.Errors); diff != "" {
		t.Errorf("errors (-want +got):\n%s", diff)
	}
	wantCounts := []v1alpha1.RequestCount{{RPC: "Put", Warmup: 14, Measured: 200}, {RPC: "Txn", Control: 6}}
	if diff := cmp.Diff(wantCounts, got.RequestCounts); diff != "" {
		t.Errorf("request counts (-want +got):\n%s", diff)
	}
	if !cmp.Equal(op.Latency.AtLeast, []spec.Statistic{"Max", "Mean", "P999"}) {
		t.Errorf("wanted the statistics that include the 2 of 202 censored requests, got %v", op.Latency.AtLeast)
	}
	if l := op.Latency; l.MinMicroseconds != 1000 || l.MaxMicroseconds != 2_000_000 || op.ServiceTime.MaxMicroseconds != 100_000 {
		t.Errorf("wanted exact extremes, got %+v and %+v", l, op.ServiceTime)
	}
	if op.Lateness != nil || op.Late != nil || got.LateRequests != nil {
		t.Errorf("lateness was not recorded, got %+v", op)
	}
}

func TestSummaryCountsLateRequests(t *testing.T) {
	for want, by := range map[int64]time.Duration{0: 200 * time.Microsecond, 3: time.Second} {
		got := Summary(runtest.Puts(), results.Summarize([]*results.Snapshot{runtest.Measured(0, 100, runtest.Late(3, by))}))
		if got.LateRequests == nil || *got.LateRequests != want || *got.Operations[0].Late != want {
			t.Errorf("late by %v: got %v, wanted %d", by, got.LateRequests, want)
		}
	}
}

func TestSummaryKeepsTheBoundsOfItsSchema(t *testing.T) {
	s := results.Summarize([]*results.Snapshot{runtest.Measured(0, 1, runtest.Told())})
	for range 40 {
		s.Target.Changes = append(s.Target.Changes, results.Change{Aspect: results.AspectLeader, Detail: string(make([]rune, 600))})
	}
	errors := map[string]uint64{}
	for i := range 40 {
		errors[string(rune('A'+i))] = uint64(i + 1)
	}
	s.Operations[0].Errors = errors
	got := Summary(runtest.Puts(), s)
	if len(got.Warnings) != 16 || len(got.Warnings[0]) != 512 {
		t.Errorf("wanted 16 warnings, cut to 512 bytes, got %d: %q", len(got.Warnings), got.Warnings[0])
	}
	if kept := got.Operations[0].Errors; len(kept) != 32 || kept[0].Count != 40 {
		t.Errorf("wanted the 32 most frequent codes, got %+v", kept)
	}
}

func TestTargetStatus(t *testing.T) {
	target := &results.Target{ClusterID: "cafe", Members: []results.Member{
		{ID: "a", Name: "etcd-0", Version: "3.6.0", ResidentMemoryBytes: 5_000_000},
		{ID: "b", Version: "3.7.3", Leader: true},
	}}
	got := TargetStatus(runtest.Puts(), []string{"http://etcd-0:2379"}, target)
	want := &v1alpha1.TargetStatus{
		Endpoints: []string{"etcd-0:2379"}, KeyPrefix: "etcdbench/11112222/", ClusterID: "cafe", Leader: "b", Version: "3.7.3",
		Members: []v1alpha1.MemberStatus{
			{ID: "a", Name: "etcd-0", Version: "3.6.0", ResidentMemoryBytes: new(int64(5_000_000))},
			{ID: "b", Version: "3.7.3", Leader: true},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("target (-want +got):\n%s", diff)
	}
}

// Status has room for a run that sends every RPC of its store.
func TestRequestCountsHaveRoomForEveryRPC(t *testing.T) {
	if spec.MostRPCs > v1alpha1.MaxRequestCounts {
		t.Errorf("a store has %d RPCs, and status room for %d", spec.MostRPCs, v1alpha1.MaxRequestCounts)
	}
}
