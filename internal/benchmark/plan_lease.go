package benchmark

import (
	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
)

func planLease(l *v1alpha1.LeaseWorkload) *plan.Lease {
	out := &plan.Lease{Operation: plan.LeaseOperation(l.Operation), TTLSeconds: l.TTLSeconds}
	if l.KeepAlive != nil {
		out.Count = l.KeepAlive.Leases
		out.Stream = l.KeepAlive.Mode == v1alpha1.KeepAliveStream
	}
	return out
}
