package results

import "github.com/prometheus/client_golang/prometheus"

// NewCollector returns a collector that serves what snapshot returns at the
// time of each scrape. snapshot must be safe to call at any time and must hand
// over a snapshot that nobody changes any more.
func NewCollector(snapshot func() *Snapshot) prometheus.Collector {
	return &collector{snapshot: snapshot}
}

type collector struct{ snapshot func() *Snapshot }

// Describe sends nothing: what there is to collect grows during the run.
func (c *collector) Describe(chan<- *prometheus.Desc) {}

// Collect implements prometheus.Collector.
func (c *collector) Collect(chan<- prometheus.Metric) {}
