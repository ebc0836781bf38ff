package results

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
)

// mergeable are final snapshots of three pods; the last one failed.
func mergeable() []*Snapshot {
	all := []*Snapshot{finalSnapshot(0, 500, spec.OperationPut), finalSnapshot(1, 300, spec.OperationPut, spec.OperationRange), finalSnapshot(2, 1000, spec.OperationPut)}
	put := all[2].Operations[spec.OperationPut]
	put.Failed, put.Errors["Unavailable"], put.Lost, put.Attempts = recorded(5e9), 1, 3, 1500
	put.Examples.Add("Unavailable", "request timed out")
	all[0].Bodies, all[2].Bodies = Bodies{Sent: 500, Received: 5}, Bodies{Sent: 20, Received: 2}
	all[0].Operations[spec.OperationPut].Lost, all[0].Operations[spec.OperationPut].Attempts = 2, 2
	return all
}

func TestMergeAddsUp(t *testing.T) {
	all := mergeable()
	got := Merge([]*Snapshot{all[0], nil, all[1], all[2]})
	if got.Index != -1 || got.RunUID != all[0].RunUID || got.Transport != spec.TransportClient || got.Target != all[0].Target {
		t.Errorf("merge is of %d, %s, %s, %v", got.Index, got.RunUID, got.Transport, got.Target)
	}
	var want Histogram
	for _, s := range all {
		want.Merge(&s.Operations[spec.OperationPut].Latency)
	}
	put := got.Operations[spec.OperationPut]
	requireSame(t, want, put.Latency)
	requireSame(t, all[1].Operations[spec.OperationRange].Service, got.Operations[spec.OperationRange].Service)
	counts := map[string]uint64{
		"completed": put.CompletedInWindow, "unavailable": put.Errors["Unavailable"],
		"puts": got.Requests[spec.RPCPut][PhaseMeasured], "txns": got.Requests[spec.RPCTxn][PhaseControl],
		"lost": put.Lost, "attempts": put.Attempts, "sent": got.Bodies.Sent, "received": got.Bodies.Received,
	}
	wantCounts := map[string]uint64{"completed": 1800, "unavailable": 1, "puts": 1800, "txns": 9, "lost": 5, "attempts": 1502, "sent": 520, "received": 7}
	if diff := cmp.Diff(wantCounts, counts); diff != "" {
		t.Errorf("counts (-want +got):\n%s", diff)
	}
}

func TestMergeIsTheSameInAnyOrderAndInSteps(t *testing.T) {
	all := mergeable()
	want := Merge(all)
	reversed := slices.Clone(all)
	slices.Reverse(reversed)
	for name, got := range map[string]*Snapshot{
		"in reverse": Merge(reversed),
		"in steps":   Merge([]*Snapshot{Merge(all[:1]), Merge(all[1:])}),
	} {
		for operation, result := range want.Operations {
			for i, h := range result.Histograms() {
				requireSame(t, *h, *got.Operations[operation].Histograms()[i])
			}
		}
		got.Operations = want.Operations
		if diff := cmp.Diff(want, got, sameSnapshot...); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestMergeLeavesItsInputAlone(t *testing.T) {
	all, untouched := mergeable(), mergeable()
	merged := Merge(all)
	Merge([]*Snapshot{merged, all[0]})
	merged.Requests[spec.RPCPut][PhaseMeasured] = 0
	merged.Operations[spec.OperationPut].Latency.Record(1)
	merged.Operations[spec.OperationPut].Errors["Unavailable"] = 7
	if diff := cmp.Diff(untouched, all, sameSnapshot...); diff != "" {
		t.Errorf("input (-before +after):\n%s", diff)
	}
}

func TestMergeSaysTheMostCarefulThing(t *testing.T) {
	failure := &Failure{Reason: FailureTLSFailed, Message: "no"}
	tests := map[string]struct {
		a, b, want Snapshot
	}{
		"earliest stage": {
			Snapshot{Stage: StageDone}, Snapshot{Stage: StageMeasuring}, Snapshot{Stage: StageMeasuring},
		},
		"first failure": {Snapshot{}, Snapshot{Failure: failure}, Snapshot{Failure: failure}},
		"keys left": {
			Snapshot{Cleaning: CleaningKeysDeleted}, Snapshot{Cleaning: CleaningKeysLeft}, Snapshot{Cleaning: CleaningKeysLeft},
		},
		"keys deleted": {
			Snapshot{Cleaning: CleaningNothingWritten}, Snapshot{Cleaning: CleaningKeysDeleted}, Snapshot{Cleaning: CleaningKeysDeleted},
		},
		"stopped":          {Snapshot{Stopped: true}, Snapshot{}, Snapshot{Stopped: true}},
		"coarse pacing":    {Snapshot{CoarsePacing: true}, Snapshot{}, Snapshot{CoarsePacing: true}},
		"other transports": {Snapshot{Transport: spec.TransportClient}, Snapshot{Transport: "Fast"}, Snapshot{}},
		"omitted once": {
			Snapshot{Omitted: []string{"lateness"}}, Snapshot{Omitted: []string{"lateness", "target"}},
			Snapshot{Omitted: []string{"lateness", "target"}},
		},
		"whole span": {
			Snapshot{Window: Window{
				StartAt: testStart, Skew: 3, Start: testStart.Add(1), End: testStart.Add(9), LastResponse: testStart.Add(10),
				PlannedRequests: 5,
			}},
			Snapshot{Window: Window{
				StartAt: testStart, Skew: 2, Start: testStart.Add(2), End: testStart.Add(8), LastResponse: testStart.Add(11),
				PlannedRequests: 6,
			}},
			Snapshot{Window: Window{
				StartAt: testStart, Skew: 3, Start: testStart.Add(1), End: testStart.Add(9), LastResponse: testStart.Add(11),
				PlannedRequests: 11,
			}},
		},
		"skipped by any pod": {
			Snapshot{Target: &Target{Skipped: map[string]string{"a:1": "refuses", "b:1": "refuses"}}},
			Snapshot{Target: &Target{Skipped: map[string]string{"b:1": "does not answer", "c:1": "refuses"}}},
			Snapshot{Target: &Target{Skipped: map[string]string{"a:1": "refuses", "b:1": "does not answer", "c:1": "refuses"}}},
		},
		"members that any pod reached": {
			Snapshot{Target: &Target{AnsweredBy: map[string][]string{"a:1": {"1"}, "b:1": {"2"}}}},
			Snapshot{Target: &Target{AnsweredBy: map[string][]string{"a:1": {"1", "3"}, "c:1": {"4"}}}},
			Snapshot{Target: &Target{AnsweredBy: map[string][]string{"a:1": {"1", "3"}, "b:1": {"2"}, "c:1": {"4"}}}},
		},
		"skipped by one pod": {
			Snapshot{Target: &Target{Skipped: map[string]string{"a:1": "refuses"}}}, Snapshot{Target: &Target{}},
			Snapshot{Target: &Target{Skipped: map[string]string{"a:1": "refuses"}}},
		},
		"no end yet": {
			Snapshot{Window: Window{End: testStart, Planned: time.Second}}, Snapshot{Window: Window{Planned: time.Second}},
			Snapshot{Window: Window{Planned: time.Second}},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			tc.want.Index = -1
			if diff := cmp.Diff(&tc.want, Merge([]*Snapshot{&tc.a, &tc.b}), sameSnapshot...); diff != "" {
				t.Errorf("merge (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(&tc.want, Merge([]*Snapshot{&tc.b, &tc.a}), sameSnapshot...); diff != "" {
				t.Errorf("merge the other way round (-want +got):\n%s", diff)
			}
		})
	}
}
