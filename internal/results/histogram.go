package results

import (
	"iter"
	"maps"
	"math"
	"math/bits"
	"slices"
	"time"
)

// Histogram is a distribution of durations in the buckets of a Prometheus native histogram, with exact count, minimum
// and maximum. The zero value is empty, has MaxSchema and is ready to use. A copy of the struct shares its buckets with
// the original; Clone does not.
type Histogram struct {
	// halvings is how often the resolution was halved: schema = MaxSchema - halvings.
	halvings int
	// counts are the counts of the buckets from first on. While the histogram is recorded into, they cover all buckets;
	// after decoding, they cover the lowest to the highest bucket that is not empty. counts is nil while the histogram
	// is empty or if its buckets are lost.
	counts []uint64
	// packed replaces counts after Pack: the same counts as varints. It is never changed, so copies may share it.
	packed []byte
	first  int
	count  uint64
	// sum is in nanoseconds. It is exact up to 2^53 ns (104 days of waiting); above, it is rounded to a float64.
	sum float64
	// sumSquares is in square seconds.
	sumSquares float64
	// minimum and maximum are in nanoseconds; they are undefined if count is 0.
	minimum, maximum int64
}

// Record counts one duration of ns nanoseconds. A negative one, caused by a changed clock, counts as 0.
func (h *Histogram) Record(ns int64) { h.RecordAlike(ns, 1) }

// RecordAlike counts n durations of ns nanoseconds each, in the time of one Record.
func (h *Histogram) RecordAlike(ns int64, n uint64) {
	if n == 0 {
		return
	}
	ns = max(ns, 0)
	// Only a histogram at MaxSchema has this many buckets.
	if bucket := BucketIndex(ns); len(h.counts) == Buckets {
		h.counts[bucket] += n
	} else {
		h.add(bucket, n)
	}
	h.include(ns, ns)
	h.count += n
	seconds := float64(ns) * secondsPerNanosecond
	h.sum += float64(ns) * float64(n)
	h.sumSquares += seconds * seconds * float64(n)
}

// add counts n durations in a bucket at MaxSchema, unless the buckets are lost.
func (h *Histogram) add(bucket int, n uint64) {
	h.unpack()
	at := coarser(bucket, h.halvings)
	if i := at - h.first; i >= 0 && i < len(h.counts) {
		h.counts[i] += n
		return
	}
	if h.HasBuckets() {
		h.widen()
		h.counts[at] += n
	}
}

// include widens minimum and maximum; call it before count changes.
func (h *Histogram) include(minimum, maximum int64) {
	if h.count == 0 {
		h.minimum, h.maximum = minimum, maximum
		return
	}
	h.minimum, h.maximum = min(h.minimum, minimum), max(h.maximum, maximum)
}

// coarser returns the bucket that contains this bucket after that many halvings.
func coarser(bucket, halvings int) int {
	return (bucket + 1<<halvings - 1) >> halvings
}

// Schema is the resolution: 2^Schema buckets per doubling.
func (h *Histogram) Schema() int { return MaxSchema - h.halvings }

// Count is how many durations were recorded.
func (h *Histogram) Count() uint64 { return h.count }

// Sum of all durations in nanoseconds.
func (h *Histogram) Sum() float64 { return h.sum }

// SumSquares is the sum of the squares of all durations, in square seconds.
func (h *Histogram) SumSquares() float64 { return h.sumSquares }

// Min is the shortest duration, exactly; 0 if there is none.
func (h *Histogram) Min() time.Duration {
	if h.count == 0 {
		return 0
	}
	return time.Duration(h.minimum)
}

// Max is the longest duration, exactly; 0 if there is none.
func (h *Histogram) Max() time.Duration {
	if h.count == 0 {
		return 0
	}
	return time.Duration(h.maximum)
}

// Mean is the arithmetic mean; 0 if nothing was recorded.
func (h *Histogram) Mean() time.Duration {
	if h.count == 0 {
		return 0
	}
	return time.Duration(math.Round(h.sum / float64(h.count)))
}

// meanAmong is the sum of all durations ÷ a number of requests, rounded up: it is above a limit exactly if the mean is.
// The sum is exact up to 2^53 ns.
func (h *Histogram) meanAmong(n uint64) time.Duration {
	if n == 0 {
		return 0
	}
	sum := uint64(h.sum)
	return time.Duration(sum/n + min(sum%n, 1))
}

// Stddev is the standard deviation of all records (not of a sample); 0 if nothing was recorded.
func (h *Histogram) Stddev() time.Duration {
	if h.count == 0 {
		return 0
	}
	n := float64(h.count)
	mean := h.sum / nanosecondsPerSecond / n
	variance := max(h.sumSquares/n-mean*mean, 0)
	return time.Duration(math.Round(math.Sqrt(variance) * nanosecondsPerSecond))
}

// HasBuckets reports whether percentiles are known. Only a histogram that did not fit into a termination message has a
// count without buckets.
func (h *Histogram) HasBuckets() bool { return h.count == 0 || h.hasCounts() }

func (h *Histogram) hasCounts() bool { return h.counts != nil || h.packed != nil }

// ErrorBound is the greatest relative error of a percentile, in parts per million. It does not apply below one
// microsecond, where the error is at most half a microsecond.
func (h *Histogram) ErrorBound() int { return errorBoundPPM(h.Schema()) }

// Clone returns a copy; a change of one of both does not change the other.
func (h *Histogram) Clone() Histogram {
	c := *h
	c.counts = slices.Clone(h.counts)
	return c
}

// Reduce lowers the resolution to a schema. Each halving is exact, as if everything had been recorded at the lower
// resolution. A schema that is not lower than that of h has no effect.
func (h *Histogram) Reduce(schema int) {
	steps := h.Schema() - max(schema, MinSchema)
	if steps <= 0 {
		return
	}
	h.unpack()
	h.halvings += steps
	if h.counts == nil {
		return
	}
	first, last := coarser(h.first, steps), coarser(h.first+len(h.counts)-1, steps)
	reduced := make([]uint64, last-first+1)
	for bucket, n := range h.buckets() {
		reduced[coarser(bucket, steps)-first] += n
	}
	h.counts, h.first = reduced, first
}

// Merge adds the records of other. The result has the lower of both resolutions, and no buckets if either side has lost
// them.
func (h *Histogram) Merge(other *Histogram) {
	if other.count == 0 {
		return
	}
	h.mergeBuckets(other)
	h.include(other.minimum, other.maximum)
	h.count += other.count
	h.sum += other.sum
	h.sumSquares += other.sumSquares
}

func (h *Histogram) mergeBuckets(other *Histogram) {
	if !h.HasBuckets() || !other.HasBuckets() {
		h.DropBuckets()
		return
	}
	h.Reduce(other.Schema())
	h.widen()
	if steps := other.Schema() - h.Schema(); steps > 0 || other.packed == nil {
		for bucket, n := range other.buckets() {
			h.counts[coarser(bucket, steps)] += n
		}
		return
	}
	// Most merges of the operator are of this kind, and an iterator in an iterator would take several times as long.
	counts := h.counts[other.first:]
	for i, n := range unpacked(other.packed) {
		counts[i] += n
	}
}

// DropBuckets keeps only count, sums, minimum and maximum.
func (h *Histogram) DropBuckets() { h.counts, h.packed, h.first = nil, nil, 0 }

// Equal reports whether both have the same resolution and the same records.
func (h Histogram) Equal(other Histogram) bool {
	if h.count == 0 || other.count == 0 {
		return h.count == other.count
	}
	return h.halvings == other.halvings &&
		h.count == other.count && h.sum == other.sum && h.sumSquares == other.sumSquares &&
		h.minimum == other.minimum && h.maximum == other.maximum &&
		h.HasBuckets() == other.HasBuckets() && maps.Equal(maps.Collect(h.buckets()), maps.Collect(other.buckets()))
}

// ZeroCount is the count of the zero bucket (durations up to 2^-20 s).
func (h *Histogram) ZeroCount() uint64 {
	for bucket, n := range h.buckets() {
		if bucket == 0 {
			return n
		}
		break
	}
	return 0
}

// NativeBuckets yields Prometheus's index at Schema and the count of each non-empty bucket above the zero bucket, in
// order.
func (h *Histogram) NativeBuckets() iter.Seq2[int, uint64] {
	return func(yield func(int, uint64) bool) {
		for bucket, n := range h.buckets() {
			if bucket > 0 && !yield(nativeIndex(h.Schema(), bucket), n) {
				return
			}
		}
	}
}

// buckets yields each non-empty bucket with its count, in order.
func (h *Histogram) buckets() iter.Seq2[int, uint64] {
	return func(yield func(int, uint64) bool) {
		for i, n := range h.counts {
			if n > 0 && !yield(h.first+i, n) {
				return
			}
		}
		for i, n := range unpacked(h.packed) {
			if n > 0 && !yield(h.first+i, n) {
				return
			}
		}
	}
}

// widen extends counts to all buckets.
func (h *Histogram) widen() {
	h.unpack()
	if len(h.counts) == BucketCount(h.Schema()) {
		return
	}
	wide := make([]uint64, BucketCount(h.Schema()))
	copy(wide[h.first:], h.counts)
	h.counts, h.first = wide, 0
}

// trim drops the empty buckets at both ends.
func (h *Histogram) trim() {
	low, high, found := h.ends()
	switch {
	case !found:
		h.DropBuckets()
	case high-low+1 < len(h.counts):
		h.counts, h.first = slices.Clone(h.counts[low-h.first:high-h.first+1]), low
	}
}

// ends are the lowest and the highest bucket that is not empty; false if there is none.
func (h *Histogram) ends() (low, high int, found bool) {
	if h.packed != nil {
		// A Packer begins and ends with a count that is not 0.
		return h.first, h.first + lengthOf(h.packed) - 1, true
	}
	low, high = 0, len(h.counts)-1
	for low <= high && h.counts[low] == 0 {
		low++
	}
	for low <= high && h.counts[high] == 0 {
		high--
	}
	return h.first + low, h.first + high, low <= high
}

// IsMore reports whether part/whole > share/unit, exactly: in floating point, 1 - 0.9 is less than a tenth. A share of
// nothing is not more than any limit.
func IsMore(part, whole, share, unit uint64) bool {
	high, low := bits.Mul64(part, unit)
	limitHigh, limitLow := bits.Mul64(share, whole)
	return whole > 0 && (high > limitHigh || high == limitHigh && low > limitLow)
}
