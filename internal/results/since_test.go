package results

import (
	"math/rand/v2"
	"testing"
)

// What was recorded since an earlier state has the percentiles of a histogram of that alone.
func TestSince(t *testing.T) {
	for seed := range uint64(100) {
		r := rand.New(rand.NewPCG(16, seed))
		var all, later Histogram
		record := func(histograms ...*Histogram) {
			ns := r.Int64N(1 << (1 + r.IntN(40)))
			for _, h := range histograms {
				h.Record(ns)
			}
		}
		for range r.IntN(300) {
			record(&all)
		}
		before := all.Clone()
		before.Reduce(r.IntN(MaxSchema + 1))
		for range r.IntN(300) {
			record(&all, &later)
		}
		got, ok := all.Since(&before)
		later.Reduce(got.Schema())
		if !ok || got.Count() != later.Count() {
			t.Fatalf("seed %d: got %d, %v, wanted %d", seed, got.Count(), ok, later.Count())
		}
		for _, q := range []float64{0.1, 0.5, 0.99} {
			a, _ := got.Quantile(q)
			b, _ := later.Quantile(q)
			if bound := 1 + float64(later.ErrorBound())/1e6; float64(a) > float64(b)*bound+1e3 || float64(b) > float64(a)*bound+1e3 {
				t.Errorf("seed %d: quantile %v is %v, wanted %v", seed, q, a, b)
			}
		}
		if err := got.check(); err != nil {
			t.Errorf("seed %d: %v", seed, err)
		}
	}
}

func TestSinceNeedsAnEarlierState(t *testing.T) {
	var more, other, lost Histogram
	more.Record(1e6)
	more.Record(2e6)
	other.Record(5e9)
	lost.Record(1e6)
	lost.DropBuckets()
	for name, before := range map[string]*Histogram{"another": &other, "without buckets": &lost} {
		if got, ok := more.Since(before); ok {
			t.Errorf("%s: got %+v", name, got)
		}
	}
	if _, ok := other.Since(&more); ok {
		t.Error("a later state was taken for an earlier one")
	}
}
