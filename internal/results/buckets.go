package results

import (
	"math"
	"math/big"
	"math/bits"
	"slices"
)

// The bucket layout is that of a Prometheus native histogram over seconds: at schema s, bucket i covers (2^((i-1)/2^s),
// 2^(i/2^s)] s. Buckets from 2^-20 s (0.95 µs) to 2^20 s (12 days, longer than any run) are kept dense. Shorter
// durations go into the zero bucket, longer ones into the last bucket. Both limits are bucket bounds at every schema,
// so lowering the resolution stays exact.
const (
	// MaxSchema is the schema of recording: 128 buckets per doubling.
	MaxSchema = 7
	// MinSchema is the lowest resolution: one bucket per doubling.
	MinSchema = 0
	// Buckets is the number of buckets at MaxSchema; bucket 0 is the zero bucket.
	Buckets = 2*octaves<<MaxSchema + 1

	// ZeroThreshold is the upper bound of the zero bucket, in seconds.
	ZeroThreshold = 1.0 / (1 << octaves)

	// ZeroBucket is Prometheus's index, at MinSchema, of the bucket that ends at ZeroThreshold.
	ZeroBucket = -octaves

	// octaves is how many doublings lie on each side of one second.
	octaves = 20

	nanosecondsPerSecond = 1_000_000_000
	secondsPerNanosecond = 1e-9
	// zeroNanoseconds is ZeroThreshold, rounded down.
	zeroNanoseconds = nanosecondsPerSecond >> octaves
)

// slotBits are the leading bits, after the first one, that select a slot of the table slots. A slot is narrower than any
// bucket, so it contains at most one bound.
const slotBits = MaxSchema + 1

// slot is a part of the durations between a power of two and the next, in nanoseconds. Durations are scaled to 64 bits
// with the first one set.
type slot struct {
	// bound is the bound of a bucket in the slot, rounded down; the highest value if there is none.
	bound uint64
	// index is the bucket of the durations up to bound, if they were between 1 and 2 ns.
	index int
}

var slots = buildSlots()

func buildSlots() (table [1 << slotBits]slot) {
	scaled := scaledBounds()
	second := scaled[0]
	slices.Sort(scaled)
	for i := range table {
		start := uint64(1)<<63 | uint64(i)<<(63-slotBits)
		next, _ := slices.BinarySearch(scaled, start)
		table[i] = slot{bound: math.MaxUint64, index: next}
		if next < len(scaled) && (i == len(table)-1 || scaled[next] < start+1<<(63-slotBits)) {
			table[i].bound = scaled[next]
		}
	}
	rank, _ := slices.BinarySearch(scaled, second)
	shift := octaves<<MaxSchema - rank - (bits.Len64(nanosecondsPerSecond)-1)<<MaxSchema
	for i := range table {
		table[i].index += shift
	}
	return table
}

// scaledBounds are the bounds of the buckets from one second to two, in nanoseconds, scaled to 64 bits and rounded down.
func scaledBounds() []uint64 {
	const precision = 128
	ratio := new(big.Float).SetPrec(precision).SetInt64(2)
	for range MaxSchema {
		ratio.Sqrt(ratio)
	}
	bound := new(big.Float).SetPrec(precision).SetInt64(nanosecondsPerSecond)
	scaled := make([]uint64, 1<<MaxSchema)
	for i := range scaled {
		m := new(big.Float)
		bound.MantExp(m)
		scaled[i], _ = m.SetMantExp(m, 64).Uint64()
		bound.Mul(bound, ratio)
	}
	return scaled
}

// BucketIndex returns the bucket of a duration at MaxSchema, a number from 0 to Buckets-1. ns is the duration in
// nanoseconds. Prometheus puts the same duration into the same bucket, except above 18 hours: there its bounds are
// rounded, and can be a nanosecond off. BucketIndex runs for every request, so it reads the bucket from a table.
func BucketIndex(ns int64) int {
	if ns <= zeroNanoseconds {
		return 0
	}
	zeros := bits.LeadingZeros64(uint64(ns))
	scaled := uint64(ns) << (zeros & 63)
	s := &slots[scaled<<1>>(64-slotBits)]
	// A subtraction instead of a branch: the processor cannot predict the result of this comparison.
	_, above := bits.Sub64(s.bound, scaled, 0)
	return min((63-zeros)<<MaxSchema+s.index+int(above), Buckets-1)
}

// BucketCount returns the number of buckets at a schema.
func BucketCount(schema int) int { return 2*octaves<<schema + 1 }

// nativeIndex is Prometheus's index of a bucket other than the zero bucket.
func nativeIndex(schema, bucket int) int { return bucket - octaves<<schema }

// midpoint is the geometric middle of a bucket in nanoseconds: the value with the smallest greatest relative error in
// both directions. The zero bucket has no geometric middle; half of its bound has an error of at most half a
// microsecond.
func midpoint(schema, bucket int) float64 {
	if bucket == 0 {
		return ZeroThreshold * nanosecondsPerSecond / 2
	}
	return bucketPoint(schema, float64(bucket)-0.5)
}

// bucketPoint is the end of a bucket in nanoseconds. For a fractional position it is the geometric point inside the
// bucket.
func bucketPoint(schema int, position float64) float64 {
	return math.Exp2(position/float64(int(1)<<schema)-octaves) * nanosecondsPerSecond
}

// boundsOf are the shortest and the longest duration of a bucket in nanoseconds. bucketPoint is rounded, so the bounds are
// those of BucketIndex, which sorted the durations.
func (h *Histogram) boundsOf(bucket int) (lowest, highest int64) {
	last := func(bucket int) int64 {
		ns := int64(bucketPoint(h.Schema(), float64(bucket)))
		for coarser(BucketIndex(ns), h.halvings) > bucket {
			ns--
		}
		for coarser(BucketIndex(ns+1), h.halvings) <= bucket {
			ns++
		}
		return ns
	}
	if bucket > 0 {
		lowest = last(bucket-1) + 1
	}
	if bucket == BucketCount(h.Schema())-1 {
		return lowest, math.MaxInt64
	}
	return lowest, last(bucket)
}

// errorBoundPPM is the greatest relative error of a midpoint in parts per million, rounded up.
func errorBoundPPM(schema int) int {
	return int(math.Ceil((math.Exp2(math.Exp2(-float64(schema+1))) - 1) * 1e6))
}

// BestErrorBound is the greatest relative error of a percentile at MaxSchema, in parts per million.
var BestErrorBound = errorBoundPPM(MaxSchema)
