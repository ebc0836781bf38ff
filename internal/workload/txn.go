package workload

import (
	"fmt"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
)

// txn writes several keys, or swaps one, with each transaction.
type txn struct {
	keyed
	settings spec.Txn
}

func newTxn(w spec.Workload) kind {
	return txn{keyed{space: w.Txn.Keys, stored: w.Txn.Values}, *w.Txn}
}

func (k txn) swaps() bool { return k.settings.Puts() == 0 }

func (k txn) operations() []spec.Operation {
	if k.swaps() {
		return []spec.Operation{spec.OperationCompareAndSwap}
	}
	return []spec.Operation{spec.OperationTxn}
}

// preload writes the keys that compare-and-swaps read, and those that are overwritten.
func (k txn) preload(r *Run) int64 {
	if k.swaps() || k.settings.Overwrite {
		return k.keyed.preload(r)
	}
	return 0
}

func (k txn) at(w *Workload, stream Stream, n int64) Operation {
	if k.swaps() {
		return Operation{Kind: spec.OperationCompareAndSwap, Key: w.key(stream, n), Value: n, Writes: true, Needs: 1}
	}
	return Operation{Kind: spec.OperationTxn, Subject: OnSeveral, Value: n, keys: draw{stream, n}}
}

func (k txn) several() int { return k.settings.Puts() }

func (k txn) growth(r *Run) (preload, request float64, known bool) {
	entry := k.entry(r)
	return float64(k.preload(r)) * entry, float64(max(k.settings.Puts(), 1)) * entry, true
}

func (k txn) check(r *Run) []error {
	puts := k.settings.Puts()
	return append(k.keyed.check(r),
		oneOf("workload.txn.mode", k.settings.Mode, spec.TxnPuts, spec.TxnCompareAndSwap),
		Wanted(k.swaps() == (k.settings.Mode == spec.TxnCompareAndSwap), "workload.txn.putsPerTransaction", "to be set if, and only if, mode is Puts", puts),
		Wanted(puts >= 0 && puts <= spec.MaxTxnOperations, "workload.txn.putsPerTransaction", fmt.Sprintf("1 to %d", spec.MaxTxnOperations), puts),
		Wanted(int64(puts) <= k.space.Count, "workload.txn.putsPerTransaction", "at most keys.count: a transaction writes a key once", puts),
	)
}

func (k txn) words() Words {
	words := k.base.words()
	words.Names = map[spec.Operation]string{spec.OperationTxn: "TXN-PUT"}
	return words
}
