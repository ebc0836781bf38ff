package workload

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
)

// locking makes a run of the workload Lock, and standing one of Election.
func locking(l spec.Lock) func(*Run) {
	return func(r *Run) {
		r.FirstLease, r.Workload = 5*LeaseIDs, spec.Workload{Type: spec.WorkloadLock, Lock: &l}
	}
}

func standing(e spec.Election) func(*Run) {
	return func(r *Run) {
		r.FirstLease, r.Workload = 5*LeaseIDs, spec.Workload{Type: spec.WorkloadElection, Election: &e}
	}
}

func TestALockIsReleasedAfterTheHold(t *testing.T) {
	for workload, tc := range map[spec.WorkloadType]struct {
		change func(*Run)
		want   []spec.Operation
	}{
		spec.WorkloadLock: {
			locking(spec.Lock{Names: 3, HoldMilliseconds: 20}),
			[]spec.Operation{spec.OperationLockAcquire, spec.OperationLockRelease, spec.OperationLockHandOff},
		},
		spec.WorkloadElection: {
			standing(spec.Election{Names: 3, LeadMilliseconds: 20}),
			[]spec.Operation{spec.OperationElectionCampaign, spec.OperationElectionResign, spec.OperationElectionHandOff},
		},
	} {
		t.Run(string(workload), func(t *testing.T) {
			r := valid()
			tc.change(&r)
			w := New(r)
			for _, stream := range []Stream{Warmup, Measured} {
				won := w.At(stream, 7)
				next, hold, ok := w.Next(won, "")
				if won.Kind != tc.want[0] || won.Subject != OnName || !ok || next.Kind != tc.want[1] || next.Subject != OnName || hold != 20*time.Millisecond {
					t.Errorf("%+v is followed by %+v (%v) after %v, wanted %v", won, next, ok, hold, tc.want)
				}
				if _, _, more := w.Next(next, ""); more {
					t.Errorf("%+v is followed by more", next)
				}
				if _, _, more := w.Next(won, "DeadlineExceeded"); more || next.Stream != stream {
					t.Errorf("a failure is followed by a step (%v), or the step has the stream %d, wanted %d", more, next.Stream, stream)
				}
			}
			if diff := cmp.Diff(tc.want, r.Operations()); diff != "" {
				t.Errorf("measured operations (-want +got):\n%s", diff)
			}
			if w.PreloadCount() != 0 || w.KeyBytes() != len("etcdbench/0b6c6b52/.lock/0/5c00000") {
				t.Errorf("%d operations before the load, keys of %d bytes", w.PreloadCount(), w.KeyBytes())
			}
		})
	}
}

func TestNothingFollowsAnOperationOnKeys(t *testing.T) {
	w := txnOf(3, 7, spec.Sequential)
	op := w.At(Measured, 1)
	if _, _, ok := w.Next(op, ""); ok || op.Subject == OnName {
		t.Errorf("something follows %+v", op)
	}
}

// Clients are spread over names, and all names lie in the run's prefix.
func TestClientsAreSpreadOverNames(t *testing.T) {
	r := valid()
	locking(spec.Lock{Names: 11})(&r)
	contenders, keys := map[string]int{}, map[string]bool{}
	for client := range int(r.Load.Clients) {
		name, key := r.ContestName(client), r.ContestKey(client)
		if !strings.HasPrefix(key, name+"/") || !strings.HasPrefix(name, r.LockPrefix()) || len(key) != len(r.ContestKey(0)) {
			t.Errorf("client %d contends with the key %q for %q", client, key, name)
		}
		contenders[name]++
		keys[key] = true
	}
	for name, n := range contenders {
		if n != 90 && n != 91 {
			t.Errorf("%d clients contend for %q, wanted 1000 / 11", n, name)
		}
	}
	if len(contenders) != 11 || len(keys) != int(r.Load.Clients) {
		t.Errorf("1000 clients contend for %d names with %d keys", len(contenders), len(keys))
	}
}

func TestValidateRefusesAContest(t *testing.T) {
	good := spec.Lock{Names: 10}
	requireProblems(t, map[string]problem{
		"without its field":       {func(r *Run) { locking(good)(r); r.Workload.Lock = nil }, "workload: wanted the field of type Lock"},
		"of another workload":     {func(r *Run) { r.Workload.Lock = &good }, "workload: wanted the field of type Put"},
		"no name":                 {standing(spec.Election{}), "workload.election.names"},
		"names without contender": {locking(spec.Lock{Names: 1001}), "workload.lock.names"},
		"a hold that is over":     {locking(spec.Lock{Names: 1, HoldMilliseconds: -1}), "workload.lock: wanted to hold for"},
		"without leases":          {func(r *Run) { locking(good)(r); r.FirstLease = 0 }, "firstLease"},
		"over Fast":               {func(r *Run) { locking(good)(r); r.Load.Transport = spec.TransportFast }, "load.transport"},
	})
}
