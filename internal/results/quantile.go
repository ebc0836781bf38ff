package results

import (
	"math"
	"math/bits"
	"time"
)

// Quantile returns the q-th quantile, 0 < q ≤ 1, to a millionth: the duration at the nearest rank ⌈q·n⌉, as the
// geometric midpoint of its bucket, clamped to the exact minimum and maximum. It returns false if nothing was recorded
// or the buckets are lost.
func (h *Histogram) Quantile(q float64) (time.Duration, bool) {
	if h.count == 0 || !h.hasCounts() {
		return 0, false
	}
	return h.atRank(rank(q, h.count)).Duration, true
}

// Over counts the durations above a limit, at the resolution of the buckets; the limit's own bucket does not count as
// above. It returns false if the buckets are lost.
func (h *Histogram) Over(limit time.Duration) (n uint64, known bool) {
	own := coarser(BucketIndex(int64(limit)), h.halvings)
	for bucket, in := range h.buckets() {
		if bucket > own {
			n += in
		}
	}
	return n, h.HasBuckets()
}

// rank is ⌈q·n⌉ in integer arithmetic: in floating point, 0.07·100 is more than 7.
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

// bucketOfRank is the first bucket at which the cumulative count reaches rank.
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

// atRank is the duration at a rank, from 1 to the count: the middle of its bucket, within the exact minimum and maximum.
func (h *Histogram) atRank(rank uint64) Value {
	bucket := h.bucketOfRank(rank)
	lowest, highest := h.boundsOf(bucket)
	within := func(ns int64) time.Duration { return time.Duration(min(max(ns, h.minimum), h.maximum)) }
	return Value{Duration: within(int64(math.Round(midpoint(h.Schema(), bucket)))), Lowest: within(lowest), Highest: within(highest)}
}

// Value is one statistic of a distribution of durations.
type Value struct {
	Duration time.Duration
	// Lowest and Highest bound the value of what was recorded: a bucket does not say where in it a duration lies.
	Lowest, Highest time.Duration
	// AtLeast means that unanswered requests affect the value: the true value is Lowest or more.
	AtLeast bool
	// AtMost, if AtLeast is set, bounds the value with those requests never answered; 0 means no upper bound.
	AtMost time.Duration
	// Unbounded means that the value falls on a failed request, which ranks above every duration; Duration is then
	// undefined.
	Unbounded bool
}

// Ranked is a distribution that ranks answered, unanswered (censored) and failed requests together. Answered requests
// rank by their latency. Censored requests rank by how long they had waited, which is a lower bound of their latency.
// Failed requests rank above all others.
type Ranked struct {
	union    Histogram
	answered Histogram
	failed   uint64
	// missing are requests of which nothing is known. They rank below all others, as if they had taken no time.
	missing uint64
}

// Ranked ranks the answered and the censored requests of an operation.
func (r *OperationResult) Ranked() Ranked {
	return rankTogether(&r.Latency, &r.Censored, 0)
}

// Judged ranks the answered, censored and failed requests of an operation. Objectives use it.
func (r *OperationResult) Judged() Ranked {
	return rankTogether(&r.Latency, &r.Censored, r.Failed.Count())
}

// JudgedAtBest is the distribution of Judged if that many more requests had taken no time.
func (r *OperationResult) JudgedAtBest(missing uint64) Distribution {
	ranked := r.Judged()
	ranked.missing = missing
	return ranked.distribution()
}

// judgedNet ranks the net latency of the answered requests together with the failed ones. It leaves out censored
// requests, because the load generator may be the reason why they were not sent.
func (r *OperationResult) judgedNet() Ranked {
	return rankTogether(r.NetLatency(), &Histogram{}, r.Failed.Count())
}

func rankTogether(answered, censored *Histogram, failed uint64) Ranked {
	ranked := Ranked{union: answered.Clone(), answered: answered.Clone(), failed: failed}
	ranked.union.Merge(censored)
	ranked.answered.Reduce(ranked.union.Schema())
	return ranked
}

// Count is the number of ranked requests.
func (r *Ranked) Count() uint64 { return r.missing + r.union.count + r.failed }

// Quantile returns the q-th quantile like Histogram.Quantile. The value is AtLeast if a longer wait of the censored
// requests would move it to another bucket.
func (r *Ranked) Quantile(q float64) (Value, bool) {
	if r.Count() == 0 || !r.union.HasBuckets() {
		return Value{}, false
	}
	wanted := rank(q, r.Count())
	if wanted <= r.missing {
		return Value{}, true
	}
	if wanted -= r.missing; wanted > r.union.count {
		return Value{Unbounded: true}, true
	}
	value := r.union.atRank(wanted)
	if r.isCensored() {
		r.boundAbove(&value, wanted)
	}
	return value, true
}

// boundAbove computes the value at the rank if censored requests rank above all others.
func (r *Ranked) boundAbove(v *Value, wanted uint64) {
	if wanted > r.answered.count {
		v.AtLeast = true
		return
	}
	if highest := r.answered.atRank(wanted).Highest; highest > v.Highest {
		v.AtLeast, v.AtMost = true, highest
	}
}

func (r *Ranked) isCensored() bool { return r.union.count > r.answered.count }

// Max is the longest duration. It returns false if nothing is ranked.
func (r *Ranked) Max() (Value, bool) {
	if r.failed > 0 {
		return Value{Unbounded: true}, true
	}
	longest := r.union.Max()
	return Value{Duration: longest, Lowest: longest, Highest: longest, AtLeast: r.isCensored()}, r.union.count > 0
}

// Mean is the mean of the answered and censored requests; failed requests are left out. It returns false if there are
// none.
func (r *Ranked) Mean() (Value, bool) {
	mean := r.union.meanAmong(r.missing + r.union.count)
	return Value{Duration: r.union.Mean(), Lowest: mean, Highest: mean, AtLeast: r.isCensored()}, r.union.count > 0
}
