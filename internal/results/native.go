package results

import (
	"errors"
	"fmt"
	"math"

	dto "github.com/prometheus/client_model/go"
)

const (
	// maxCount bounds what a decoded counter may hold: a week of 400 million
	// requests a second. Sums over all operations of all pods do not overflow.
	maxCount = 1 << 48
	// maxBytes bounds sizes: up to here a float64 is exact.
	maxBytes = 1 << 53
	// maxSeconds bounds times and durations: 285 years still fit into
	// nanoseconds.
	maxSeconds = 9e9
	// maxGap is how many empty buckets are written out before a new span of
	// buckets costs less.
	maxGap = 2
)

// The classic buckets go from 2^-14 s (61 µs) to 2^6 s (64 s) by doubling.
// These bounds are bounds of native buckets at every schema, so their counts
// are exact. They are for eyes and for a Prometheus that does not take native
// histograms; results are computed from the native buckets.
const (
	firstClassic = -14
	lastClassic  = 6
)

// histogramBuilder builds the Prometheus form of a histogram.
type histogramBuilder func(*Histogram) *dto.Histogram

// nativeHistogram has native buckets only, and none at all if they are lost.
func nativeHistogram(h *Histogram) *dto.Histogram {
	count, seconds := h.count, h.sum/nanosecondsPerSecond
	out := &dto.Histogram{SampleCount: &count, SampleSum: &seconds}
	if !h.HasBuckets() {
		return out
	}
	schema, threshold, zeros := int32(h.Schema()), float64(zeroThreshold), h.ZeroCount()
	out.Schema, out.ZeroThreshold, out.ZeroCount = &schema, &threshold, &zeros
	out.PositiveSpan, out.PositiveDelta = encodeBuckets(h)
	return out
}

// classicHistogram has classic buckets beside the native ones.
func classicHistogram(h *Histogram) *dto.Histogram {
	out := nativeHistogram(h)
	if !h.HasBuckets() {
		return out
	}
	for power := firstClassic; power <= lastClassic; power++ {
		limit, cumulative := math.Exp2(float64(power)), h.countUpTo(power)
		out.Bucket = append(out.Bucket, &dto.Bucket{UpperBound: &limit, CumulativeCount: &cumulative})
	}
	return out
}

// countUpTo is how many durations are at most 2^power seconds.
func (h *Histogram) countUpTo(power int) uint64 {
	var total uint64
	for bucket, n := range h.buckets() {
		if bucket > (power+octaves)<<h.Schema() {
			break
		}
		total += n
	}
	return total
}

// encodeBuckets writes the buckets above the zero bucket as spans of
// neighbours, each bucket as the difference to the one before.
func encodeBuckets(h *Histogram) (spans []*dto.BucketSpan, deltas []int64) {
	var previous uint64
	next := 0 // the first span counts its offset from bucket 0, the one below 1 s
	for index, n := range h.NativeBuckets() {
		gap := index - next
		if len(spans) == 0 || gap > maxGap {
			spans = append(spans, newSpan(gap))
			gap = 0
		}
		for range gap {
			deltas = append(deltas, -int64(previous))
			previous = 0
		}
		deltas = append(deltas, int64(n-previous))
		*spans[len(spans)-1].Length += uint32(gap + 1)
		previous, next = n, index+1
	}
	return spans, deltas
}

func newSpan(gap int) *dto.BucketSpan {
	offset, length := int32(gap), uint32(0)
	return &dto.BucketSpan{Offset: &offset, Length: &length}
}

// decodeHistogram is the inverse of nativeHistogram. Minimum, maximum and sum
// of squares are left to their own metrics.
func decodeHistogram(in *dto.Histogram) (*Histogram, error) {
	h := &Histogram{count: in.GetSampleCount()}
	if err := checkShape(in); err != nil {
		return nil, err
	}
	seconds := in.GetSampleSum()
	if !(seconds >= 0 && seconds <= maxSeconds*float64(h.count)) {
		return nil, fmt.Errorf("wanted a sum of %d durations, found %v s", h.count, seconds)
	}
	h.sum = math.Round(seconds * nanosecondsPerSecond)
	if in.Schema == nil {
		return h, nil
	}
	h.halvings = MaxSchema - int(in.GetSchema())
	return h, h.decodeBuckets(in)
}

// checkShape refuses forms of histograms that this package does not write.
func checkShape(in *dto.Histogram) error {
	if in.GetSampleCount() > maxCount {
		return fmt.Errorf("wanted at most %d durations, found %d", uint64(maxCount), in.GetSampleCount())
	}
	if in.SampleCountFloat != nil || in.ZeroCountFloat != nil || len(in.PositiveCount) > 0 {
		return errors.New("wanted integer counts, found floating-point ones")
	}
	if len(in.NegativeSpan) > 0 || len(in.NegativeDelta) > 0 {
		return errors.New("wanted durations, found buckets for negative values")
	}
	if in.Schema == nil {
		if in.ZeroCount != nil || len(in.PositiveSpan) > 0 || len(in.PositiveDelta) > 0 {
			return errors.New("found buckets without a schema")
		}
		return nil
	}
	if in.GetSchema() < MinSchema || in.GetSchema() > MaxSchema {
		return fmt.Errorf("wanted a schema from %d to %d, found %d", MinSchema, MaxSchema, in.GetSchema())
	}
	if in.GetZeroThreshold() != zeroThreshold {
		return fmt.Errorf("wanted a zero bucket up to %v s, found %v s", zeroThreshold, in.GetZeroThreshold())
	}
	return nil
}

func (h *Histogram) decodeBuckets(in *dto.Histogram) error {
	if h.count == 0 && in.GetZeroCount() == 0 && len(in.PositiveSpan) == 0 {
		return nil
	}
	h.counts = make([]uint64, bucketCount(h.Schema()))
	h.counts[0] = in.GetZeroCount()
	if err := h.decodeSpans(in.PositiveSpan, in.PositiveDelta); err != nil {
		return err
	}
	var total uint64
	for _, n := range h.counts {
		if n > h.count || total+n > h.count {
			return fmt.Errorf("wanted buckets that add up to %d, found more", h.count)
		}
		total += n
	}
	if total != h.count {
		return fmt.Errorf("wanted buckets that add up to %d, found %d", h.count, total)
	}
	h.trim()
	return nil
}

func (h *Histogram) decodeSpans(spans []*dto.BucketSpan, deltas []int64) error {
	bucket, n := int64(octaves)<<h.Schema(), int64(0)
	for i, span := range spans {
		if i > 0 && span.GetOffset() < 0 {
			return errors.New("found spans of buckets that overlap")
		}
		bucket += int64(span.GetOffset())
		length := int64(span.GetLength())
		if length > int64(len(deltas)) || bucket < 1 || bucket+length > int64(len(h.counts)) {
			return fmt.Errorf("found a span of %d buckets from %d, with %d counts left, outside of the %d buckets there are",
				length, bucket, len(deltas), len(h.counts))
		}
		for range length {
			n += deltas[0]
			if n < 0 || n > maxCount {
				return fmt.Errorf("wanted counts from 0 to %d, found %d", int64(maxCount), n)
			}
			h.counts[bucket] = uint64(n)
			bucket, deltas = bucket+1, deltas[1:]
		}
	}
	if len(deltas) > 0 {
		return fmt.Errorf("found %d counts that belong to no bucket", len(deltas))
	}
	return nil
}
