package workload

import "github.com/etcdbench/etcd-benchmark-operator/api/spec"

// mixed reads or writes one key. With a limit, it reads all keys, of which etcd returns only some.
type mixed struct {
	keyed
	settings spec.Mixed
}

func newMixed(w spec.Workload) kind {
	return mixed{keyed{space: w.Mixed.Keys, stored: w.Mixed.Values}, *w.Mixed}
}

func (k mixed) operations() (all []spec.Operation) {
	if k.settings.ReadPercent < 100 {
		all = append(all, spec.OperationPut)
	}
	if k.settings.ReadPercent > 0 {
		all = append(all, spec.OperationRange)
	}
	return all
}

// at chooses reads at random. A choice by n modulo 100 would tie operations to pods, which own requests by n modulo
// pods.
func (k mixed) at(w *Workload, stream Stream, n int64) Operation {
	if below(hash(w.seed, uint64(stream)<<1, uint64(n)), 100) < uint64(k.settings.ReadPercent) {
		if k.readsAll() {
			return Operation{Kind: spec.OperationRange, Value: n, Needs: w.keys}
		}
		return get1(w, stream, n)
	}
	return Write(w.key(stream, n), n)
}

func (k mixed) readsAll() bool { return k.settings.ReadLimit != nil }

func (k mixed) width() int64 {
	if k.readsAll() {
		return k.space.Count
	}
	return 1
}

// begin lets writes choose from all keys, whatever a read covers.
func (k mixed) begin(w *Workload) { w.choice = newChoice(k.space, k.space.Count, w.seed) }

func (k mixed) growth(r *Run) (preload, request float64, known bool) {
	entry := k.entry(r)
	return float64(k.space.Count) * entry, float64(100-k.settings.ReadPercent) / 100 * entry, true
}

func (k mixed) consistency() spec.Consistency { return k.settings.Consistency }

func (k mixed) check(r *Run) []error {
	return append(k.keyed.check(r),
		oneOf("workload.mixed.consistency", k.settings.Consistency, consistencies...),
		Wanted(k.settings.ReadPercent >= 0 && k.settings.ReadPercent <= 100, "workload.mixed.readPercent", "0 to 100", k.settings.ReadPercent),
		Wanted(!k.readsAll() || *k.settings.ReadLimit > 0 && k.settings.InTransaction, "workload.mixed.readLimit", "at least 1, with inTransaction", deref(k.settings.ReadLimit)))
}

func (k mixed) words() Words {
	words := k.base.words()
	if k.settings.InTransaction {
		words.Names = map[spec.Operation]string{spec.OperationPut: "TXN-MIXED-WRITE", spec.OperationRange: "TXN-MIXED-READ"}
	}
	return words
}
