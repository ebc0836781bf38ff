package workload

import (
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
)

// Stream is a number space of operations. The streams share keys and values but choose independently, so a longer
// warm-up changes no measured operation.
type Stream uint64

// The streams.
const (
	Warmup Stream = iota + 1
	Measured
)

// Subject is what an operation acts on.
type Subject uint8

// The subjects of operations.
const (
	// OnKey is one key, or several consecutive ones.
	OnKey Subject = iota
	// OnSeveral means the keys of AppendKeys.
	OnSeveral
	OnLease
	// OnObject is an object of a Kubernetes registry, or all objects of a resource.
	OnObject
	// OnName is the name for which the client contends.
	OnName
	// OnFolder is every key of the folder with the number Key.
	OnFolder
	// OnLog is the log of the client, which has no keys.
	OnLog
	// OnMember is a member, which the client's connection chooses.
	OnMember
)

// Operation is the work of one request. It can be a step of a sequence, see Next.
type Operation struct {
	Kind    spec.Operation
	Subject Subject
	// step is its number in the sequence, from 0.
	step int
	// Stream of the operation; 0 before the load.
	Stream Stream
	// Key is the number of the key, or of the first key, from 0 on.
	Key int64
	// Value is the number of the value, if the operation Writes one.
	Value  int64
	Writes bool
	// Needs is how many of the keys must exist for the operation to succeed.
	Needs int64
	// Watched is the Watcher.What of the watchers that can time this operation; 0 if none can.
	Watched int64
	// Lease is the ID of the lease, for an operation on a lease.
	Lease int64
	// Resource of an operation on objects of a Kubernetes registry; Key has the object's number. Create: the object
	// does not exist yet. PageSize is how many objects a listing reads per page; 0 if the operation is no listing.
	Resource Resource
	Create   bool
	PageSize int64
	// keys chooses the keys of an operation on several.
	keys draw
}

// Workload computes operations, keys and values. It is safe for concurrent use, and does not allocate per operation.
type Workload struct {
	KeyWriter
	valueMaker
	run     Run
	kind    kind
	steps   []step
	contest *contest
	burst   *Burst
	keys    int64
	width   int64
	seed    uint64
	choice  choice
	// registry is set if the keys are those of a Kubernetes registry.
	registry *registry
	marked   bool
}

// New returns the workload of a run.
func New(r Run) *Workload {
	seed, k := uint64(r.Load.Seed), r.kind()
	w := &Workload{
		KeyWriter: r.KeyWriter(), valueMaker: newValueMaker(k.values(), seed),
		run: r, kind: k, steps: k.steps(), contest: k.contest(), burst: k.burst(), keys: k.keys().Count, width: k.width(), seed: seed,
	}
	k.begin(w)
	if of := k.watch(); of != nil {
		w.marked = of.marked
	}
	return w
}

// At returns operation n of a stream.
func (w *Workload) At(stream Stream, n int64) Operation {
	op := w.kind.at(w, stream, n)
	op.Stream = stream
	return op
}

// step is a request of a sequence: what a client sends for one arrival, one request after the other.
type step struct {
	kind spec.Operation
	// hold is how long the client waits before the request.
	hold time.Duration
}

// Next returns the request that follows one that ended with a code (load.Response.Code), and how long the client waits
// before it. more is false after the last one. A failure ends the sequence.
func (w *Workload) Next(op Operation, code string) (next Operation, hold time.Duration, more bool) {
	number := op.step + 1
	if w.burst != nil {
		op.Key, op.step = op.Key+1, number
		return op, 0, code == "" && number < w.burst.requests
	}
	if code != "" || number >= len(w.steps) {
		return Operation{}, 0, false
	}
	s := &w.steps[number]
	op.Kind, op.step = s.kind, number
	return op, s.hold, true
}

// Timeout is how long an operation may take. In a burst, it is that of an attempt.
func (w *Workload) Timeout(op Operation) time.Duration {
	if w.burst != nil && op.Stream != 0 {
		return w.burst.Timeout
	}
	return w.run.Load.RequestTimeout()
}

// PreloadCount is the number of operations before the load.
func (w *Workload) PreloadCount() int64 { return w.kind.preload(&w.run) }

// Preload returns an operation of the preload by its number, from 0.
func (w *Workload) Preload(number int64) Operation { return w.kind.preloaded(w, number) }

func (w *Workload) key(stream Stream, n int64) int64 {
	return w.choice.key(n, hash(w.seed, uint64(stream)<<1|1, uint64(n)))
}

// KeyBytes is the length of every key, with the run's prefix; 0 if there are no keys. For a registry, it is the length
// of a pod's key.
func (w *Workload) KeyBytes() int {
	switch {
	case w.registry != nil:
		return len(w.AppendObject(nil, Pods, 0))
	case w.contest != nil:
		return len(w.run.ContestKey(0))
	case w.keys == 0:
		return 0
	}
	return w.KeyWriter.KeyBytes()
}

// AppendEnd appends the end of a read that begins with the key with this number: the key after the last one that is
// read. It appends nothing if reads are of one key.
func (w *Workload) AppendEnd(dst []byte, key int64) []byte {
	if w.width == 1 {
		return dst
	}
	return append(w.AppendKey(dst, key+w.width-1), 0)
}

// AppendFolder appends the folder with this number. Its keys begin with it.
func (w *Workload) AppendFolder(dst []byte, folder int64) []byte {
	return w.folders.appendFolder(append(dst, w.prefix...), folder)
}

// AppendFolderEnd appends the first key that is after all keys of the folder.
func (w *Workload) AppendFolderEnd(dst []byte, folder int64) []byte {
	dst = w.AppendFolder(dst, folder)
	dst[len(dst)-1]++
	return dst
}

// CountModulo returns how many of the numbers 0 to n-1 are index modulo parts.
func CountModulo(n int64, parts, index int) int64 {
	if n <= int64(index) {
		return 0
	}
	return (n-int64(index)-1)/int64(parts) + 1
}
