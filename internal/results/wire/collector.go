package wire

import (
	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"

	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// NewCollector returns a collector that serves the result of snapshot at each scrape. snapshot must be safe for
// concurrent use and must return a snapshot that does not change any more.
func NewCollector(snapshot func() *results.Snapshot) prometheus.Collector {
	return &collector{snapshot: snapshot}
}

type collector struct{ snapshot func() *results.Snapshot }

// Describe sends nothing, because the set of metrics grows during the run.
func (c *collector) Describe(chan<- *prometheus.Desc) {}

// Collect implements prometheus.Collector.
func (c *collector) Collect(metrics chan<- prometheus.Metric) {
	for _, mf := range Served(c.snapshot()) {
		desc := prometheus.NewDesc(mf.GetName(), mf.GetHelp(), familiesByName[mf.GetName()].labels, nil)
		for _, m := range mf.Metric {
			metrics <- &built{desc: desc, metric: m}
		}
	}
}

// built is a complete metric. client_golang has no metric with native and classic buckets together.
type built struct {
	desc   *prometheus.Desc
	metric *dto.Metric
}

// Desc implements prometheus.Metric.
func (b *built) Desc() *prometheus.Desc { return b.desc }

// Write implements prometheus.Metric.
func (b *built) Write(out *dto.Metric) error {
	out.Label = b.metric.Label
	out.Gauge, out.Counter, out.Histogram = b.metric.Gauge, b.metric.Counter, b.metric.Histogram
	return nil
}
