package members

import (
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// Gauge is a value of the moment.
type Gauge string

// The gauges of a member.
const (
	// GaugeStart is when the member's process started, in seconds since 1970.
	GaugeStart            Gauge = "start"
	GaugeMemoryBytes      Gauge = "memory"
	GaugeDatabaseBytes    Gauge = "database"
	GaugeProcessors       Gauge = "processors"
	GaugePendingProposals Gauge = "pending proposals"
)

// Sample is what one member said of itself at one moment. What it does not
// serve is absent.
type Sample struct {
	// At is when the member had put its numbers together.
	At time.Time
	// Counters have, by the figure of their difference, the value of a counter.
	Counters map[results.Figure]float64
	Gauges   map[Gauge]float64
	Timers   map[results.Timer]Histogram
	// Problem is why the sample says nothing of the member; empty if it does.
	Problem string
}

// Histogram has the buckets of a Prometheus histogram.
type Histogram struct {
	Count, Seconds float64
	// Buckets are cumulative, and in the order of their bounds. The last may
	// have the bound +Inf.
	Buckets []Bucket
}

// Bucket counts what took at most so long.
type Bucket struct{ AtMostSeconds, Count float64 }
