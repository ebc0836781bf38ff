package results

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// mergeable are final snapshots of three pods, the last of which failed.
func mergeable() []*Snapshot {
	all := []*Snapshot{finalSnapshot(0, 500, OperationPut), finalSnapshot(1, 300, OperationPut, OperationRange), failingSnapshot()}
	all[2].Index, all[2].Target = 2, nil
	all[0].Operations[OperationPut].Lost, all[0].Operations[OperationPut].Attempts = 2, 2
	return all
}

func TestMergeAddsUp(t *testing.T) {
	all := mergeable()
	got := Merge([]*Snapshot{all[0], nil, all[1], all[2]})
	if got.Index != -1 || got.RunUID != all[0].RunUID || got.Transport != "ClientV3" || got.Target != all[0].Target {
		t.Errorf("merge is of %d, %s, %s, %v", got.Index, got.RunUID, got.Transport, got.Target)
	}
	var want Histogram
	for _, s := range all {
		want.Merge(&s.Operations[OperationPut].Latency)
	}
	put := got.Operations[OperationPut]
	requireSame(t, want, put.Latency)
	requireSame(t, all[1].Operations[OperationRange].Service, got.Operations[OperationRange].Service)
	counts := map[string]uint64{
		"completed": put.CompletedInWindow, "unavailable": put.Errors["Unavailable"],
		"puts": got.Requests[RPCPut][PhaseMeasured], "txns": got.Requests[RPCTxn][PhaseControl],
		"lost": put.Lost, "attempts": put.Attempts,
	}
	wantCounts := map[string]uint64{"completed": 1800, "unavailable": 1, "puts": 1800, "txns": 9, "lost": 5, "attempts": 1502}
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
			for i, h := range result.all() {
				requireSame(t, *h, *got.Operations[operation].all()[i])
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
	merged.Requests[RPCPut][PhaseMeasured] = 0
	merged.Operations[OperationPut].Latency.Record(1)
	merged.Operations[OperationPut].Errors["Unavailable"] = 7
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
		"other transports": {Snapshot{Transport: "ClientV3"}, Snapshot{Transport: "Fast"}, Snapshot{}},
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
