package v1alpha1

import "github.com/etcdbench/etcd-benchmark-operator/api/spec"

// LatencySummary has statistics of a distribution of durations. Percentiles
// are nearest rank, from histogram buckets. Their error is at most
// errorBoundPerMillion.
type LatencySummary struct {
	// count is the number of durations.
	//
	// +optional
	Count int64 `json:"count"`

	// meanMicroseconds is the mean.
	//
	// +optional
	MeanMicroseconds int64 `json:"meanMicroseconds"`

	// stddevMicroseconds is the standard deviation.
	//
	// +optional
	StddevMicroseconds int64 `json:"stddevMicroseconds"`

	// minMicroseconds is the exact minimum.
	//
	// +optional
	MinMicroseconds int64 `json:"minMicroseconds"`

	// p50Microseconds is the median.
	//
	// +optional
	P50Microseconds int64 `json:"p50Microseconds"`

	// p90Microseconds is the 90th percentile.
	//
	// +optional
	P90Microseconds int64 `json:"p90Microseconds"`

	// p95Microseconds is the 95th percentile.
	//
	// +optional
	P95Microseconds int64 `json:"p95Microseconds"`

	// p99Microseconds is the 99th percentile.
	//
	// +optional
	P99Microseconds int64 `json:"p99Microseconds"`

	// p999Microseconds is the 99.9th percentile.
	//
	// +optional
	P999Microseconds int64 `json:"p999Microseconds"`

	// maxMicroseconds is the exact maximum.
	//
	// +optional
	MaxMicroseconds int64 `json:"maxMicroseconds"`

	// atLeast names the statistics that include unanswered requests: their true
	// value is at least the number given.
	//
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=8
	AtLeast []spec.Statistic `json:"atLeast,omitempty"`

	// thin names the percentiles with fewer than ten durations above them. They
	// are too uncertain to be shown.
	//
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=8
	Thin []spec.Statistic `json:"thin,omitempty"`

	// errorBoundPerMillion is the greatest relative error of a percentile, in parts
	// per million. 0: the percentiles are not known, because they did not fit into
	// the termination messages of client pods.
	//
	// +optional
	ErrorBoundPerMillion int32 `json:"errorBoundPerMillion"`
}

// Micros returns a statistic in microseconds.
func (l *LatencySummary) Micros(s spec.Statistic) int64 {
	return map[spec.Statistic]int64{
		spec.StatisticMean: l.MeanMicroseconds,
		spec.StatisticP50:  l.P50Microseconds,
		spec.StatisticP90:  l.P90Microseconds,
		spec.StatisticP95:  l.P95Microseconds,
		spec.StatisticP99:  l.P99Microseconds,
		spec.StatisticP999: l.P999Microseconds,
		spec.StatisticMax:  l.MaxMicroseconds,
	}[s]
}
