package workload

import (
	"testing"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
)

// transacting makes a run of the workload Txn, with compare-and-swaps if there are no puts.
func transacting(puts int32, keys spec.Keys) func(*Run) {
	s := spec.Txn{Mode: spec.TxnPuts, PutsPerTransaction: &puts, Keys: keys, Values: someValues}
	if puts == 0 {
		s.Mode, s.PutsPerTransaction = spec.TxnCompareAndSwap, nil
	}
	return func(r *Run) { r.Workload = spec.Workload{Type: spec.WorkloadTxn, Txn: &s} }
}

// wrapped makes a run of a mixture in transactions.
func wrapped(r *Run) {
	r.Workload = spec.Workload{Type: spec.WorkloadMixed, Mixed: &spec.Mixed{Consistency: spec.Linearizable, ReadPercent: 50, InTransaction: true, Keys: someKeys, Values: someValues}}
}

func TestAMixtureInTransactions(t *testing.T) {
	r := valid()
	if wrapped(&r); r.Check() != nil {
		t.Errorf("got error %v", r.Check())
	}
}

func TestValidateRefusesATransaction(t *testing.T) {
	puts := int32(3)
	requireProblems(t, map[string]problem{
		"without its field":     {func(r *Run) { r.Workload.Type = spec.WorkloadTxn }, "workload: wanted the field of type Txn"},
		"of another workload":   {func(r *Run) { r.Workload.Txn = &spec.Txn{Mode: spec.TxnPuts, PutsPerTransaction: &puts} }, "workload: wanted the field of type Put"},
		"too long":              {transacting(spec.MaxTxnOperations+1, someKeys), "workload.txn.putsPerTransaction"},
		"negative":              {transacting(-1, someKeys), "workload.txn.putsPerTransaction"},
		"of more keys than are": {transacting(3, spec.Keys{Count: 2, SizeBytes: 8, Distribution: spec.Sequential}), "workload.txn.putsPerTransaction"},
		"of no puts":            {func(r *Run) { transacting(0, someKeys)(r); r.Workload.Txn.Mode = spec.TxnPuts }, "workload.txn.putsPerTransaction"},
		"that swaps several":    {func(r *Run) { transacting(3, someKeys)(r); r.Workload.Txn.Mode = spec.TxnCompareAndSwap }, "workload.txn.putsPerTransaction"},
		"a mixture over Fast":   {func(r *Run) { wrapped(r); r.Load.Transport = spec.TransportFast }, "load.transport"},
		"wrapped puts":          {func(r *Run) { wrapped(r); r.Workload.Type = spec.WorkloadPut }, "workload: wanted the field of type Put"},
	})
}
