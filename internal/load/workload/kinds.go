package workload

import (
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// Operations returns the kinds of operations that the workload measures.
func (w *Workload) Operations() []results.Operation {
	switch w.plan.Type {
	case plan.WorkloadMixed:
		return w.mixedKinds()
	case plan.WorkloadLock, plan.WorkloadElection:
		c := contests[w.plan.Type]
		return []results.Operation{c.win, c.giveUp, c.win.HandOff()}
	case plan.WorkloadWatch:
		return []results.Operation{results.OperationPut, results.OperationWatchEvent, results.OperationWatchDelivery}
	case plan.WorkloadKubernetes:
		return []results.Operation{
			results.OperationOptimisticPut, results.OperationOptimisticDelete, results.OperationListBy500, results.OperationListBy10000,
			results.OperationWatchEvent, results.OperationWatchDelivery,
		}
	default:
		return []results.Operation{w.At(Measured, 0).Kind}
	}
}

func (w *Workload) mixedKinds() (kinds []results.Operation) {
	if w.plan.ReadsPerHundred < 100 {
		kinds = append(kinds, results.OperationPut)
	}
	if w.plan.ReadsPerHundred > 0 {
		kinds = append(kinds, results.OperationRange)
	}
	return kinds
}

func (w *Workload) txnKind() results.Operation {
	if w.plan.Txn.CompareAndSwap() {
		return results.OperationCompareAndSwap
	}
	return results.OperationTxn
}

// PreloadCount is how many operations come before the load.
func (w *Workload) PreloadCount() int64 {
	switch {
	case w.plan.Lease != nil:
		return w.preloadedLeases()
	case w.registry != nil:
		return w.registry.Nodes + w.registry.Kubernetes.Pods
	case w.plan.PreloadsKeys():
		return w.plan.KeyCount
	default:
		return 0
	}
}

// Preload returns an operation that comes before the load, by its number from 0.
func (w *Workload) Preload(number int64) Operation {
	if w.plan.Lease != nil {
		return Operation{Kind: results.OperationLeaseGrant, Lease: w.run.LeaseID(plan.LeasePreloaded, number)}
	}
	if w.registry != nil {
		return w.registry.preload(number)
	}
	return Operation{Kind: results.OperationPut, Key: number, Value: number}
}
