package workload

import "slices"

// draw says where the choice of several keys begins.
type draw struct {
	stream Stream
	n      int64
}

// KeysAtOnce is how many keys an operation on several has.
func (w *Workload) KeysAtOnce() int { return w.kind.several() }

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
			key = (key + 1) % w.keys
		}
		dst = append(dst, key)
	}
	return dst
}

// WritesOf is how many of the keys of an operation on several, from the first on,
// it writes. Where a share of the keys is no whole number, chance decides about
// the last of them, so that the share is right over many operations.
func (w *Workload) WritesOf(op Operation) int {
	keys, percent := w.kind.several(), w.kind.writePercent()
	if percent == 100 {
		return keys
	}
	drawn := below(hash(w.seed, uint64(op.keys.stream)<<1, uint64(op.keys.n)), 100)
	return (keys*percent + int(drawn)) / 100
}
