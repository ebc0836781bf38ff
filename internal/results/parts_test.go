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

// TestATrimmedHistogramIsTheSame: a decoded histogram without empty buckets at its ends behaves like one with all
// buckets.
func TestATrimmedHistogramIsTheSame(t *testing.T) {
	whole, trimmed := wide(time.Millisecond, time.Second), wide(time.Millisecond, time.Second)
	trimmed.trim()
	if len(trimmed.counts) >= len(whole.counts) || !trimmed.Equal(whole) || !whole.Equal(trimmed) {
		t.Fatalf("%d buckets of %d, wanted fewer, and the same counts", len(trimmed.counts), len(whole.counts))
	}
	for schema := MaxSchema; schema >= MinSchema; schema-- {
		whole.Reduce(schema)
		trimmed.Reduce(schema)
		requireSame(t, whole, trimmed)
		wanted, _ := whole.Over(30 * time.Millisecond)
		if got, _ := trimmed.Over(30 * time.Millisecond); got != wanted {
			t.Errorf("schema %d: %d are over 30 ms, wanted %d", schema, got, wanted)
		}
		if got, want := maps.Collect(trimmed.NativeBuckets()), maps.Collect(whole.NativeBuckets()); !maps.Equal(got, want) || trimmed.ZeroCount() != whole.ZeroCount() {
			t.Errorf("schema %d: the buckets are %v, wanted %v", schema, got, want)
		}
		for _, q := range []float64{0.001, 0.5, 0.999, 1} {
			want, _ := whole.Quantile(q)
			if got, _ := trimmed.Quantile(q); got != want {
				t.Errorf("schema %d: the quantile %v is %s, wanted %s", schema, q, got, want)
			}
		}
		whole.Record(1)
		trimmed.Record(1)
		trimmed.trim()
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
