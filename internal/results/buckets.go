package results

import (
	"math"
	"math/bits"
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

	nanosecondsPerSecond = 1e9
	secondsPerNanosecond = 1e-9
)

// slotBits are the mantissa bits that select a slot of the table bounds. A slot is narrower than any bucket, so it
// contains at most one bound.
const slotBits = MaxSchema + 1

// bound is the first bound of a bucket at or above the start of a slot.
type bound struct {
	mantissa uint64
	index    int
}

var bounds = buildBounds()

func buildBounds() (table [1 << slotBits]bound) {
	j := 0
	for slot := range table {
		start := 1 + float64(slot)/float64(len(table))
		for math.Exp2(float64(j)/(1<<MaxSchema)) < start {
			j++
		}
		table[slot] = bound{mantissa: math.MaxUint64, index: j}
		if j < 1<<MaxSchema {
			table[slot].mantissa = mantissa(math.Exp2(float64(j) / (1 << MaxSchema)))
		}
	}
	return table
}

func mantissa(v float64) uint64 { return math.Float64bits(v) & (1<<52 - 1) }

// BucketIndex returns the bucket at MaxSchema, from 0 to Buckets-1, for a duration of ns nanoseconds.
func BucketIndex(ns int64) int { return bucketOf(float64(ns) * secondsPerNanosecond) }

// bucketOf selects the same bucket as Prometheus, but with a table, because it runs for every request. For the same
// reason, its callers multiply where Prometheus's clients divide. That selects another bucket only for durations above
// 25 hours that are a nanosecond away from a bound.
func bucketOf(seconds float64) int {
	if seconds <= ZeroThreshold {
		return 0
	}
	exponent := int(math.Float64bits(seconds)>>52) - 1023
	m := mantissa(seconds)
	b := &bounds[m>>(52-slotBits)]
	// A branch on this comparison could not be predicted, and would take half of the time.
	_, above := bits.Sub64(b.mantissa, m, 0)
	return min((exponent+octaves)<<MaxSchema+b.index+int(above), Buckets-1)
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

// errorBoundPPM is the greatest relative error of a midpoint in parts per million, rounded up.
func errorBoundPPM(schema int) int {
	return int(math.Ceil((math.Exp2(math.Exp2(-float64(schema+1))) - 1) * 1e6))
}

// BestErrorBound is the greatest relative error of a percentile at MaxSchema, in parts per million.
var BestErrorBound = errorBoundPPM(MaxSchema)
