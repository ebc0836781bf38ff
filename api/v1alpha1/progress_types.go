package v1alpha1

import "github.com/etcdbench/etcd-benchmark-operator/api/spec"

// Progress is how far the run is while it goes on.
type Progress struct {
	// percent is the completed share of the measured requests or of the measured
	// time.
	//
	// +optional
	Percent int32 `json:"percent"`

	// requests is how many requests were measured so far.
	//
	// +optional
	Requests int64 `json:"requests"`

	// startedRequests is how many requests of the measured window were sent so
	// far. The difference to requests is in flight.
	//
	// +optional
	StartedRequests int64 `json:"startedRequests,omitempty"`

	// failedRequests is how many of requests failed.
	//
	// +optional
	FailedRequests int64 `json:"failedRequests,omitempty"`

	// throughputPerSecond is the mean rate of successful requests so far, a
	// decimal. From 100 on it is a whole number, below that it has up to six
	// digits after the point, rounded down.
	//
	// +optional
	ThroughputPerSecond spec.Decimal `json:"throughputPerSecond"`

	// operation is the kind of request whose latency follows: the one with the
	// highest 99th percentile. Events are not requests.
	//
	// +optional
	Operation spec.Operation `json:"operation,omitempty"`

	// p50Microseconds is the median of latency so far.
	//
	// +optional
	P50Microseconds int64 `json:"p50Microseconds,omitempty"`

	// p90Microseconds is the 90th percentile of latency so far.
	//
	// +optional
	P90Microseconds int64 `json:"p90Microseconds,omitempty"`

	// p99Microseconds is the 99th percentile of latency so far.
	//
	// +optional
	P99Microseconds int64 `json:"p99Microseconds"`

	// p999Microseconds is the 99.9th percentile of latency so far.
	//
	// +optional
	P999Microseconds int64 `json:"p999Microseconds,omitempty"`

	// maxMicroseconds is the longest latency so far.
	//
	// +optional
	MaxMicroseconds int64 `json:"maxMicroseconds,omitempty"`

	// atLeast names the statistics above that include unanswered requests: their
	// true value is at least the number given.
	//
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=8
	AtLeast []spec.Statistic `json:"atLeast,omitempty"`

	// readyPods is how many client pods are ready to start or have started.
	//
	// +optional
	ReadyPods int32 `json:"readyPods"`
}
