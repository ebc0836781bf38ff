package workload

import "github.com/etcdbench/etcd-benchmark-operator/api/spec"

// put writes one key with each request. Nothing is preloaded.
type put struct{ keyed }

func newPut(w spec.Workload) kind { return put{keyed{space: w.Put.Keys, stored: w.Put.Values}} }

func (put) operations() []spec.Operation { return []spec.Operation{spec.OperationPut} }

func (put) preload(*Run) int64 { return 0 }

func (put) at(w *Workload, stream Stream, n int64) Operation {
	return Write(w.key(stream, n), n)
}

func (p put) growth(r *Run) (preload, request float64, known bool) { return 0, p.entry(r), true }

func (p put) words() Words {
	w := Words{Done: "PUTS", Rate: "WRITE QPS", Targets: true, Succeeded: true}
	if p.space.Distribution == spec.Sequential {
		w.Written = "KEYS WRITTEN"
	}
	return w
}
