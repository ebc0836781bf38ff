package results

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func recorded(durations ...int64) Histogram {
	var h Histogram
	for _, ns := range durations {
		h.Record(ns)
	}
	return h
}

// requireSame compares everything that adds up exactly; sums may differ by rounding.
func requireSame(t *testing.T, want, got Histogram) {
	t.Helper()
	near := func(a, b float64) bool { return math.Abs(a-b) <= 1e-12*math.Max(a, b) }
	if !near(want.sum, got.sum) || !near(want.sumSquares, got.sumSquares) {
		t.Fatalf("sums are %v and %v, wanted %v and %v", got.sum, got.sumSquares, want.sum, want.sumSquares)
	}
	got.sum, got.sumSquares = want.sum, want.sumSquares
	if !want.Equal(got) {
		t.Fatalf("count %d, min %d, max %d, schema %d; wanted count %d, min %d, max %d, schema %d; or buckets differ",
			got.count, got.minimum, got.maximum, got.Schema(), want.count, want.minimum, want.maximum, want.Schema())
	}
}

func TestHistogramCountsDurationsThatAreAlike(t *testing.T) {
	var alike, single Histogram
	for n, ns := range []int64{5e6, 3e9, -1, 5e6} {
		alike.RecordAlike(ns, uint64(n))
		for range n {
			single.Record(ns)
		}
	}
	requireSame(t, single, alike)
}

func TestRecordAllocatesNothing(t *testing.T) {
	var h Histogram
	h.Record(1)
	ns := int64(time.Microsecond)
	allocations := testing.AllocsPerRun(1000, func() {
		h.Record(ns)
		ns += ns / 64
	})
	if allocations != 0 {
		t.Errorf("%v allocations for each record, wanted none", allocations)
	}
}

func BenchmarkHistogram(b *testing.B) {
	var h Histogram
	r := rand.New(rand.NewPCG(4, 4))
	durations := make([]int64, 1<<12)
	for i := range durations {
		durations[i] = int64(2e6 * (1 + r.ExpFloat64()))
	}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		h.Record(durations[i%len(durations)])
	}
}

func FuzzMergeEqualsRecordingTheUnion(f *testing.F) {
	f.Add([]byte("0123456789abcdef"), []byte("fedcba9876543210"), uint8(0))
	f.Add([]byte{}, []byte("fedcba98"), uint8(3))
	f.Add([]byte{}, []byte{}, uint8(9))
	f.Fuzz(func(t *testing.T, first, second []byte, lower uint8) {
		a, b := durationsOf(first), durationsOf(second)
		want := recorded(slices.Concat(a, b)...)
		schema := MaxSchema - int(lower%(MaxSchema+1))
		if len(b) > 0 {
			want.Reduce(schema)
		}

		left, right := recorded(a...), recorded(b...)
		right.Reduce(schema)
		untouched := right.Clone()
		left.Merge(&right)
		requireSame(t, want, left)
		requireSame(t, untouched, right)
	})
}

// durationsOf derives durations of all magnitudes from random bytes.
func durationsOf(data []byte) (durations []int64) {
	for len(data) >= 8 {
		n := binary.LittleEndian.Uint64(data)
		durations = append(durations, int64(n>>(1+n%63)))
		data = data[8:]
	}
	return durations
}

// The operator merges packed histograms, of the same resolution and of others.
func TestMergeOfPackedHistogramsLosesNothing(t *testing.T) {
	for _, schema := range []int{MaxSchema, MaxSchema - 2} {
		plain := recorded(5_000_000, 7_000_000, 7_000_001, 90_000_000)
		packed := plain.Clone()
		packed.Pack()
		want, got := recorded(2_000, 7_000_000), recorded(2_000, 7_000_000)
		want.Reduce(schema)
		got.Reduce(schema)
		want.Merge(&plain)
		got.Merge(&packed)
		requireSame(t, want, got)
	}
}

func TestMergeLosesBucketsThatOneSideHasLost(t *testing.T) {
	lost := recorded(5e6, 7e6)
	lost.DropBuckets()
	whole := recorded(1e6)
	for name, h := range map[string]Histogram{"lost into whole": whole.Clone(), "whole into lost": lost.Clone()} {
		other := &lost
		if !h.HasBuckets() {
			other = &whole
		}
		h.Merge(other)
		if _, known := h.Quantile(0.5); known || h.HasBuckets() {
			t.Errorf("%s: a percentile is returned", name)
		}
		if h.Count() != 3 || h.Min() != time.Millisecond || h.Max() != 7*time.Millisecond || h.Mean() != 13*time.Millisecond/3 {
			t.Errorf("%s: count %d, min %v, max %v, mean %v", name, h.Count(), h.Min(), h.Max(), h.Mean())
		}
	}
}

// Halving must equal recording at the lower resolution.
func TestReduceIsExact(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	var full Histogram
	reduced := map[int]*Histogram{}
	for schema := MinSchema; schema < MaxSchema; schema++ {
		reduced[schema] = &Histogram{halvings: MaxSchema - schema}
	}
	for range 10_000 {
		ns := int64(math.Exp2(r.Float64() * 52))
		full.Record(ns)
		for _, h := range reduced {
			h.Record(ns)
		}
	}
	for schema := MaxSchema - 1; schema >= MinSchema; schema-- {
		full.Reduce(schema)
		requireSame(t, *reduced[schema], full)
	}
	before := full.Clone()
	full.Reduce(MaxSchema)
	full.Reduce(-9)
	requireSame(t, before, full)
}

func TestMoments(t *testing.T) {
	tests := map[string]struct {
		durations                   []int64
		minimum, maximum, mean, dev time.Duration
	}{
		"nothing":     {},
		"one":         {[]int64{1500}, 1500, 1500, 1500, 0},
		"two":         {[]int64{1e9, 3e9}, 1e9, 3e9, 2e9, 1e9},
		"set back":    {[]int64{-5, 10}, 0, 10, 5, 5},
		"nearly same": {[]int64{1e9, 1e9, 1e9 + 3e6}, 1e9, 1e9 + 3e6, 1e9 + 1e6, 1414214},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			h := recorded(tc.durations...)
			got := []time.Duration{h.Min(), h.Max(), h.Mean(), h.Stddev()}
			want := []time.Duration{tc.minimum, tc.maximum, tc.mean, tc.dev}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("min, max, mean, stddev (-want +got):\n%s", diff)
			}
		})
	}
}

func TestCloneSharesNothing(t *testing.T) {
	h := recorded(1e6)
	c := h.Clone()
	c.Record(1e6)
	if want := recorded(1e6); !h.Equal(want) {
		t.Error("recording into the clone changed the original")
	}
}

// The sum must stay correct where an int64 of nanoseconds would overflow: the waits of an overloaded open loop can add
// up to 300 years.
func TestSumDoesNotOverflow(t *testing.T) {
	var h Histogram
	for range 20_000 {
		h.Record(int64(7 * 24 * time.Hour))
	}
	if got := h.Mean(); got != 7*24*time.Hour {
		t.Errorf("mean is %v, wanted a week", got)
	}
}
