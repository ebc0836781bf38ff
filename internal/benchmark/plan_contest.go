package benchmark

import (
	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
)

func planLock(l *v1alpha1.LockWorkload) *plan.Contest {
	return &plan.Contest{Names: int(l.Names), HoldMilliseconds: int(l.HoldMilliseconds)}
}

func planElection(e *v1alpha1.ElectionWorkload) *plan.Contest {
	return &plan.Contest{Names: int(e.Names), HoldMilliseconds: int(e.LeadMilliseconds)}
}
