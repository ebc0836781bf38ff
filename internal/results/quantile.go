package results

import (
	"math"
	"math/bits"
	"time"
)

// Quantile returns the q-th quantile, 0 < q ≤ 1, to a millionth: the duration
// at the nearest rank ⌈q·n⌉, as the geometric midpoint of its bucket, clamped
// to the exact minimum and maximum. It is false if nothing was recorded or the
// buckets are lost.
func (h *Histogram) Quantile(q float64) (time.Duration, bool) {
	if h.count == 0 || h.counts == nil {
		return 0, false
	}
	bucket := h.bucketOfRank(rank(q, h.count))
	return clampedMidpoint(h, bucket), true
}

// Over counts the durations above a limit, to the resolution of the buckets: what
// is in the limit's own counts as not above. It is false if the buckets are lost.
func (h *Histogram) Over(limit time.Duration) (n uint64, known bool) {
	own := coarser(BucketIndex(int64(limit)), h.halvings)
	for bucket, in := range h.buckets() {
		if bucket > own {
			n += in
		}
	}
	return n, h.HasBuckets()
}

// rank is ⌈q·n⌉, computed in integers: 0.07·100 is more than 7 in floating point.
func rank(q float64, n uint64) uint64 {
	const million = 1_000_000
	ppm := uint64(math.Round(min(max(q, 0), 1) * million))
	hi, lo := bits.Mul64(ppm, n)
	quotient, remainder := bits.Div64(hi, lo, million)
	if remainder > 0 {
		quotient++
	}
	return max(quotient, 1)
}

// bucketOfRank is the first bucket at which the running count reaches rank.
func (h *Histogram) bucketOfRank(rank uint64) int {
	last := 0
	for bucket, n := range h.buckets() {
		if n >= rank {
			return bucket
		}
		rank -= n
		last = bucket
	}
	return last
}

func clampedMidpoint(h *Histogram, bucket int) time.Duration {
	ns := int64(math.Round(midpoint(h.Schema(), bucket)))
	return time.Duration(min(max(ns, h.minimum), h.maximum))
}

// Value is one statistic of a distribution of durations.
type Value struct {
	Duration time.Duration
	// AtLeast says that requests that were cut off decide the value: the true
	// one is Duration or more.
	AtLeast bool
	// AtMost, where AtLeast is set, is what the value would be if those requests
	// had never been answered; 0 means that there is no such bound.
	AtMost time.Duration
	// Unbounded says that the value falls on a failed request, which ranks
	// above every duration; Duration then means nothing.
	Unbounded bool
}

// Ranked is a distribution in which answered, cut-off and failed requests rank
// together: answered ones by their latency; censored ones by the time that
// they had waited when they were cut off, which their latency is at least;
// failed ones above all.
type Ranked struct {
	union    Histogram
	answered Histogram
	failed   uint64
}

// Ranked ranks the answered and the censored requests of an operation.
func (r *OperationResult) Ranked() Ranked {
	return rankTogether(&r.Latency, &r.Censored, 0)
}

// Judged ranks the answered, the censored and the failed requests of an
// operation. Objectives are judged by it.
func (r *OperationResult) Judged() Ranked {
	return rankTogether(&r.Latency, &r.Censored, r.Failed.Count())
}

func rankTogether(answered, censored *Histogram, failed uint64) Ranked {
	ranked := Ranked{union: answered.Clone(), answered: answered.Clone(), failed: failed}
	ranked.union.Merge(censored)
	ranked.answered.Reduce(ranked.union.Schema())
	return ranked
}

// Count is how many requests are ranked.
func (r *Ranked) Count() uint64 { return r.union.count + r.failed }

// Quantile returns the q-th quantile as Histogram.Quantile does. Its value is
// AtLeast if it would lie in another bucket had the censored requests, some of
// which lie at or below it, waited longer.
func (r *Ranked) Quantile(q float64) (Value, bool) {
	if r.Count() == 0 || !r.union.HasBuckets() {
		return Value{}, false
	}
	wanted := rank(q, r.Count())
	if wanted > r.union.count {
		return Value{Unbounded: true}, true
	}
	bucket := r.union.bucketOfRank(wanted)
	value := Value{Duration: clampedMidpoint(&r.union, bucket)}
	if r.isCensored() {
		r.boundAbove(&value, wanted, bucket)
	}
	return value, true
}

// boundAbove asks what stands at the rank if censored requests rank above all
// others.
func (r *Ranked) boundAbove(v *Value, wanted uint64, bucket int) {
	if wanted > r.answered.count {
		v.AtLeast = true
		return
	}
	if highest := r.answered.bucketOfRank(wanted); highest > bucket {
		v.AtLeast, v.AtMost = true, clampedMidpoint(&r.answered, highest)
	}
}

func (r *Ranked) isCensored() bool { return r.union.count > r.answered.count }

// Max is the longest duration. It is false if nothing is ranked.
func (r *Ranked) Max() (Value, bool) {
	if r.failed > 0 {
		return Value{Unbounded: true}, true
	}
	return Value{Duration: r.union.Max(), AtLeast: r.isCensored()}, r.union.count > 0
}

// Mean is the mean of the answered and censored requests: a failed one has no
// duration that a mean could use. It is false if there are none.
func (r *Ranked) Mean() (Value, bool) {
	return Value{Duration: r.union.Mean(), AtLeast: r.isCensored()}, r.union.count > 0
}
