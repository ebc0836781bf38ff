package benchmark

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

const (
	// ReportFile is the name of the report in its ConfigMap.
	ReportFile = "report.json"
	// MaxReportBytes bounds a report, so that it fits into a ConfigMap.
	MaxReportBytes = 900 << 10
	// ReportVersion is the version of the report's format.
	ReportVersion = 1
)

// report is the JSON form of a run's merged histograms.
type report struct {
	Version    int               `json:"version"`
	Namespace  string            `json:"namespace"`
	Name       string            `json:"name"`
	UID        string            `json:"uid"`
	Summary    *v1alpha1.Summary `json:"summary"`
	Operations []reportOperation `json:"operations"`
	Timeline   *Timeline         `json:"timeline,omitempty"`
}

// reportOperation has the distributions of one kind of request, without empty ones.
type reportOperation struct {
	Operation   spec.Operation             `json:"operation"`
	Histograms  map[string]reportHistogram `json:"histograms"`
	ErrorCounts map[string]uint64          `json:"errorCounts,omitempty"`
}

// reportHistogram has the buckets of a Prometheus native histogram: bucket i counts durations above 2^((i-1)/2^schema)
// and up to 2^(i/2^schema) seconds.
type reportHistogram struct {
	Schema           int     `json:"schema"`
	Count            uint64  `json:"count"`
	SumSeconds       float64 `json:"sumSeconds"`
	SumSquareSeconds float64 `json:"sumSquareSeconds"`
	MinNanoseconds   int64   `json:"minNanoseconds"`
	MaxNanoseconds   int64   `json:"maxNanoseconds"`
	// ZeroCount counts durations under a microsecond, below all buckets.
	ZeroCount uint64 `json:"zeroCount,omitempty"`
	// Buckets are pairs of index and count, without empty buckets.
	Buckets [][2]int64 `json:"buckets"`
}

// Report returns the merged histograms, the summary and the timeline of a run as JSON of at most MaxReportBytes. merged
// is the merge of all pods' final snapshots. To fit, the resolution of the histograms is halved as often as necessary;
// their schema has the resolution.
func Report(b *v1alpha1.EtcdBenchmark, merged *results.Snapshot, s results.Summary) ([]byte, error) {
	r := report{
		Version:   ReportVersion,
		Namespace: b.Namespace,
		Name:      b.Name,
		UID:       string(b.UID),
		Summary:   Summary(b, s),
		Timeline:  NewTimeline(merged.Timeline),
	}
	for schema := results.MaxSchema; schema >= results.MinSchema; schema-- {
		r.Operations = reportOperations(merged, schema)
		data, err := json.Marshal(r)
		if err != nil {
			return nil, fmt.Errorf("writing the report of %s/%s: %w", b.Namespace, b.Name, err)
		}
		if len(data) <= MaxReportBytes {
			return data, nil
		}
	}
	return nil, fmt.Errorf("writing the report of %s/%s: wanted at most %d bytes, found more at the lowest resolution",
		b.Namespace, b.Name, MaxReportBytes)
}

func reportOperations(merged *results.Snapshot, schema int) []reportOperation {
	var out []reportOperation
	for _, name := range slices.Sorted(maps.Keys(merged.Operations)) {
		op := merged.Operations[name]
		out = append(out, reportOperation{
			Operation:   name,
			ErrorCounts: reportErrors(op.Errors),
			Histograms: reportHistograms(schema, map[string]*results.Histogram{
				"latency":  &op.Latency,
				"service":  &op.Service,
				"lateness": &op.Lateness,
				"failed":   &op.Failed,
				"censored": &op.Censored,
			}),
		})
	}
	return out
}

// reportErrors has the codes that status has. The bound keeps a pod with many different codes from filling the report.
func reportErrors(errors map[string]uint64) map[string]uint64 {
	out := map[string]uint64{}
	for _, e := range errorCounts(errors) {
		out[e.Code] = uint64(e.Count)
	}
	return out
}

func reportHistograms(schema int, histograms map[string]*results.Histogram) map[string]reportHistogram {
	out := map[string]reportHistogram{}
	for name, h := range histograms {
		if h.Count() > 0 {
			out[name] = newReportHistogram(h, schema)
		}
	}
	return out
}

func newReportHistogram(h *results.Histogram, schema int) reportHistogram {
	reduced := h.Clone()
	reduced.Reduce(schema)
	out := reportHistogram{
		Schema:           reduced.Schema(),
		Count:            reduced.Count(),
		SumSeconds:       reduced.Sum() / float64(time.Second),
		SumSquareSeconds: reduced.SumSquares(),
		MinNanoseconds:   reduced.Min().Nanoseconds(),
		MaxNanoseconds:   reduced.Max().Nanoseconds(),
		ZeroCount:        reduced.ZeroCount(),
		Buckets:          [][2]int64{},
	}
	for index, n := range reduced.NativeBuckets() {
		out.Buckets = append(out.Buckets, [2]int64{int64(index), int64(n)})
	}
	return out
}
