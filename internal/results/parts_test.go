package results

import (
	"maps"
	"math"
	"testing"
	"time"
)

// wide has a count in every bucket from low to high.
func wide(low, high time.Duration) (h Histogram) {
	for bucket := BucketIndex(int64(low)); bucket <= BucketIndex(int64(high)); bucket++ {
		h.Record(int64(midpoint(MaxSchema, bucket)))
	}
	return h
}

// TestSmallerFormsAreTheSame: a histogram without empty buckets at its ends, or with packed counts, behaves like one with
// all buckets.
func TestSmallerFormsAreTheSame(t *testing.T) {
	for name, shrink := range map[string]func(*Histogram){"trimmed": (*Histogram).trim, "packed": (*Histogram).Pack} {
		t.Run(name, func(t *testing.T) {
			whole, small := wide(time.Millisecond, time.Second), wide(time.Millisecond, time.Second)
			whole.RecordAlike(2e6, 1000)
			small.RecordAlike(2e6, 1000)
			shrink(&small)
			if len(small.counts) >= len(whole.counts) || !small.Equal(whole) || !whole.Equal(small) {
				t.Fatalf("%d buckets of %d, wanted fewer, and the same counts", len(small.counts), len(whole.counts))
			}
			for schema := MaxSchema; schema >= MinSchema; schema-- {
				whole.Reduce(schema)
				small.Reduce(schema)
				requireSame(t, whole, small)
				requireReadAlike(t, whole, small)
				whole.Record(1)
				small.Record(1)
				shrink(&small)
			}
			whole.Merge(&small)
			small.Merge(new(small.Clone()))
			shrink(&small)
			requireSame(t, whole, small)
			requireReadAlike(t, whole, small)
		})
	}
}

// requireReadAlike compares what can be read from two histograms.
func requireReadAlike(t *testing.T, want, got Histogram) {
	t.Helper()
	schema := want.Schema()
	wanted, _ := want.Over(30 * time.Millisecond)
	if n, known := got.Over(30 * time.Millisecond); n != wanted || !known {
		t.Errorf("schema %d: %d are over 30 ms, wanted %d", schema, n, wanted)
	}
	if got, want := maps.Collect(got.NativeBuckets()), maps.Collect(want.NativeBuckets()); !maps.Equal(got, want) {
		t.Errorf("schema %d: the buckets are %v, wanted %v", schema, got, want)
	}
	if got.ZeroCount() != want.ZeroCount() {
		t.Errorf("schema %d: %d in the zero bucket, wanted %d", schema, got.ZeroCount(), want.ZeroCount())
	}
	for _, q := range []float64{0.001, 0.5, 0.999, 1} {
		want, _ := want.Quantile(q)
		if got, _ := got.Quantile(q); got != want {
			t.Errorf("schema %d: the quantile %v is %s, wanted %s", schema, q, got, want)
		}
	}
	again, err := HistogramOf(got.Parts())
	if err != nil {
		t.Fatal(err)
	}
	requireSame(t, want, again)
	if since, ok := got.Since(&want); !ok || since.Count() > 0 {
		t.Errorf("wanted no record since an equal state, found %d", since.Count())
	}
	changed := got
	changed.Pack()
	copied := changed
	copied.Record(5)
	if copied.Merge(&want); !changed.Equal(want) {
		t.Error("wanted a change of a copy to leave the packed original alone")
	}
}

// TestHistogramOfItsPartsIsTheSame also checks that invalid parts are refused.
func TestHistogramOfItsPartsIsTheSame(t *testing.T) {
	want := wide(time.Millisecond, time.Second)
	want.Reduce(3)
	got, err := HistogramOf(want.Parts())
	if err != nil {
		t.Fatal(err)
	}
	requireSame(t, want, got)
	for name, spoil := range map[string]func(*Parts){
		"a schema too fine":    func(p *Parts) { p.Schema = MaxSchema + 1 },
		"a schema too coarse":  func(p *Parts) { p.Schema = MinSchema - 1 },
		"buckets too low":      func(p *Parts) { p.First = -1 },
		"buckets too high":     func(p *Parts) { p.First = BucketCount(p.Schema) - len(p.Counts) + 1 },
		"more than the count":  func(p *Parts) { p.Count-- },
		"fewer than the count": func(p *Parts) { p.Count++ },
		"counts that overflow": func(p *Parts) { p.Counts = []uint64{math.MaxUint64, p.Count + 1} },
	} {
		p := want.Parts()
		spoil(&p)
		if h, err := HistogramOf(p); err == nil {
			t.Errorf("%s: got %d of %d", name, h.Count(), p.Count)
		}
	}
}
