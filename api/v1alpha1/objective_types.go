package v1alpha1

// ObjectiveType is what an objective limits.
//
// +kubebuilder:validation:Enum=Latency;Throughput;ErrorRatio
type ObjectiveType string

const (
	// ObjectiveLatency limits a statistic of latency from above.
	ObjectiveLatency ObjectiveType = "Latency"
	// ObjectiveThroughput limits successful requests per second from below.
	ObjectiveThroughput ObjectiveType = "Throughput"
	// ObjectiveErrorRatio limits the share of failed requests from above.
	ObjectiveErrorRatio ObjectiveType = "ErrorRatio"
)

// Operation is a kind of request that is measured.
//
// +kubebuilder:validation:Enum=Put;Range;Delete
type Operation string

const (
	// OperationPut is etcd's KV/Put.
	OperationPut Operation = "Put"
	// OperationRange is etcd's KV/Range.
	OperationRange Operation = "Range"
	// OperationDelete is etcd's KV/DeleteRange of one key.
	OperationDelete Operation = "Delete"
)

// LatencyStatistic is one number of a distribution of latencies.
//
// +kubebuilder:validation:Enum=Mean;P50;P90;P95;P99;P999;Max
type LatencyStatistic string

// The statistics of a distribution of latencies. Percentiles are nearest rank;
// failed requests rank above every latency.
const (
	StatisticMean LatencyStatistic = "Mean"
	StatisticP50  LatencyStatistic = "P50"
	StatisticP90  LatencyStatistic = "P90"
	StatisticP95  LatencyStatistic = "P95"
	StatisticP99  LatencyStatistic = "P99"
	StatisticP999 LatencyStatistic = "P999"
	StatisticMax  LatencyStatistic = "Max"
)

// Objective is a limit that the result must keep. It is a union: type, and the
// field of that name.
//
// +kubebuilder:validation:XValidation:rule="has(self.latency) == (self.type == 'Latency')",message="objective.latency must be set if, and only if, its type is Latency"
// +kubebuilder:validation:XValidation:rule="has(self.throughput) == (self.type == 'Throughput')",message="objective.throughput must be set if, and only if, its type is Throughput"
// +kubebuilder:validation:XValidation:rule="has(self.errorRatio) == (self.type == 'ErrorRatio')",message="objective.errorRatio must be set if, and only if, its type is ErrorRatio"
// +union
type Objective struct {
	// name of the objective, unique in the run; its result has the same name.
	//
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`
	Name string `json:"name"`

	// type is Latency, Throughput or ErrorRatio.
	//
	// +required
	// +unionDiscriminator
	Type ObjectiveType `json:"type"`

	// latency limits a statistic of latency from above.
	//
	// +optional
	Latency *LatencyObjective `json:"latency,omitempty"`

	// throughput limits successful requests per second from below.
	//
	// +optional
	Throughput *ThroughputObjective `json:"throughput,omitempty"`

	// errorRatio limits the share of failed requests from above.
	//
	// +optional
	ErrorRatio *ErrorRatioObjective `json:"errorRatio,omitempty"`
}

// LatencyObjective limits a statistic of latency.
type LatencyObjective struct {
	// operation whose latency is meant: Put, Range or Delete. An operation that the
	// workload does not send makes the objective Unknown.
	//
	// +required
	Operation Operation `json:"operation"`

	// statistic is Mean, P50, P90, P95, P99, P999 or Max.
	//
	// +required
	Statistic LatencyStatistic `json:"statistic"`

	// maxMicroseconds is the highest value that meets the objective, in
	// microseconds.
	//
	// +required
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=600000000
	MaxMicroseconds int64 `json:"maxMicroseconds"`
}

// ThroughputObjective limits successful requests per second.
type ThroughputObjective struct {
	// minPerSecond is the lowest rate of successful requests, over all pods
	// and operations, that meets the objective.
	//
	// +required
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=100000000
	MinPerSecond int64 `json:"minPerSecond"`
}

// ErrorRatioObjective limits the share of failed requests.
type ErrorRatioObjective struct {
	// maxPerMillion is the highest number of failed requests in a million
	// that meets the objective.
	//
	// +required
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=1000000
	MaxPerMillion int64 `json:"maxPerMillion"`
}
