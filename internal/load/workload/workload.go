package workload

import (
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
	// Stream that the operation is of; 0 for one that comes before the load.
	Stream Stream
	// Resource is that of an operation on objects of a Kubernetes registry, by
	// their number in Key. Create says that the object is not there yet.
	Resource Resource
	Create   bool
	// Key is the number of the key, or of the first one, from 0 to the plan's
	// keyCount - 1.
	Key int64
	// Value is the number of the value, of an operation that writes one.
	Value int64
	// Lease is the ID of the lease of an operation on one, which has no Key.
	Lease int64
	// keys chooses the keys of an operation on several, which has no Key.
	keys draw
}

// Workload computes operations, keys and values. It is safe for concurrent
// use, and allocates nothing per operation.
type Workload struct {
	Keys
	values
	// run is the whole plan, and plan its workload.
	run    plan.Plan
	plan   plan.Workload
	seed   uint64
	choice choice
	// registry is set where keys are those of a Kubernetes registry.
	registry *registry
}

// New returns the workload of a plan.
func New(p plan.Plan) *Workload {
	seed := uint64(p.Load.Seed)
	return &Workload{
		Keys: KeysOf(p), values: newValues(p.Workload, seed),
		run: p, plan: p.Workload, seed: seed, choice: newChoice(p.Workload, seed),
		registry: newRegistry(p),
	}
}

// At returns operation n of a stream.
func (w *Workload) At(stream Stream, n int64) Operation {
	switch {
	case w.plan.Lease != nil:
		return w.lease(stream, n)
	case w.plan.Contest != nil:
		return Operation{Kind: contests[w.plan.Type].win}
	}
	if w.registry != nil {
		return w.registry.at(n)
	}
	kind := w.kind(stream, n)
	if isOnSeveral(kind) {
		return Operation{Kind: kind, Value: n, keys: draw{stream, n}}
	}
	return Operation{Kind: kind, Stream: stream, Key: w.key(stream, n), Value: n}
}

// kind draws reads by chance and not by n modulo 100: that would tie kinds to
// pods, which own operations by n modulo pods.
func (w *Workload) kind(stream Stream, n int64) results.Operation {
	switch w.plan.Type {
	case plan.WorkloadRange, plan.WorkloadWatchGet:
		return results.OperationRange
	case plan.WorkloadDelete:
		return results.OperationDelete
	case plan.WorkloadTxn:
		return w.txnKind()
	case plan.WorkloadSTM:
		return results.OperationSTM
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

// KeyBytes is the length of every key, with the run's prefix; 0 where there are
// none. Of a registry it is that of a pod's key.
func (w *Workload) KeyBytes() int {
	switch {
	case w.registry != nil:
		return len(w.AppendObject(nil, Pods, 0))
	case w.plan.Contest != nil:
		return len(w.run.ContestKey(0))
	case w.plan.KeyCount == 0:
		return 0
	}
	return w.Keys.KeyBytes()
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
