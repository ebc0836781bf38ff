package workload

import (
	"testing"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
)

func rangeOf(s spec.Range) *Workload {
	return New(runOf(spec.Workload{Type: spec.WorkloadRange, Range: &s}))
}

// With every distribution of keys, a read covers the right number of keys and never ends after the last one.
func TestReadsOfSeveralKeysStayInTheKeySpace(t *testing.T) {
	const count = 100
	for _, width := range []int64{1, 2, 99, 100} {
		for _, order := range []spec.Distribution{spec.Sequential, spec.Uniform, spec.ZipfLaw} {
			w := rangeOf(spec.Range{
				Consistency: spec.Linearizable, Delivery: spec.DeliveryWhole, KeysPerRequest: width, Keys: spec.Keys{Count: count, SizeBytes: 2, Distribution: order, Zipf: &spec.Zipf{Exponent: "0.5"}},
			})
			firsts := map[int64]bool{}
			for n := range int64(5_000) {
				firsts[w.At(Measured, n).Key] = true
			}
			for first := range firsts {
				if first < 0 || first+width > count {
					t.Errorf("%s: a read of %d keys begins with key %d of %d", order, width, first, count)
				}
			}
			if want := int(count - width + 1); len(firsts) != want {
				t.Errorf("%s: reads of %d keys begin with %d different keys, wanted %d", order, width, len(firsts), want)
			}
		}
	}
}

func TestTheEndOfARead(t *testing.T) {
	keys := spec.Keys{Count: 100, SizeBytes: 2}
	if end := rangeOf(spec.Range{Consistency: spec.Linearizable, Delivery: spec.DeliveryWhole, Keys: keys}).AppendEnd(nil, 5); len(end) > 0 {
		t.Errorf("the read of one key ends at %q, wanted no end", end)
	}
	all := rangeOf(spec.Range{Consistency: spec.Linearizable, Delivery: spec.DeliveryWhole, Keys: keys, KeysPerRequest: 100})
	last := string(all.AppendKey(nil, 99))
	if end := string(all.AppendEnd(nil, 0)); end <= last || end > last+"\x00" {
		t.Errorf("the read of all keys ends at %q, wanted the next key after %q", end, last)
	}
}

func TestEachKeyIsDeletedOnce(t *testing.T) {
	for _, count := range []int64{1, 2, 100, 1_000} {
		for _, order := range []spec.Distribution{spec.Sequential, spec.Uniform} {
			w := New(runOf(spec.Workload{Type: spec.WorkloadDelete, Delete: &spec.Delete{Keys: spec.Keys{Count: count, SizeBytes: 4, Distribution: order}}}))
			deleted := map[int64]bool{}
			inOrder := true
			for n := range count {
				op := w.At(Measured, n)
				if deleted[op.Key] || op.Key < 0 || op.Key >= count || op.Kind != spec.OperationDelete {
					t.Fatalf("%s: operation %d is %+v, not the deletion of another one of %d keys", order, n, op, count)
				}
				deleted[op.Key] = true
				inOrder = inOrder && op.Key == n
			}
			if inOrder != (order == spec.Sequential) && count > 2 {
				t.Errorf("%s: %d keys are deleted in order: %v", order, count, inOrder)
			}
		}
	}
}

func TestReadsAndDeletionsThatCannotBeRun(t *testing.T) {
	keys := spec.Keys{Count: 10, SizeBytes: 8, Distribution: spec.Sequential}
	reads := func(s spec.Range) func(*Run) {
		s.Keys, s.Values = keys, someValues
		return func(r *Run) { r.Workload = spec.Workload{Type: spec.WorkloadRange, Range: &s} }
	}
	overFast := func(s spec.Range) func(*Run) {
		return func(r *Run) { reads(s)(r); r.Load.Transport = spec.TransportFast }
	}
	limited := func(keys, limit int64) func(*Run) {
		return reads(spec.Range{Consistency: spec.Linearizable, Delivery: spec.DeliveryWhole, KeysPerRequest: keys, Limit: &limit})
	}
	pages := func(keys, page int64) spec.Range {
		return spec.Range{Consistency: spec.Linearizable, KeysPerRequest: keys, KeysPerPage: &page, Delivery: spec.DeliveryPages}
	}
	stream := spec.Range{Consistency: spec.Linearizable, KeysPerRequest: 3, Delivery: spec.DeliveryStream}
	with := func(s spec.Range, change func(*spec.Range)) func(*Run) { change(&s); return reads(s) }
	deletes := func(change func(*Run)) func(*Run) {
		return func(r *Run) {
			r.Workload, r.Load.Requests = spec.Workload{Type: spec.WorkloadDelete, Delete: &spec.Delete{Keys: keys, Values: someValues}}, new(int64(10))
			change(r)
		}
	}
	requireProblems(t, map[string]problem{
		"a page":              {with(spec.Range{Consistency: spec.Linearizable, Delivery: spec.DeliveryWhole, KeysPerRequest: 10, KeysOnly: true}, func(s *spec.Range) { s.Limit = new(int64(9)) }), ""},
		"a count":             {reads(spec.Range{Consistency: spec.Linearizable, Delivery: spec.DeliveryWhole, KeysPerRequest: 10, CountOnly: true}), ""},
		"too many keys":       {reads(spec.Range{Consistency: spec.Linearizable, Delivery: spec.DeliveryWhole, KeysPerRequest: 11}), "workload.range.keysPerRequest"},
		"less than no keys":   {reads(spec.Range{Consistency: spec.Linearizable, Delivery: spec.DeliveryWhole, KeysPerRequest: -1}), "workload.range.keysPerRequest"},
		"a limit of nothing":  {limited(3, 3), "workload.range.limit"},
		"a limit below zero":  {limited(3, -1), "workload.range.limit"},
		"a count with keys":   {reads(spec.Range{Consistency: spec.Linearizable, Delivery: spec.DeliveryWhole, KeysOnly: true, CountOnly: true}), "workload.range.countOnly"},
		"a limit on a count":  {with(spec.Range{Consistency: spec.Linearizable, Delivery: spec.DeliveryWhole, KeysPerRequest: 3, CountOnly: true}, func(s *spec.Range) { s.Limit = new(int64(2)) }), "workload.range.countOnly"},
		"pages":               {with(pages(10, 9), func(s *spec.Range) { s.KeysOnly = true }), ""},
		"a stream":            {with(stream, func(s *spec.Range) { s.KeysPerRequest, s.KeysOnly = 10, true }), ""},
		"one page":            {reads(pages(3, 3)), "workload.range.keysPerPage"},
		"pages below zero":    {reads(pages(3, -1)), "workload.range.keysPerPage"},
		"a stream in pages":   {with(stream, func(s *spec.Range) { s.KeysPerPage = new(int64(1)) }), "workload.range.keysPerPage"},
		"a limit on pages":    {with(pages(3, 1), func(s *spec.Range) { s.Limit = new(int64(2)) }), "Whole with countOnly or limit"},
		"a stream of a count": {with(stream, func(s *spec.Range) { s.CountOnly = true }), "Whole with countOnly or limit"},
		"pages over Fast":     {overFast(pages(3, 1)), "load.transport"},
		"a stream over Fast":  {overFast(stream), "load.transport"},
		"puts of an interval": {func(r *Run) {
			r.Workload.Range = &spec.Range{Consistency: spec.Linearizable, Delivery: spec.DeliveryWhole, KeysPerRequest: 2, Keys: keys}
		}, "workload: wanted the field of type Put"},
		"deletions":            {deletes(func(*Run) {}), ""},
		"deletions at random":  {deletes(func(r *Run) { r.Workload.Delete.Keys.Distribution = spec.Uniform }), ""},
		"more deletions":       {deletes(func(r *Run) { r.Load.Requests = new(int64(11)) }), "load.requests"},
		"deletions for a time": {deletes(func(r *Run) { forSeconds(r, 1) }), "load.requests"},
		"deletions, warmed up": {deletes(func(r *Run) { r.Load.WarmupSeconds = 1 }), "load.warmupSeconds"},
		"deletions of hot keys": {deletes(func(r *Run) {
			r.Workload.Delete.Keys.Distribution, r.Workload.Delete.Keys.Zipf = spec.ZipfLaw, &spec.Zipf{Exponent: "0.009"}
		}), "workload.delete.keys.distribution"},
	})
}
