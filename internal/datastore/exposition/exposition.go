// Package exposition reads the metrics that a member serves in Prometheus's text format.
//
// It knows no store: a driver says which figure each metric is.
package exposition

import (
	"bytes"
	"iter"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"github.com/etcdbench/etcd-benchmark-operator/internal/load/members"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// MaxBytes bounds the metrics of one member: twenty times the usual size.
const MaxBytes = 4 << 20

// Table names the metrics of a store that are read of each member.
type Table struct {
	Counters map[string]results.Figure
	Gauges   map[string]members.Gauge
	// Timers are histograms and summaries. Those of the same timer are added up.
	Timers map[string]Timer
	// Others are read, and are no figures.
	Others []string
}

// Timer says how a metric is read.
type Timer struct {
	Is results.Timer
	// Milliseconds: the metric is in milliseconds, and not in seconds.
	Milliseconds bool
	// Counts reports whether the metric with these labels belongs to the timer; nil means that all do.
	Counts func(label func(name string) string) bool
}

// Reader reads the metrics of a table, and those that Prometheus's Go library serves about a process.
type Reader struct {
	table  Table
	wanted map[string]bool
}

// New returns a reader. It changes the table.
func New(t Table) Reader {
	t.Counters["process_cpu_seconds_total"] = results.FigureCPUSeconds
	t.Gauges["process_start_time_seconds"] = members.GaugeStart
	t.Gauges["process_resident_memory_bytes"] = members.GaugeMemoryBytes
	t.Gauges["go_sched_gomaxprocs_threads"] = members.GaugeProcessors
	r := Reader{t, map[string]bool{}}
	for _, names := range []iter.Seq[string]{maps.Keys(t.Counters), maps.Keys(t.Gauges), maps.Keys(t.Timers), slices.Values(t.Others)} {
		for name := range names {
			r.wanted[name] = true
		}
	}
	return r
}

// Page has the wanted metrics of one member by name.
type Page map[string]*dto.MetricFamily

// Parse reads Prometheus's text format. It parses only the wanted lines, a tenth of all, because the client pod is busy
// measuring.
func (r Reader) Parse(text []byte) (Page, error) {
	var kept bytes.Buffer
	for line := range bytes.Lines(text) {
		if r.wanted[r.metricOf(line)] {
			kept.Write(line)
		}
	}
	if last := kept.Bytes(); len(last) > 0 && last[len(last)-1] != '\n' {
		kept.WriteByte('\n')
	}
	parser := expfmt.NewTextParser(model.UTF8Validation)
	return parser.TextToMetricFamilies(&kept)
}

// metricOf returns the name of the metric family of a line.
func (r Reader) metricOf(line []byte) string {
	text, isType := bytes.CutPrefix(line, []byte("# TYPE "))
	if !isType && line[0] == '#' {
		return ""
	}
	name := string(text)
	if end := strings.IndexAny(name, "{ \n"); end >= 0 {
		name = name[:end]
	}
	for _, suffix := range []string{"_bucket", "_sum", "_count"} {
		if family, cut := strings.CutSuffix(name, suffix); cut && r.wanted[family] {
			return family
		}
	}
	return name
}

// Sample returns the figures of a page. at is when the member had collected them.
func (r Reader) Sample(p Page, at time.Time) members.Sample {
	s := members.Sample{
		At: at, Counters: map[results.Figure]float64{}, Gauges: map[members.Gauge]float64{}, Timers: map[results.Timer]members.Histogram{},
	}
	for name, figure := range r.table.Counters {
		if v, ok := p.Sum(name); ok {
			s.Counters[figure] = v
		}
	}
	for name, gauge := range r.table.Gauges {
		if v, ok := p.Sum(name); ok {
			s.Gauges[gauge] = v
		}
	}
	for name, timer := range r.table.Timers {
		if h, ok := p.histogram(name, timer); ok {
			before := s.Timers[timer.Is]
			h.Count, h.Seconds = h.Count+before.Count, h.Seconds+before.Seconds
			s.Timers[timer.Is] = h
		}
	}
	return s
}

// Sum adds up a family over its labels, for example the bytes over all peers.
func (p Page) Sum(name string) (sum float64, ok bool) {
	for _, m := range p[name].GetMetric() {
		sum += m.GetCounter().GetValue() + m.GetGauge().GetValue() + m.GetUntyped().GetValue()
	}
	return sum, len(p[name].GetMetric()) > 0
}

// By divides a page by the values of a label.
func (p Page) By(label string) map[string]Page {
	all := map[string]Page{}
	for name, family := range p {
		for _, m := range family.GetMetric() {
			value := labelsOf(m)(label)
			if all[value] == nil {
				all[value] = Page{}
			}
			if all[value][name] == nil {
				all[value][name] = &dto.MetricFamily{}
			}
			of := all[value][name]
			of.Metric = append(of.Metric, m)
		}
	}
	return all
}

// histogram adds up a family over its labels, in seconds. A summary has no buckets.
func (p Page) histogram(name string, timer Timer) (members.Histogram, bool) {
	out := members.Histogram{}
	buckets, unit := map[float64]float64{}, 1.0
	if timer.Milliseconds {
		unit = 1e-3
	}
	for _, m := range p[name].GetMetric() {
		if timer.Counts != nil && !timer.Counts(labelsOf(m)) {
			continue
		}
		h, s := m.GetHistogram(), m.GetSummary()
		out.Count += float64(h.GetSampleCount() + s.GetSampleCount())
		out.Seconds += (h.GetSampleSum() + s.GetSampleSum()) * unit
		for _, b := range h.GetBucket() {
			if !math.IsNaN(b.GetUpperBound()) {
				buckets[b.GetUpperBound()*unit] += float64(b.GetCumulativeCount())
			}
		}
	}
	for _, bound := range slices.Sorted(maps.Keys(buckets)) {
		out.Buckets = append(out.Buckets, members.Bucket{AtMostSeconds: bound, Count: buckets[bound]})
	}
	return out, len(p[name].GetMetric()) > 0
}

// labelsOf returns a function that returns the value of a label; empty if the metric lacks it.
func labelsOf(m *dto.Metric) func(name string) string {
	return func(name string) string {
		for _, l := range m.GetLabel() {
			if l.GetName() == name {
				return l.GetValue()
			}
		}
		return ""
	}
}
