package wire

import (
	"errors"
	"fmt"
	"math"

	dto "github.com/prometheus/client_model/go"

	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

const (
	nanosecondsPerSecond = 1e9

	// maxGap is the number of empty buckets up to which writing them takes less room than a new span.
	maxGap = 2
)

// The classic buckets go from 2^-14 s (61 µs) to 2^6 s (64 s) by doubling. These bounds are bounds of native buckets at
// every schema, so their counts are exact. They are for people and for a Prometheus without native histograms; results
// are computed from the native buckets.
const (
	firstClassic = -14
	lastClassic  = 6
)

// histogramBuilder builds the Prometheus form of a histogram.
type histogramBuilder func(*results.Histogram) *dto.Histogram

// nativeHistogram has only native buckets, and none if they are lost.
func nativeHistogram(h *results.Histogram) *dto.Histogram {
	count, seconds := h.Count(), h.Sum()/nanosecondsPerSecond
	out := &dto.Histogram{SampleCount: &count, SampleSum: &seconds}
	if !h.HasBuckets() {
		return out
	}
	schema, threshold, zeros := int32(h.Schema()), float64(results.ZeroThreshold), h.ZeroCount()
	out.Schema, out.ZeroThreshold, out.ZeroCount = &schema, &threshold, &zeros
	out.PositiveSpan, out.PositiveDelta = encodeBuckets(h)
	return out
}

// classicHistogram has classic buckets beside the native ones.
func classicHistogram(h *results.Histogram) *dto.Histogram {
	out := nativeHistogram(h)
	if !h.HasBuckets() {
		return out
	}
	for power := firstClassic; power <= lastClassic; power++ {
		limit, cumulative := math.Exp2(float64(power)), countUpTo(h, power)
		out.Bucket = append(out.Bucket, &dto.Bucket{UpperBound: &limit, CumulativeCount: &cumulative})
	}
	return out
}

// countUpTo counts the durations of at most 2^power seconds.
func countUpTo(h *results.Histogram, power int) uint64 {
	total := h.ZeroCount()
	for index, n := range h.NativeBuckets() {
		if index > power<<h.Schema() {
			break
		}
		total += n
	}
	return total
}

// encodeBuckets encodes the buckets above the zero bucket as spans of neighbours, and each count as the difference to
// the previous one.
func encodeBuckets(h *results.Histogram) (spans []*dto.BucketSpan, deltas []int64) {
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

// decodeHistogram is the inverse of nativeHistogram. Minimum, maximum and sum of squares are separate metrics.
func decodeHistogram(in *dto.Histogram) (*results.Histogram, error) {
	if err := checkShape(in); err != nil {
		return nil, err
	}
	count, seconds := in.GetSampleCount(), in.GetSampleSum()
	if !(seconds >= 0 && seconds <= results.MaxSeconds*float64(count)) {
		return nil, fmt.Errorf("wanted a sum of %d durations, found %v s", count, seconds)
	}
	p := results.Parts{Schema: results.MaxSchema, Count: count, Sum: math.Round(seconds * nanosecondsPerSecond)}
	if in.Schema != nil {
		p.Schema = int(in.GetSchema())
		if err := decodeBuckets(in, &p); err != nil {
			return nil, err
		}
	}
	h, err := results.HistogramOf(p)
	return &h, err
}

// checkShape refuses forms of histograms that this package does not write.
func checkShape(in *dto.Histogram) error {
	if in.GetSampleCount() > results.MaxCount {
		return fmt.Errorf("wanted at most %d durations, found %d", uint64(results.MaxCount), in.GetSampleCount())
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
	if in.GetSchema() < results.MinSchema || in.GetSchema() > results.MaxSchema {
		return fmt.Errorf("wanted a schema from %d to %d, found %d", results.MinSchema, results.MaxSchema, in.GetSchema())
	}
	if in.GetZeroThreshold() != results.ZeroThreshold {
		return fmt.Errorf("wanted a zero bucket up to %v s, found %v s", results.ZeroThreshold, in.GetZeroThreshold())
	}
	return nil
}

func decodeBuckets(in *dto.Histogram, p *results.Parts) error {
	if p.Count == 0 && in.GetZeroCount() == 0 && len(in.PositiveSpan) == 0 {
		return nil
	}
	all := int64(results.BucketCount(p.Schema))
	first, end := bucketRange(in, all)
	p.First, p.Counts = int(first), make([]uint64, end-first)
	if first == 0 {
		p.Counts[0] = in.GetZeroCount()
	}
	return decodeSpans(in, all/2, p)
}

// bucketRange returns the first bucket that the histogram has and the one after its last, so that no others take memory.
// It returns all buckets if the spans are wrong, which decodeSpans then finds.
func bucketRange(in *dto.Histogram, all int64) (first, end int64) {
	if len(in.PositiveSpan) == 0 {
		return 0, 1
	}
	end = all / 2
	for i, span := range in.PositiveSpan {
		end += int64(span.GetOffset())
		if i == 0 {
			first = end
		}
		end += int64(span.GetLength())
	}
	if first < 0 || end > all || first >= end {
		return 0, all
	}
	if in.GetZeroCount() > 0 {
		first = 0
	}
	return first, end
}

// decodeSpans: the offset of the first span counts from the bucket below 1 s, which is the middle one.
func decodeSpans(in *dto.Histogram, middle int64, p *results.Parts) error {
	deltas, bucket, n := in.PositiveDelta, middle, int64(0)
	first, end := int64(p.First), int64(p.First+len(p.Counts))
	for i, span := range in.PositiveSpan {
		if i > 0 && span.GetOffset() < 0 {
			return errors.New("found spans of buckets that overlap")
		}
		bucket += int64(span.GetOffset())
		length := int64(span.GetLength())
		if length > int64(len(deltas)) || bucket < max(first, 1) || bucket+length > end {
			return fmt.Errorf("found a span of %d buckets from %d, with %d counts left, outside of the buckets from %d to %d",
				length, bucket, len(deltas), max(first, 1), end-1)
		}
		for range length {
			n += deltas[0]
			if n < 0 || n > results.MaxCount {
				return fmt.Errorf("wanted counts from 0 to %d, found %d", int64(results.MaxCount), n)
			}
			p.Counts[bucket-first] = uint64(n)
			bucket, deltas = bucket+1, deltas[1:]
		}
	}
	if len(deltas) > 0 {
		return fmt.Errorf("found %d counts without a bucket", len(deltas))
	}
	return nil
}
