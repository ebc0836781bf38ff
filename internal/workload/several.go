package workload

import "slices"

// comparedKeys is up to how many keys it is faster to look at all of them than into a map.
const comparedKeys = 128

// Taken is what AppendKeys needs to find a free key. It belongs to one client.
type Taken struct {
	// after has a later key for each key that is taken. No key between them is free.
	after map[int64]int64
}

// free takes the key or, if that is taken, the next free one.
func (t *Taken) free(key, keys int64) int64 {
	at := key
	for next, isTaken := t.after[at]; isTaken; next, isTaken = t.after[at] {
		at = next
	}
	// The next search from each key on the way is short.
	after := (at + 1) % keys
	for key != at {
		key, t.after[key] = t.after[key], after
	}
	t.after[at] = after
	return at
}

// reset frees all keys.
func (t *Taken) reset() {
	if t.after == nil {
		t.after = map[int64]int64{}
	}
	clear(t.after)
}

// draw is the start of the choice of several keys.
type draw struct {
	stream Stream
	n      int64
}

// KeysAtOnce is the number of keys of an operation on several.
func (w *Workload) KeysAtOnce() int { return w.kind.several() }

// AppendKeys appends the numbers of the keys of an operation on several. With k keys, operation n takes the keys that k
// operations on one key would take from n·k on. A key that is already taken is replaced by the next free one: etcd
// rejects transactions that write a key twice.
func (w *Workload) AppendKeys(dst []int64, op Operation, taken *Taken) []int64 {
	k := int64(w.KeysAtOnce())
	if k > comparedKeys {
		taken.reset()
	}
	first := len(dst)
	for i := range k {
		key := w.key(op.keys.stream, op.keys.n*k+i)
		if k > comparedKeys {
			key = taken.free(key, w.keys)
		} else {
			for slices.Contains(dst[first:], key) {
				key = (key + 1) % w.keys
			}
		}
		dst = append(dst, key)
	}
	return dst
}

// WritesOf is how many of the keys of an operation on several it writes, from the first on. If the share of the keys is
// not a whole number, the last key is written at random, so that the share is right over many operations.
func (w *Workload) WritesOf(op Operation) int {
	keys, percent := w.kind.several(), w.kind.writePercent()
	if percent == 100 {
		return keys
	}
	drawn := below(hash(w.seed, uint64(op.keys.stream)<<1, uint64(op.keys.n)), 100)
	return (keys*percent + int(drawn)) / 100
}
