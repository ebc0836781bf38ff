package workload

import (
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
)

// lock acquires and releases a lock with each request.
type lock struct{ contending }

func newLock(w spec.Workload) kind {
	return lock{contending{of: contest{
		names: int(w.Lock.Names), win: spec.OperationLockAcquire, giveUp: spec.OperationLockRelease,
		hold: time.Duration(w.Lock.HoldMilliseconds) * time.Millisecond,
	}}}
}

func (k lock) check(r *Run) []error { return k.checkNames(r, "workload.lock") }
