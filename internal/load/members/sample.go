package members

import (
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// Gauge is a value at one moment.
type Gauge string

// The gauges of a member.
const (
	// GaugeStart is when the member's process started, in seconds since 1970.
	GaugeStart            Gauge = "start"
	GaugeMemoryBytes      Gauge = "memory"
	GaugeDatabaseBytes    Gauge = "database"
	GaugeProcessors       Gauge = "processors"
	GaugePendingProposals Gauge = "pending proposals"
	// These are the highest values since the start of the window. Only a sampler of the member's process has them.
	GaugeMemoryHighest Gauge = "highest memory"
	GaugeCPUHighest    Gauge = "highest cpu"
)

// Sample has one member's metrics at one moment. Metrics that the member does not serve are absent.
type Sample struct {
	// At is when the member assembled its metrics.
	At time.Time
	// Counters are the values of counters, by the figure of their difference.
	Counters map[results.Figure]float64
	Gauges   map[Gauge]float64
	Timers   map[results.Timer]Histogram
	// Looks are what a sampler of the member's process saw since the start of the window, if they are at most MaxLooks.
	Looks []Sample
	// Problem is why the sample has no metrics; empty if it has.
	Problem string
}

// MaxLooks leaves room for the other samples of a window of so many looks.
const MaxLooks = results.MaxSamples - 10

// Histogram has the buckets of a Prometheus histogram.
type Histogram struct {
	Count, Seconds float64
	// Cut: each duration was cut to whole milliseconds before it was added.
	Cut bool
	// Buckets are cumulative and sorted by bound. The last may have the bound +Inf.
	Buckets []Bucket
}

// Bucket counts observations of at most AtMostSeconds.
type Bucket struct{ AtMostSeconds, Count float64 }
