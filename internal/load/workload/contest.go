package workload

import (
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// contests are the steps of the workloads in which clients contend.
var contests = map[plan.WorkloadType]struct{ win, giveUp results.Operation }{
	plan.WorkloadLock:     {results.OperationLockAcquire, results.OperationLockRelease},
	plan.WorkloadElection: {results.OperationElectionCampaign, results.OperationElectionResign},
}

// OnName says whether the operation is on the name for which its client
// contends, not on keys.
func (o Operation) OnName() bool {
	switch o.Kind {
	case results.OperationLockAcquire, results.OperationLockRelease, results.OperationElectionCampaign, results.OperationElectionResign:
		return true
	}
	return false
}

// After returns what a client does after an operation that has succeeded, as
// part of the same request, and how long it waits before.
func (w *Workload) After(op Operation) (next Operation, hold time.Duration, ok bool) {
	if w.plan.Contest == nil {
		return Operation{}, 0, false
	}
	c := contests[w.plan.Type]
	return Operation{Kind: c.giveUp}, w.plan.Hold(), op.Kind == c.win
}
