package workload

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

func TestWhatIsWonIsGivenUpAfterAHold(t *testing.T) {
	for workload, want := range map[plan.WorkloadType][]results.Operation{
		plan.WorkloadLock:     {results.OperationLockAcquire, results.OperationLockRelease, results.OperationLockHandOff},
		plan.WorkloadElection: {results.OperationElectionCampaign, results.OperationElectionResign, results.OperationElectionHandOff},
	} {
		t.Run(string(workload), func(t *testing.T) {
			p := planOf(plan.Workload{Type: workload, Contest: &plan.Contest{Names: 3, HoldMilliseconds: 20}})
			p.FirstLease = 3 * plan.LeaseIDs
			w := New(p)
			for _, stream := range []Stream{Warmup, Measured} {
				won := w.At(stream, 7)
				next, hold, ok := w.After(won)
				if won.Kind != want[0] || !won.OnName() || !ok || next.Kind != want[1] || !next.OnName() || hold != 20*time.Millisecond {
					t.Errorf("%+v is followed by %+v (%v) after %v, wanted %v", won, next, ok, hold, want)
				}
				if _, _, more := w.After(next); more {
					t.Errorf("%+v is followed by more", next)
				}
			}
			if diff := cmp.Diff(want, w.Operations()); diff != "" {
				t.Errorf("measured operations (-want +got):\n%s", diff)
			}
			if w.PreloadCount() != 0 || w.KeyBytes() != len("etcdbench/0b6c6b52/.lock/0/3c00000") {
				t.Errorf("%d operations before the load, keys of %d bytes", w.PreloadCount(), w.KeyBytes())
			}
		})
	}
}

func TestNothingFollowsAnOperationOnKeys(t *testing.T) {
	w := txnOf(3, 7, plan.KeyOrderSequential)
	op := w.At(Measured, 1)
	if _, _, ok := w.After(op); ok || op.OnName() {
		t.Errorf("something follows %+v", op)
	}
}
