package results

import "math"

// The layout of buckets is that of a Prometheus native histogram over seconds:
// at schema s, bucket i covers (2^((i-1)/2^s), 2^(i/2^s)] s. Buckets from
// 2^-20 s (0.95 µs) to 2^20 s (12 days, longer than any run) are kept dense;
// what is shorter goes into the zero bucket, what is longer into the last one.
// Both limits are bounds of buckets at every schema, so that a lower resolution
// stays exact.
const (
	// MaxSchema is the schema that is recorded at: 128 buckets for each
	// doubling.
	MaxSchema = 7
	// MinSchema is the lowest resolution: one bucket for each doubling.
	MinSchema = 0
	// Buckets is how many buckets a histogram has at MaxSchema; bucket 0 is
	// the zero bucket.
	Buckets = 2*octaves<<MaxSchema + 1

	// ZeroThreshold is the upper bound of the zero bucket, in seconds.
	ZeroThreshold = 1.0 / (1 << octaves)

	// octaves is how many doublings lie on each side of one second.
	octaves = 20

	nanosecondsPerSecond = 1e9
)

// slotBits of a number's mantissa choose a slot of the table bounds. A slot is
// narrower than any bucket, so that at most one bound lies in it.
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

// BucketIndex returns the bucket at MaxSchema, from 0 to Buckets-1, that counts
// a duration of ns nanoseconds. It chooses as Prometheus does for the same
// duration in seconds, but by a table, because it runs for every request.
func BucketIndex(ns int64) int {
	v := float64(ns) / nanosecondsPerSecond
	if v <= ZeroThreshold {
		return 0
	}
	exponent := int(math.Float64bits(v)>>52) - 1023
	m := mantissa(v)
	b := &bounds[m>>(52-slotBits)]
	j := b.index
	if m > b.mantissa {
		j++
	}
	return min((exponent+octaves)<<MaxSchema+j, Buckets-1)
}

// BucketCount is how many buckets there are at a schema.
func BucketCount(schema int) int { return 2*octaves<<schema + 1 }

// nativeIndex is Prometheus's index of a bucket other than the zero bucket.
func nativeIndex(schema, bucket int) int { return bucket - octaves<<schema }

// midpoint is the geometric middle of a bucket in nanoseconds: the value whose
// greatest relative error, up or down, is least. The zero bucket has none; half
// of its bound is no more than half a microsecond off.
func midpoint(schema, bucket int) float64 {
	if bucket == 0 {
		return ZeroThreshold * nanosecondsPerSecond / 2
	}
	return bucketPoint(schema, float64(bucket)-0.5)
}

// bucketPoint is where a bucket ends, in nanoseconds, or, for a position that
// is not whole, a point inside of it by ratio.
func bucketPoint(schema int, position float64) float64 {
	return math.Exp2(position/float64(int(1)<<schema)-octaves) * nanosecondsPerSecond
}

// errorBoundPPM is the greatest relative error of a midpoint in parts per
// million, rounded up.
func errorBoundPPM(schema int) int {
	return int(math.Ceil((math.Exp2(math.Exp2(-float64(schema+1))) - 1) * 1e6))
}

// BestErrorBound is the greatest relative error of a percentile at MaxSchema, in
// parts per million.
var BestErrorBound = errorBoundPPM(MaxSchema)
