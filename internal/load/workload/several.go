package workload

import (
	"slices"

	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// draw says where the choice of several keys begins.
type draw struct {
	stream Stream
	n      int64
}

func isOnSeveral(kind results.Operation) bool {
	return kind == results.OperationTxn || kind == results.OperationSTM
}

// OnSeveral says whether the operation is on the keys of AppendKeys.
func (o Operation) OnSeveral() bool { return isOnSeveral(o.Kind) }

// KeysAtOnce is how many keys an operation on several has.
func (w *Workload) KeysAtOnce() int {
	switch {
	case w.plan.Txn != nil:
		return w.plan.Txn.Puts
	case w.plan.STM != nil:
		return w.plan.STM.Keys
	}
	return 0
}

// AppendKeys appends the numbers of the keys of an operation on several. With k
// keys, operation n takes what k operations on one key each would have taken
// from n·k on. A key that it has already gives way to the next free one: etcd
// refuses transactions that write a key twice.
func (w *Workload) AppendKeys(dst []int64, op Operation) []int64 {
	k := int64(w.KeysAtOnce())
	first := len(dst)
	for i := range k {
		key := w.key(op.keys.stream, op.keys.n*k+i)
		for slices.Contains(dst[first:], key) {
			key = (key + 1) % w.plan.KeyCount
		}
		dst = append(dst, key)
	}
	return dst
}

// Writes is how many of the keys of an operation on several, from the first on,
// it writes. Where a share of the keys is no whole number, chance decides about
// the last of them, so that the share is right over many operations.
func (w *Workload) Writes(op Operation) int {
	if w.plan.STM == nil {
		return w.KeysAtOnce()
	}
	drawn := below(hash(w.seed, uint64(op.keys.stream)<<1, uint64(op.keys.n)), 100)
	return (w.plan.STM.Keys*w.plan.STM.WritePercent + int(drawn)) / 100
}
