package results

import (
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// A share that is exactly the limit is not more than it.
func TestIsMoreEqualsRationals(t *testing.T) {
	r := rand.New(rand.NewPCG(17, 1))
	equal := 0
	for range 100_000 {
		bits := 1 + r.IntN(63)
		draw := func() uint64 { return r.Uint64N(1<<bits) + 1 }
		part, whole, share, unit := draw()-1, draw(), draw()-1, draw()
		if r.IntN(2) == 0 {
			// Often exactly the limit, or next to it.
			unit = []uint64{10, 100, 1000, 1_000_000}[r.IntN(4)]
			share = r.Uint64N(unit + 1)
			n := 1 + r.Uint64N(1<<40)
			part, whole = max(share*n+r.Uint64N(3), 1)-1, unit*n
		}
		got := new(big.Rat).SetFrac(new(big.Int).SetUint64(part), new(big.Int).SetUint64(whole))
		limit := new(big.Rat).SetFrac(new(big.Int).SetUint64(share), new(big.Int).SetUint64(unit))
		if got.Cmp(limit) == 0 {
			equal++
		}
		if want := got.Cmp(limit) > 0; IsMore(part, whole, share, unit) != want {
			t.Fatalf("%d of %d is more than %d of %d: found %v, wanted %v", part, whole, share, unit, !want, want)
		}
	}
	if equal < 1000 {
		t.Errorf("only %d of the shares were equal to their limit: the test is too weak", equal)
	}
	if IsMore(3, 0, 1, 2) {
		t.Error("a share of nothing is more than a half")
	}
}

// The bounds of a percentile contain the true one, and end at durations that would be in the same bucket.
func TestBoundsOfPercentiles(t *testing.T) {
	for name, draw := range distributions {
		r := rand.New(rand.NewPCG(17, 2))
		for schema := MinSchema; schema <= MaxSchema; schema++ {
			var h Histogram
			raw := make([]int64, 1+r.IntN(500))
			for i := range raw {
				raw[i] = max(int64(draw(r)), 0)
				h.Record(raw[i])
			}
			h.Reduce(schema)
			slices.Sort(raw)
			for rank := range raw {
				v, truth := h.atRank(uint64(rank+1)), raw[rank]
				own := coarser(BucketIndex(truth), MaxSchema-schema)
				for _, end := range []int64{int64(v.Lowest), int64(v.Highest), int64(v.Duration)} {
					if coarser(BucketIndex(end), MaxSchema-schema) != own || end < raw[0] || end > raw[len(raw)-1] {
						t.Fatalf("%s, schema %d: %+v of %d, whose bucket is %d", name, schema, v, truth, own)
					}
				}
				if truth < int64(v.Lowest) || truth > int64(v.Highest) || v.Duration < v.Lowest || v.Duration > v.Highest {
					t.Fatalf("%s, schema %d: %+v does not contain %d", name, schema, v, truth)
				}
			}
		}
	}
}

// A duration next to the end of a bucket is in the bucket whose bounds contain it.
func TestEveryDurationIsWithinTheBoundsOfItsBucket(t *testing.T) {
	r := rand.New(rand.NewPCG(17, 3))
	for range 20_000 {
		schema := MinSchema + r.IntN(MaxSchema+1)
		ns := int64(math.Exp2(62 * r.Float64()))
		if r.IntN(2) == 0 {
			ns = int64(bucketPoint(schema, float64(1+r.IntN(BucketCount(schema)-2)))) + int64(r.IntN(3)) - 1
		}
		h := Histogram{halvings: MaxSchema - schema}
		bucket := coarser(BucketIndex(ns), h.halvings)
		if lowest, highest := h.boundsOf(bucket); ns < lowest || ns > highest {
			t.Fatalf("schema %d: the bucket of %d is from %d to %d", schema, ns, lowest, highest)
		}
	}
}

// A mean is above a limit exactly if the sum is above the limit times the number.
func TestMeanIsRoundedUp(t *testing.T) {
	r := rand.New(rand.NewPCG(17, 4))
	for range 20_000 {
		var h Histogram
		n := 1 + r.Uint64N(100)
		sum := int64(0)
		for range n {
			ns := 10 + r.Int64N(3)
			h.Record(ns)
			sum += ns
		}
		ranked := rankTogether(&h, &Histogram{}, 0)
		ranked.missing = r.Uint64N(50)
		got, _ := ranked.Mean()
		for limit := range int64(14) {
			if want := sum > limit*int64(n+ranked.missing); (got.Highest > time.Duration(limit)) != want || got.Lowest != got.Highest {
				t.Fatalf("%d ns of %d requests and %d missing ones: found %+v, wanted above %d: %v", sum, n, ranked.missing, got, limit, want)
			}
		}
	}
}

// However long the missing requests take, a percentile is at least that of JudgedAtBest.
func TestJudgedAtBestIsALowerBound(t *testing.T) {
	r := rand.New(rand.NewPCG(17, 5))
	for range 300 {
		var known, all OperationResult
		for range 1 + r.IntN(300) {
			ns := int64(math.Exp2(9 + 21*r.Float64()))
			if r.IntN(20) == 0 {
				known.Failed.Record(ns)
				all.Failed.Record(ns)
				continue
			}
			known.Latency.Record(ns)
			all.Latency.Record(ns)
		}
		missing := r.Uint64N(300)
		for range missing {
			all.Latency.Record(int64(math.Exp2(9 + 21*r.Float64())))
		}
		// Fewer requests than expected may be missing.
		best, judged := known.JudgedAtBest(missing+r.Uint64N(30)), all.Judged()
		for _, p := range Percentiles {
			got, want := best.Values[p], judged.distribution().Values[p]
			if got.Unbounded && !want.Unbounded || !want.Unbounded && got.Lowest > want.Highest {
				t.Fatalf("%d missing: %s is %+v at best, and is %+v", missing, p, got, want)
			}
		}
	}
}
