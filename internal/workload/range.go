package workload

import (
	"fmt"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
)

// readRange reads one key, or several consecutive ones.
type readRange struct {
	keyed
	settings spec.Range
}

func newRange(w spec.Workload) kind {
	return readRange{keyed{space: w.Range.Keys, stored: w.Range.Values}, *w.Range}
}

func (readRange) operations() []spec.Operation { return []spec.Operation{spec.OperationRange} }

func (readRange) at(w *Workload, stream Stream, n int64) Operation { return get1(w, stream, n) }

func (k readRange) growth(r *Run) (preload, request float64, known bool) {
	return float64(k.space.Count) * k.entry(r), 0, true
}

func (k readRange) width() int64 { return max(1, k.settings.KeysPerRequest) }

func (k readRange) consistency() spec.Consistency { return k.settings.Consistency }

func (readRange) words() Words { return Words{Done: "REQUESTS", Rate: "READ QPS"} }

var consistencies = []spec.Consistency{spec.Linearizable, spec.Serializable, spec.SyncRead, spec.Leader}

func (k readRange) check(r *Run) []error {
	s := k.settings
	pages, limit := deref(s.KeysPerPage), deref(s.Limit)
	return append(k.keyed.check(r),
		oneOf("workload.range.consistency", s.Consistency, consistencies...),
		oneOf("workload.range.delivery", s.Delivery, spec.DeliveryWhole, spec.DeliveryPages, spec.DeliveryStream),
		Wanted(s.KeysPerRequest >= 0 && k.width() <= k.space.Count, "workload.range.keysPerRequest", fmt.Sprintf("1 to %d, the number of keys", k.space.Count), s.KeysPerRequest),
		Wanted(limit >= 0 && (limit == 0 || limit < k.width()), "workload.range.limit", "less than keysPerRequest", limit),
		Wanted(!s.CountOnly || !s.KeysOnly && limit == 0, "workload.range.countOnly", "neither keysOnly nor limit with it", s.CountOnly),
		Wanted((pages > 0) == (s.Delivery == spec.DeliveryPages) && pages >= 0 && pages < max(k.width(), 1), "workload.range.keysPerPage", "less than keysPerRequest, and none without pages", pages),
		Wanted(s.Delivery == spec.DeliveryWhole || !s.CountOnly && limit == 0, "workload.range.delivery", "Whole with countOnly or limit", s.Delivery),
	)
}

func deref[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}
