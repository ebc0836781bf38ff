package workload

import (
	"fmt"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
)

// put writes one key with each request. Nothing is preloaded unless it overwrites.
type put struct {
	keyed
	overwrites bool
}

func newPut(w spec.Workload) kind {
	return put{keyed{space: w.Put.Keys, stored: w.Put.Values}, w.Put.Overwrite}
}

func (put) operations() []spec.Operation { return []spec.Operation{spec.OperationPut} }

func (p put) preload(r *Run) int64 {
	if p.overwrites {
		return p.keyed.preload(r)
	}
	return 0
}

func (put) at(w *Workload, stream Stream, n int64) Operation {
	return Write(w.key(stream, n), n)
}

func (p put) growth(r *Run) (preload, request float64, known bool) {
	entry := p.entry(r)
	return float64(p.preload(r)) * entry, entry, true
}

func (p put) words() Words {
	w := Words{Done: "PUTS", Rate: "WRITE QPS", Targets: true, Succeeded: true}
	if p.space.Distribution == spec.Sequential && !p.overwrites {
		w.Written = "KEYS WRITTEN"
	}
	return w
}

// deletion deletes one key, each key once.
type deletion struct{ keyed }

func newDelete(w spec.Workload) kind {
	return deletion{keyed{space: w.Delete.Keys, stored: w.Delete.Values}}
}

func (deletion) operations() []spec.Operation { return []spec.Operation{spec.OperationDelete} }

func (deletion) at(w *Workload, stream Stream, n int64) Operation {
	return Operation{Kind: spec.OperationDelete, Key: w.key(stream, n), Value: n, Needs: 1}
}

// begin replaces a uniform choice, which would take some keys twice, by a random order.
func (k deletion) begin(w *Workload) {
	if k.keyed.begin(w); k.space.Distribution == spec.Uniform {
		w.choice = &shuffled{newScatter(uint64(k.space.Count), w.seed)}
	}
}

// growth: a deletion leaves a tombstone without a value.
func (k deletion) growth(r *Run) (preload, request float64, known bool) {
	return float64(k.space.Count) * k.entry(r), entryBytes(k.keyBytes(r)), true
}

func (k deletion) check(r *Run) []error {
	requests := r.Load.RequestBound()
	return append(k.keyed.check(r),
		oneOf("workload.delete.keys.distribution", k.space.Distribution, spec.Sequential, spec.Uniform),
		Wanted(requests >= 1 && requests <= k.space.Count, "load.requests", fmt.Sprintf("1 to %d, the number of keys to delete", k.space.Count), requests),
		Wanted(r.Load.WarmupSeconds == 0, "load.warmupSeconds", "0 for Delete", r.Load.WarmupSeconds),
	)
}

func (deletion) words() Words { return Words{Done: "KEYS DELETED", Rate: "WRITE QPS", Targets: true} }

// shuffled takes each key once, in a random order.
type shuffled struct{ scatter }

func (s *shuffled) key(n int64, _ uint64) int64 { return s.of(uint64(n) % s.count) }
