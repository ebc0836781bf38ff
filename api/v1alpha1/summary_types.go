package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
)

// Summary is the merged result of all client pods.
type Summary struct {
	// transport that carried the requests. Results of different transports
	// are not comparable.
	//
	// +required
	Transport spec.Transport `json:"transport"`

	// partial is true if the part of at least one client pod is missing or
	// incomplete, or if the run ended before its work was done: for every
	// reason of Finished other than Completed.
	//
	// +optional
	Partial bool `json:"partial,omitempty"`

	// measuredRequests is the number of requests of the measured window:
	// successful, failed and censored ones.
	//
	// +optional
	MeasuredRequests int64 `json:"measuredRequests"`

	// startedRequests is how many requests of the measured window were sent. An
	// open loop that sent fewer than it measured owed the others at its end.
	//
	// +optional
	StartedRequests int64 `json:"startedRequests,omitempty"`

	// lateRequests is how many requests of an open loop, however they ended, were
	// sent so late that it harms: more than 250 µs after they were due, and more
	// than a tenth of the 99th percentile of their operation's latency. It is absent
	// in a closed loop, and where it is not known.
	//
	// +optional
	LateRequests *int64 `json:"lateRequests,omitempty"`

	// failedRequests of the measured window.
	//
	// +optional
	FailedRequests int64 `json:"failedRequests"`

	// censoredRequests are requests of the measured window that were
	// unanswered, or still owed by the schedule, when the run ended.
	//
	// +optional
	CensoredRequests int64 `json:"censoredRequests"`

	// throughputPerSecond is the rate of successful requests over all operations, a
	// decimal: from 100 on whole requests, below that with up to six digits after the
	// point, rounded down.
	//
	// +optional
	ThroughputPerSecond spec.Decimal `json:"throughputPerSecond"`

	// steadyThroughputPerSecond is the rate while all pods sent requests: from
	// the start until the first pod received its last response. It is set for runs
	// that load.requests bounds.
	//
	// +optional
	SteadyThroughputPerSecond spec.Decimal `json:"steadyThroughputPerSecond,omitempty"`

	// tailMicroseconds is, for a run bound by requests, the time from the
	// first pod's last response to the last pod's.
	//
	// +optional
	TailMicroseconds int64 `json:"tailMicroseconds,omitempty"`

	// windowStart is the earliest start of a pod's measured window.
	//
	// +optional
	WindowStart *metav1.MicroTime `json:"windowStart,omitempty"`

	// windowEnd is the latest end of a pod's measured window.
	//
	// +optional
	WindowEnd *metav1.MicroTime `json:"windowEnd,omitempty"`

	// durationMicroseconds is the length of the measured window that
	// throughput is computed with.
	//
	// +optional
	DurationMicroseconds int64 `json:"durationMicroseconds"`

	// startSkewMicroseconds is the distance between the first and the last
	// pod's start.
	//
	// +optional
	StartSkewMicroseconds int64 `json:"startSkewMicroseconds"`

	// operations are the results by kind of request.
	//
	// +optional
	// +listType=map
	// +listMapKey=operation
	// +kubebuilder:validation:MaxItems=16
	Operations []OperationSummary `json:"operations,omitempty"`

	// disturbances are what was done beside the load, by type.
	//
	// +optional
	// +listType=map
	// +listMapKey=type
	// +kubebuilder:validation:MaxItems=8
	Disturbances []DisturbanceSummary `json:"disturbances,omitempty"`

	// watch is what became of the watchers, of a workload that has some.
	//
	// +optional
	Watch *WatchSummary `json:"watch,omitempty"`

	// requestCounts are all requests that the run sent, by RPC and phase, so
	// that they can be compared with the server's own counters.
	//
	// +optional
	// +listType=map
	// +listMapKey=rpc
	// +kubebuilder:validation:MaxItems=32
	RequestCounts []RequestCount `json:"requestCounts,omitempty"`

	// members are what the members' own metrics say of the measured window.
	//
	// +optional
	// +listType=map
	// +listMapKey=id
	// +kubebuilder:validation:MaxItems=64
	Members []MemberSummary `json:"members,omitempty"`

	// evidence is what the numbers show of where the time went, by resource.
	// It is silent where they show nothing.
	//
	// +optional
	// +listType=map
	// +listMapKey=resource
	// +kubebuilder:validation:MaxItems=8
	Evidence []Evidence `json:"evidence,omitempty"`

	// validity says whether the numbers are of the target or of the clients.
	//
	// +optional
	Validity *Validity `json:"validity,omitempty"`

	// keyBytesOnWire is the length of one key with the run's prefix, in bytes.
	//
	// +optional
	KeyBytesOnWire int32 `json:"keyBytesOnWire,omitempty"`

	// warnings say what makes the numbers weaker than they look.
	//
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=16
	// +kubebuilder:validation:items:MaxLength=512
	Warnings []string `json:"warnings,omitempty"`
}

// OperationSummary is the result of one kind of request in the measured window.
type OperationSummary struct {
	// operation that was measured.
	//
	// +required
	Operation spec.Operation `json:"operation"`

	// succeeded requests.
	//
	// +optional
	Succeeded int64 `json:"succeeded"`

	// failed requests.
	//
	// +optional
	Failed int64 `json:"failed"`

	// censored requests.
	//
	// +optional
	Censored int64 `json:"censored"`

	// late requests of an open loop: see lateRequests of the summary.
	//
	// +optional
	Late *int64 `json:"late,omitempty"`

	// errors are the failed requests by code.
	//
	// +optional
	// +listType=map
	// +listMapKey=code
	// +kubebuilder:validation:MaxItems=32
	Errors []ErrorCount `json:"errors,omitempty"`

	// lost counts, of the succeeded requests, those that changed nothing: a
	// compare-and-swap, or a write of an object, that found its key changed or
	// deleted by somebody else.
	//
	// +optional
	Lost int64 `json:"lost,omitempty"`

	// attempts counts how often the succeeded requests tried to commit, of an
	// operation that tries until it does.
	//
	// +optional
	Attempts int64 `json:"attempts,omitempty"`

	// attemptsPerCommit is attempts divided by succeeded, a decimal: "1" means that
	// none was tried twice.
	//
	// +optional
	AttemptsPerCommit spec.Decimal `json:"attemptsPerCommit,omitempty"`

	// throughputPerSecond is the rate of successful requests, a decimal as that of the
	// summary.
	//
	// +optional
	ThroughputPerSecond spec.Decimal `json:"throughputPerSecond"`

	// latency from when a request was due (open loop) or could be sent
	// (closed loop) to the end of its response. This is what is judged.
	//
	// +optional
	Latency *LatencySummary `json:"latency,omitempty"`

	// serviceTime from when a request was sent to the end of its response.
	//
	// +optional
	ServiceTime *LatencySummary `json:"serviceTime,omitempty"`

	// lateness from when a request was due to when it was sent: the load
	// generator's own delay, and the wait for a free client. It is that of all
	// requests of an open loop that were sent, those that failed or were cut off
	// among them.
	//
	// +optional
	Lateness *LatencySummary `json:"lateness,omitempty"`
}

// ErrorCount is how often requests failed with one code.
type ErrorCount struct {
	// code is the gRPC status code, for example Unavailable, and Missed for an
	// event that was not delivered.
	//
	// +required
	Code string `json:"code"`

	// count of failed requests.
	//
	// +required
	Count int64 `json:"count"`
}

// LatencySummary are statistics of a distribution of durations. Percentiles
// are nearest rank, from histogram buckets, and no further from the true value
// than errorBoundPerMillion says.
type LatencySummary struct {
	// count of durations.
	//
	// +optional
	Count int64 `json:"count"`

	// meanMicroseconds.
	//
	// +optional
	MeanMicroseconds int64 `json:"meanMicroseconds"`

	// stddevMicroseconds is the standard deviation.
	//
	// +optional
	StddevMicroseconds int64 `json:"stddevMicroseconds"`

	// minMicroseconds is exact.
	//
	// +optional
	MinMicroseconds int64 `json:"minMicroseconds"`

	// p50Microseconds.
	//
	// +optional
	P50Microseconds int64 `json:"p50Microseconds"`

	// p90Microseconds.
	//
	// +optional
	P90Microseconds int64 `json:"p90Microseconds"`

	// p95Microseconds.
	//
	// +optional
	P95Microseconds int64 `json:"p95Microseconds"`

	// p99Microseconds.
	//
	// +optional
	P99Microseconds int64 `json:"p99Microseconds"`

	// p999Microseconds is the 99.9th percentile.
	//
	// +optional
	P999Microseconds int64 `json:"p999Microseconds"`

	// maxMicroseconds is exact.
	//
	// +optional
	MaxMicroseconds int64 `json:"maxMicroseconds"`

	// atLeast names the statistics that reach requests that were cut off:
	// their true value is at least the number given.
	//
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=8
	AtLeast []spec.Statistic `json:"atLeast,omitempty"`

	// errorBoundPerMillion is the greatest relative error of a percentile, in parts
	// per million.
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

// RequestCount is how many requests of one RPC the run sent, by phase. What
// was in flight when the window ended belongs to measured.
type RequestCount struct {
	// rpc is etcd's name of the call: Put, Range, DeleteRange, Txn, …
	//
	// +required
	RPC string `json:"rpc"`

	// preload wrote what the workload needs to be there: keys to read or delete,
	// leases to renew or revoke, a history to watch.
	//
	// +optional
	Preload int64 `json:"preload"`

	// warmup ran before the measured window.
	//
	// +optional
	Warmup int64 `json:"warmup"`

	// measured in the window.
	//
	// +optional
	Measured int64 `json:"measured"`

	// control requests claimed and cleaned the key prefix, looked at the members,
	// opened watchers and kept the clients' own leases.
	//
	// +optional
	Control int64 `json:"control"`
}
