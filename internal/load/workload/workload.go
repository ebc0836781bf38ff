package workload

import (
	"strconv"

	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// Stream is a number space of operations. The streams share keys and values
// but choose independently, so that a longer warm-up changes no measured
// operation.
type Stream uint64

// The streams.
const (
	Warmup Stream = iota + 1
	Measured
)

// Operation is what one request does.
type Operation struct {
	Kind results.Operation
	// Key is the number of the key, or of the first one, from 0 to the plan's
	// keyCount - 1.
	Key int64
}

// Workload computes operations, keys and values. It is safe for concurrent
// use, and allocates nothing per operation.
type Workload struct {
	plan   plan.Workload
	prefix string
	seed   uint64
	digits int
	choice choice
	block  []byte
}

// New returns the workload of a plan.
func New(p plan.Plan) *Workload {
	w := &Workload{
		plan:   p.Workload,
		prefix: p.Prefix,
		seed:   uint64(p.Load.Seed),
		digits: len(strconv.FormatInt(p.Workload.KeyCount-1, 10)),
	}
	w.choice = newChoice(w.plan, w.seed)
	w.block = randomBlock(w.seed, p.Workload.ValueSize+valueVariants)
	return w
}

// At returns operation n of a stream.
func (w *Workload) At(stream Stream, n int64) Operation {
	return Operation{Kind: w.kind(stream, n), Key: w.key(stream, n)}
}

// kind draws reads by chance and not by n modulo 100: that would tie kinds to
// pods, which own operations by n modulo pods.
func (w *Workload) kind(stream Stream, n int64) results.Operation {
	switch w.plan.Type {
	case plan.WorkloadRange:
		return results.OperationRange
	case plan.WorkloadDelete:
		return results.OperationDelete
	case plan.WorkloadMixed:
		if below(hash(w.seed, uint64(stream)<<1, uint64(n)), 100) < uint64(w.plan.ReadsPerHundred) {
			return results.OperationRange
		}
	}
	return results.OperationPut
}

func (w *Workload) key(stream Stream, n int64) int64 {
	return w.choice.key(n, hash(w.seed, uint64(stream)<<1|1, uint64(n)))
}

// KeyBytes is the length of every key, with the run's prefix.
func (w *Workload) KeyBytes() int { return len(w.prefix) + w.plan.KeySize }

// AppendKey appends the key with this number: the run's prefix and keySize
// decimal digits, so that keys sort by their numbers. A number of more than
// keySize digits is written in full.
func (w *Workload) AppendKey(dst []byte, key int64) []byte {
	dst = append(dst, w.prefix...)
	for range w.plan.KeySize - w.digits {
		dst = append(dst, '0')
	}
	var digits [20]byte
	number := strconv.AppendInt(digits[:0], key, 10)
	for range w.digits - len(number) {
		dst = append(dst, '0')
	}
	return append(dst, number...)
}

// AppendEnd appends the key before which a read ends that begins with the key
// with this number: the one that follows the last key of the read. It appends
// nothing where reads are of one key.
func (w *Workload) AppendEnd(dst []byte, key int64) []byte {
	width := w.plan.Interval.Width()
	if width == 1 {
		return dst
	}
	return append(w.AppendKey(dst, key+width-1), 0)
}

// Value returns the value of the key with this number. It lies in a block that
// all values share: read it, never write it.
func (w *Workload) Value(key int64) []byte {
	at := int(below(hash(w.seed, 0, uint64(key)), valueVariants))
	return w.block[at : at+w.plan.ValueSize : at+w.plan.ValueSize]
}
