package wire

import (
	"fmt"
	"math"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// Histogram is the JSON form of a histogram. Its buckets are those of a Prometheus native histogram: bucket i counts
// durations above 2^((i-1)/2^schema) and up to 2^(i/2^schema) seconds.
type Histogram struct {
	Schema           int     `json:"schema"`
	Count            uint64  `json:"count"`
	SumSeconds       float64 `json:"sumSeconds"`
	SumSquareSeconds float64 `json:"sumSquareSeconds"`
	MinNanoseconds   int64   `json:"minNanoseconds"`
	MaxNanoseconds   int64   `json:"maxNanoseconds"`
	// ZeroCount counts durations under a microsecond, below all buckets.
	ZeroCount uint64 `json:"zeroCount,omitempty"`
	// Buckets are pairs of index and count, without empty buckets. It is nil if the buckets are lost.
	Buckets [][2]int64 `json:"buckets"`
}

// NewHistogram returns the JSON form of a histogram.
func NewHistogram(h *results.Histogram) Histogram {
	out := Histogram{
		Schema: h.Schema(), Count: h.Count(), ZeroCount: h.ZeroCount(),
		SumSeconds: h.Sum() / float64(time.Second), SumSquareSeconds: h.SumSquares(),
		MinNanoseconds: h.Min().Nanoseconds(), MaxNanoseconds: h.Max().Nanoseconds(),
	}
	if h.HasBuckets() {
		out.Buckets = [][2]int64{}
	}
	for index, n := range h.NativeBuckets() {
		out.Buckets = append(out.Buckets, [2]int64{int64(index), int64(n)})
	}
	return out
}

// Read is the inverse of NewHistogram. It refuses what no histogram can have.
func (h *Histogram) Read() (results.Histogram, error) {
	p := results.Parts{
		Schema: h.Schema, Count: h.Count, Sum: math.Round(h.SumSeconds * nanosecondsPerSecond), SumSquares: h.SumSquareSeconds,
		Minimum: h.MinNanoseconds, Maximum: h.MaxNanoseconds,
	}
	if h.Schema < results.MinSchema || h.Schema > results.MaxSchema {
		return results.Histogram{}, fmt.Errorf("wanted a schema from %d to %d, found %d", results.MinSchema, results.MaxSchema, h.Schema)
	}
	if h.Count > results.MaxCount || p.Minimum < 0 {
		return results.Histogram{}, fmt.Errorf("wanted at most %d durations of at least 0, found %d of at least %d ns", uint64(results.MaxCount), h.Count, p.Minimum)
	}
	const longest = results.MaxSeconds
	if n := float64(h.Count); !(h.SumSeconds >= 0 && h.SumSeconds <= longest*n && p.SumSquares >= 0 && p.SumSquares <= longest*longest*n) {
		return results.Histogram{}, fmt.Errorf("wanted the sums of %d durations, found %v s and %v square seconds", h.Count, h.SumSeconds, p.SumSquares)
	}
	if h.Buckets == nil || h.Count == 0 {
		return results.HistogramOf(p)
	}
	p.Counts = make([]uint64, results.BucketCount(h.Schema))
	p.Counts[0] = h.ZeroCount
	for _, b := range h.Buckets {
		// The bucket that ends at one second is the middle one.
		at := b[0] + int64(len(p.Counts)/2)
		if at < 1 || at >= int64(len(p.Counts)) || b[1] < 0 || p.Counts[at] > 0 {
			return results.Histogram{}, fmt.Errorf("wanted each existing bucket once, found bucket %d with the count %d", b[0], b[1])
		}
		p.Counts[at] = uint64(b[1])
	}
	return results.HistogramOf(p)
}
