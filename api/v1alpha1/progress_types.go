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
	// decimal. From 1,000 on it is a whole number, below that it has up to six
	// digits after the point, rounded down.
	//
	// +optional
	ThroughputPerSecond spec.Decimal `json:"throughputPerSecond"`

	// operation is the kind of request whose latency the next fields show: the one
	// with the highest 99th percentile. Events are not requests.
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

	// atLeast names the statistics above that are lower bounds, because of
	// unanswered requests.
	//
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=8
	AtLeast []spec.Statistic `json:"atLeast,omitempty"`

	// work is the keys or leases that client pods write before the load, or the
	// keys that they check and delete after it. Absent while the load runs.
	//
	// +optional
	Work *WorkProgress `json:"work,omitempty"`

	// secondsLeft is an estimate of how long the current stage still takes: the
	// work, or the measured window. Absent if there is no estimate.
	//
	// +optional
	SecondsLeft *int64 `json:"secondsLeft,omitempty"`

	// recent has the requests of operation that succeeded since the previous
	// update. Absent in the first update, also after the operator restarts.
	//
	// +optional
	Recent *RecentProgress `json:"recent,omitempty"`

	// readyPods is how many client pods are ready to start or have started.
	//
	// +optional
	ReadyPods int32 `json:"readyPods"`

	// silentPods is how many running client pods the operator cannot scrape now.
	// throughputPerSecond is that of the other pods, and the other numbers lack
	// what these pods did since. Their final numbers arrive in their termination
	// messages. The pods' message has the reason.
	//
	// +optional
	SilentPods int32 `json:"silentPods,omitempty"`
}

// RecentProgress is about the newest requests of a run that measures.
type RecentProgress struct {
	// durationMicroseconds is the time since the update before.
	//
	// +optional
	DurationMicroseconds int64 `json:"durationMicroseconds"`

	// succeededRequests is how many requests succeeded in that time.
	//
	// +optional
	SucceededRequests int64 `json:"succeededRequests"`

	// p50Microseconds is the median of their latency.
	//
	// +optional
	P50Microseconds int64 `json:"p50Microseconds,omitempty"`

	// p99Microseconds is the 99th percentile of their latency. Absent if fewer
	// than ten requests took longer.
	//
	// +optional
	P99Microseconds int64 `json:"p99Microseconds,omitempty"`
}

// WorkProgress is the progress of work with a known total.
type WorkProgress struct {
	// done is how many were written or checked. Checked keys need not exist.
	//
	// +optional
	Done int64 `json:"done"`

	// total is how many must be written or checked.
	//
	// +optional
	Total int64 `json:"total"`

	// perSecond is the mean rate so far, a decimal like throughputPerSecond.
	//
	// +optional
	PerSecond spec.Decimal `json:"perSecond,omitempty"`
}
