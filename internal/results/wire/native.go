package wire

import (
	"math"

	dto "github.com/prometheus/client_model/go"
	"google.golang.org/protobuf/encoding/protowire"

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

// packCounts encodes the counts of the buckets as one packed field, which every protobuf decoder accepts. The generated
// code repeats the field's tag before each count, which adds a third to the size after compression. The packed counts are
// in no field of the Go type.
func packCounts(h *dto.Histogram) *dto.Histogram {
	if len(h.PositiveDelta) == 0 {
		return h
	}
	var packed []byte
	for _, delta := range h.PositiveDelta {
		packed = protowire.AppendVarint(packed, protowire.EncodeZigZag(delta))
	}
	h.PositiveDelta = nil
	field := h.ProtoReflect().Descriptor().Fields().ByName("positive_delta").Number()
	raw := protowire.AppendTag(nil, field, protowire.BytesType)
	h.ProtoReflect().SetUnknown(protowire.AppendBytes(raw, packed))
	return h
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
