package benchmark

import (
	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
)

func planTxn(t *v1alpha1.TxnWorkload) plan.Workload {
	out := keySpace(t.KeySize, t.ValueSize, t.Keys)
	out.Values = values(t.Values, t.ValueSize)
	out.Txn = &plan.Txn{}
	if t.PutsPerTransaction != nil {
		out.Txn.Puts = int(*t.PutsPerTransaction)
	}
	return out
}
