package workload

import (
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// OnLease says whether the operation is on a lease, not on keys.
func (o Operation) OnLease() bool {
	return o.Kind == results.OperationLeaseGrant || o.Kind == results.OperationLeaseKeepAlive || o.Kind == results.OperationLeaseRevoke
}

var leaseKinds = map[plan.LeaseOperation]results.Operation{
	plan.LeaseGrant:     results.OperationLeaseGrant,
	plan.LeaseKeepAlive: results.OperationLeaseKeepAlive,
	plan.LeaseRevoke:    results.OperationLeaseRevoke,
}

// lease returns operation n of a stream on a lease. Renewals take the preloaded
// leases in turn, revocations each of them once, and a grant makes a new one.
func (w *Workload) lease(stream Stream, n int64) Operation {
	op := Operation{Kind: leaseKinds[w.plan.Lease.Operation]}
	switch {
	case op.Kind == results.OperationLeaseKeepAlive:
		op.Lease = w.run.LeaseID(plan.LeasePreloaded, n%w.plan.Lease.Count)
	case op.Kind == results.OperationLeaseRevoke:
		op.Lease = w.run.LeaseID(plan.LeasePreloaded, n)
	case stream == Warmup:
		op.Lease = w.run.LeaseID(plan.LeaseOfWarmup, n)
	default:
		op.Lease = w.run.LeaseID(plan.LeaseOfWindow, n)
	}
	return op
}

// preloadedLeases is how many leases the load needs to be there.
func (w *Workload) preloadedLeases() int64 {
	if w.plan.Lease.Operation == plan.LeaseGrant {
		return 0
	}
	return w.run.LeaseCount()
}
