package v1alpha1

import "github.com/etcdbench/etcd-benchmark-operator/api/spec"

// SuiteSearch looks for the highest rate that meets the objectives. It runs each
// target with each workload at several rates; such a run is called a probe.
//
// +kubebuilder:validation:XValidation:rule="self.minPerSecond <= self.maxPerSecond",messageExpression="'must be at least search.minPerSecond (%d), found %d'.format([self.minPerSecond, self.maxPerSecond])",fieldPath=".maxPerSecond"
// +kubebuilder:validation:XValidation:rule="!has(self.load.rate)",message="is what the search looks for: remove it, and set search.arrival for the kind of arrivals",fieldPath=".load.rate"
// +kubebuilder:validation:XValidation:rule="!has(self.load.requests)",message="does not fit a search, whose probes have a fixed length: replace it with durationSeconds",fieldPath=".load.requests"
type SuiteSearch struct {
	// load is that of EtcdBenchmark, without rate and requests. durationSeconds is
	// the length of a probe; 30 or more is advised. A probe with so few requests per
	// second that a percentile of the objectives could not be judged is longer, at
	// most 300 s. Choose enough clients for the highest rate: at 10,000 requests per
	// second that take 20 ms each, 200 clients are busy.
	//
	// +required
	Load spec.Load `json:"load"`

	// arrival is that of load.rate of an EtcdBenchmark. Default Poisson.
	//
	// +optional
	// +kubebuilder:default=Poisson
	Arrival spec.Arrival `json:"arrival,omitempty"`

	// minPerSecond is the lowest rate to try, in requests per second. Default 10.
	//
	// +optional
	// +kubebuilder:default=10
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=10000000
	MinPerSecond int64 `json:"minPerSecond,omitempty"`

	// maxPerSecond is the highest rate to try, in requests per second. Default
	// 1000000.
	//
	// +optional
	// +kubebuilder:default=1000000
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=10000000
	MaxPerSecond int64 `json:"maxPerSecond,omitempty"`

	// tolerancePercent is how far the answer may be below a rate that misses.
	// Default 5.
	//
	// +optional
	// +kubebuilder:default=5
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=50
	TolerancePercent int32 `json:"tolerancePercent,omitempty"`

	// confirmations is how many further probes at the answer must meet the
	// objectives. Default 3.
	//
	// +optional
	// +kubebuilder:default=3
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=10
	Confirmations int32 `json:"confirmations,omitempty"`

	// maxProbes bounds the probes of each cell. About 20 are usual. Default 40.
	//
	// +optional
	// +kubebuilder:default=40
	// +kubebuilder:validation:Minimum=10
	// +kubebuilder:validation:Maximum=100
	MaxProbes int32 `json:"maxProbes,omitempty"`

	// pauseSeconds is how long the target rests after the end of a probe, before the
	// next one is created. Between probes, no client is connected that could see
	// whether the target has settled. Default 5.
	//
	// +optional
	// +kubebuilder:default=5
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=120
	PauseSeconds *int32 `json:"pauseSeconds,omitempty"`
}

// ProbeRole is what a probe of a search is for.
//
// +kubebuilder:validation:Enum=Ceiling;Sweep;Bisect;Repeat;Confirm;Sentinel
type ProbeRole string

// ProbeCeiling is the role of the probe without a rate.
const ProbeCeiling ProbeRole = "Ceiling"

// SuiteProbe says what a run of a search was for, and what it found.
type SuiteProbe struct {
	// role is one of:
	// - Ceiling: a closed loop, which shows the most that the target answers.
	// - Sweep: one of the first rates, from low to high.
	// - Bisect: a rate between one that met the objectives and one that missed them.
	// - Repeat: the second probe at a rate that missed or could not be judged.
	// - Confirm: a further probe at the answer.
	// - Sentinel: 75 % of the answer at the end, to see whether the target has
	//   changed.
	//
	// +required
	Role ProbeRole `json:"role"`

	// askedPerSecond is the rate. Absent: the probe had no rate.
	//
	// +optional
	AskedPerSecond int64 `json:"askedPerSecond,omitempty"`

	// throughputMilliPerSecond is 1000 × the rate of successful requests of all
	// kinds.
	//
	// +optional
	ThroughputMilliPerSecond int64 `json:"throughputMilliPerSecond,omitempty"`

	// limitedBy is the objective that was missed first, or why the probe could not
	// be judged.
	//
	// +optional
	// +kubebuilder:validation:MaxLength=512
	LimitedBy string `json:"limitedBy,omitempty"`
}

// CapacityState says what a search has found.
//
// +kubebuilder:validation:Enum=Searching;Found;AtLeast;BelowMinimum;Unstable;Unknown
type CapacityState string

// The states of a search.
const (
	CapacitySearching    CapacityState = "Searching"
	CapacityFound        CapacityState = "Found"
	CapacityAtLeast      CapacityState = "AtLeast"
	CapacityBelowMinimum CapacityState = "BelowMinimum"
	CapacityUnstable     CapacityState = "Unstable"
	CapacityUnknown      CapacityState = "Unknown"
)

// SuiteCapacity is the answer of the search of one cell.
type SuiteCapacity struct {
	// cell is the name of the cell.
	//
	// +required
	// +kubebuilder:validation:MaxLength=63
	Cell string `json:"cell"`

	// state is one of:
	// - Searching: more probes follow.
	// - Found: ratePerSecond meets all objectives, further probes confirm it, and a
	//   slightly higher rate misses one.
	// - AtLeast: the highest rate that was allowed meets them.
	// - BelowMinimum: no rate that was allowed meets them.
	// - Unstable: a rate met them once and missed them later, or a rate missed them
	//   below one that met.
	// - Unknown: a probe could not be judged or could not do its load, or the probes
	//   are used up, or the suite was stopped.
	//
	// +required
	State CapacityState `json:"state"`

	// ratePerSecond is the highest rate known to meet all objectives, in requests
	// per second. It is confirmed only if state is Found or AtLeast. Absent: none is
	// known.
	//
	// +optional
	RatePerSecond int64 `json:"ratePerSecond,omitempty"`

	// firstMissedPerSecond is the lowest rate known to miss an objective.
	//
	// +optional
	FirstMissedPerSecond int64 `json:"firstMissedPerSecond,omitempty"`

	// limitedBy is the objective that firstMissedPerSecond missed, or why state is
	// Unknown.
	//
	// +optional
	// +kubebuilder:validation:MaxLength=512
	LimitedBy string `json:"limitedBy,omitempty"`

	// confirmed is how many further probes at ratePerSecond met all objectives.
	//
	// +optional
	Confirmed int32 `json:"confirmed,omitempty"`

	// tried is how many further probes were required at ratePerSecond.
	//
	// +optional
	Tried int32 `json:"tried,omitempty"`

	// ceilingMilliPerSecond is 1000 × the throughput of the closed loop.
	//
	// +optional
	CeilingMilliPerSecond int64 `json:"ceilingMilliPerSecond,omitempty"`
}
