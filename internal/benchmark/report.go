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
	"github.com/etcdbench/etcd-benchmark-operator/internal/results/wire"
	"github.com/etcdbench/etcd-benchmark-operator/internal/verdict"
)

const (
	// ReportFile is the name of the report in its ConfigMap.
	ReportFile = "report.json"
	// MaxReportBytes bounds a report, so that it fits into a ConfigMap.
	MaxReportBytes = 900 << 10
	// ReportVersion is the version of the report's format.
	ReportVersion = 2
	// maxIntervals bounds the intervals of the course in a report.
	maxIntervals = 150
	// maxSkew bounds what pods' clocks contribute to the length of an interval.
	maxSkew = time.Hour
)

// report is the JSON form of a run's merged histograms and of its course.
type report struct {
	Version    int               `json:"version"`
	Namespace  string            `json:"namespace"`
	Name       string            `json:"name"`
	UID        string            `json:"uid"`
	Summary    *v1alpha1.Summary `json:"summary"`
	Operations []reportOperation `json:"operations"`
	*wire.Course
}

// reportOperation has the distributions of one kind of request, without empty ones.
type reportOperation struct {
	Operation   spec.Operation            `json:"operation"`
	Histograms  map[string]wire.Histogram `json:"histograms"`
	ErrorCounts map[string]uint64         `json:"errorCounts,omitempty"`
}

// Report returns the merged histograms, the summary and the course of a run as JSON of at most MaxReportBytes. The summary
// is that of all pods' final snapshots. To fit, the resolution of the histograms is halved as often as necessary; their schema
// has the resolution.
func Report(b *v1alpha1.EtcdBenchmark, s results.Summary) ([]byte, error) {
	merged := s.Merged
	course := merged.Course.Folded(maxIntervals, 2*min(s.StartSkew, maxSkew)+min(verdict.ClocksApart(b.Status.Pods), maxSkew))
	summary := b.Status.Summary
	if summary == nil {
		summary = Summary(b, s)
	}
	r := report{
		Version:   ReportVersion,
		Namespace: b.Namespace,
		Name:      b.Name,
		UID:       string(b.UID),
		Summary:   summary,
		Course:    wire.NewCourse(&course),
	}
	for {
		data, err := r.marshal(merged)
		if err != nil {
			return nil, fmt.Errorf("writing the report of %s/%s: %w", b.Namespace, b.Name, err)
		}
		if data != nil {
			return data, nil
		}
		if !course.Shrink() {
			break
		}
		r.Course = wire.NewCourse(&course)
	}
	return nil, fmt.Errorf("writing the report of %s/%s: wanted at most %d bytes, found more at the lowest resolution",
		b.Namespace, b.Name, MaxReportBytes)
}

// marshal returns the report with the finest histograms with which it fits; nil if it never does.
func (r *report) marshal(merged *results.Snapshot) ([]byte, error) {
	for schema := results.MaxSchema; schema >= results.MinSchema; schema-- {
		r.Operations = reportOperations(merged, schema)
		data, err := json.Marshal(r)
		if err != nil || len(data) <= MaxReportBytes {
			return data, err
		}
	}
	return nil, nil
}

func reportOperations(merged *results.Snapshot, schema int) []reportOperation {
	var out []reportOperation
	for _, name := range slices.Sorted(maps.Keys(merged.Operations)) {
		op := merged.Operations[name]
		out = append(out, reportOperation{
			Operation:   name,
			ErrorCounts: reportErrors(op.Errors),
			Histograms:  reportHistograms(schema, histogramsOf(op)),
		})
	}
	return out
}

// reportErrors has the codes that status has. The bound keeps a pod with many different codes from filling the report.
func reportErrors(errors map[string]uint64) map[string]uint64 {
	out := map[string]uint64{}
	for _, e := range errorCounts(errors, nil) {
		out[e.Code] = uint64(e.Count)
	}
	return out
}

func reportHistograms(schema int, histograms map[string]*results.Histogram) map[string]wire.Histogram {
	out := map[string]wire.Histogram{}
	for name, h := range histograms {
		if h.Count() > 0 {
			reduced := h.Clone()
			reduced.Reduce(schema)
			out[name] = wire.NewHistogram(&reduced)
		}
	}
	return out
}

// Detail is what a report has beside the summary.
type Detail struct {
	// Operations have the histograms of each kind of request.
	Operations map[spec.Operation]*results.OperationResult
	// Course is nil if the report has none.
	Course *results.Course
}

// ReadReport reads a report, which is not trusted.
func ReadReport(data []byte) (Detail, error) {
	var r report
	if err := json.Unmarshal(data, &r); err != nil {
		return Detail{}, fmt.Errorf("reading the report: %w", err)
	}
	if r.Version != ReportVersion {
		return Detail{}, fmt.Errorf("reading the report: wanted version %d, found %d: use the kubectl-etcdbench of the operator's version", ReportVersion, r.Version)
	}
	d := Detail{Operations: map[spec.Operation]*results.OperationResult{}}
	for _, o := range r.Operations {
		read, err := o.read()
		if err != nil {
			return Detail{}, fmt.Errorf("reading the report: %.64s: %w", o.Operation, err)
		}
		d.Operations[o.Operation] = read
	}
	if r.Course == nil {
		return d, nil
	}
	course, err := r.Course.Read()
	if err != nil {
		return Detail{}, fmt.Errorf("reading the report: %w", err)
	}
	d.Course = &course
	return d, nil
}

func (o *reportOperation) read() (*results.OperationResult, error) {
	out := &results.OperationResult{Errors: o.ErrorCounts}
	for name, h := range histogramsOf(out) {
		written, some := o.Histograms[name]
		if !some {
			continue
		}
		read, err := written.Read()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		*h = read
	}
	return out, nil
}

// histogramsOf are the histograms of a report by their names.
func histogramsOf(op *results.OperationResult) map[string]*results.Histogram {
	return map[string]*results.Histogram{
		"latency":  &op.Latency,
		"service":  &op.Service,
		"net":      &op.Net,
		"lateness": &op.Lateness,
		"backlog":  &op.Backlog,
		"failed":   &op.Failed,
		"censored": &op.Censored,
	}
}
