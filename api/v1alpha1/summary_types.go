package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
)

// Summary is the merged result of all client pods.
type Summary struct {
	// transport that carried the requests. Results of different transports cannot
	// be compared.
	//
	// +required
	Transport spec.Transport `json:"transport"`

	// partial is true if numbers of at least one client pod are missing or
	// incomplete, or if the run ended before its work was done. It is true for
	// every reason of Finished other than Completed.
	//
	// +optional
	Partial bool `json:"partial,omitempty"`

	// measuredRequests is the number of requests of the measured window:
	// successful, failed and unanswered.
	//
	// +optional
	MeasuredRequests int64 `json:"measuredRequests"`

	// startedRequests is how many requests of the measured window were sent. In an
	// open loop, the difference to measuredRequests was due but unsent at the end.
	//
	// +optional
	StartedRequests int64 `json:"startedRequests,omitempty"`

	// lateRequests is how many requests of an open loop were sent late enough to
	// distort the latency: more than 250 µs after they were due, and more than a
	// tenth of the 99th percentile of their operation's latency. Successful and
	// failed requests count. Absent: closed loop, or not known.
	//
	// +optional
	LateRequests *int64 `json:"lateRequests,omitempty"`

	// failedRequests is how many requests of the measured window failed.
	//
	// +optional
	FailedRequests int64 `json:"failedRequests"`

	// censoredRequests is how many requests of the measured window were
	// unanswered, or due but unsent, when the run ended.
	//
	// +optional
	CensoredRequests int64 `json:"censoredRequests"`

	// throughputPerSecond is the rate of successful requests over all operations,
	// a decimal. From 100 on it is a whole number, below that it has up to six
	// digits after the point, rounded down.
	//
	// +optional
	ThroughputPerSecond spec.Decimal `json:"throughputPerSecond"`

	// steadyThroughputPerSecond is the rate while all pods sent requests: from the
	// start until the first pod received its last response. It is set only for
	// runs with load.requests.
	//
	// +optional
	SteadyThroughputPerSecond spec.Decimal `json:"steadyThroughputPerSecond,omitempty"`

	// tailMicroseconds is the time from the first pod's last response to the last
	// pod's. It is set only for runs with load.requests.
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

	// durationMicroseconds is the length of the measured window from which
	// throughput is computed.
	//
	// +optional
	DurationMicroseconds int64 `json:"durationMicroseconds"`

	// startSkewMicroseconds is the time between the start of the first and of the
	// last pod.
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

	// disturbances are the results of spec.disturbances, by type.
	//
	// +optional
	// +listType=map
	// +listMapKey=type
	// +kubebuilder:validation:MaxItems=8
	Disturbances []DisturbanceSummary `json:"disturbances,omitempty"`

	// watch is the result of the watchers. Absent: the workload has none.
	//
	// +optional
	Watch *WatchSummary `json:"watch,omitempty"`

	// requestCounts are all requests that the run sent, by RPC and phase, for a
	// comparison with the server's own counters.
	//
	// +optional
	// +listType=map
	// +listMapKey=rpc
	// +kubebuilder:validation:MaxItems=32
	RequestCounts []RequestCount `json:"requestCounts,omitempty"`

	// members are what the members' own metrics show of the measured window.
	//
	// +optional
	// +listType=map
	// +listMapKey=id
	// +kubebuilder:validation:MaxItems=64
	Members []MemberSummary `json:"members,omitempty"`

	// evidence is what the numbers show about where the time went, by resource. A
	// resource without evidence is absent.
	//
	// +optional
	// +listType=map
	// +listMapKey=resource
	// +kubebuilder:validation:MaxItems=8
	Evidence []Evidence `json:"evidence,omitempty"`

	// validity says whether the client limited the result.
	//
	// +optional
	Validity *Validity `json:"validity,omitempty"`

	// keyBytesOnWire is the length of one key with the run's prefix, in bytes.
	//
	// +optional
	KeyBytesOnWire int32 `json:"keyBytesOnWire,omitempty"`

	// warnings are reasons to trust the numbers less.
	//
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=16
	// +kubebuilder:validation:items:MaxLength=512
	Warnings []string `json:"warnings,omitempty"`
}

// OperationSummary is the result of one kind of request in the measured window.
type OperationSummary struct {
	// operation is the kind of request.
	//
	// +required
	Operation spec.Operation `json:"operation"`

	// succeeded is how many requests succeeded.
	//
	// +optional
	Succeeded int64 `json:"succeeded"`

	// failed is how many requests failed.
	//
	// +optional
	Failed int64 `json:"failed"`

	// censored is how many requests were unanswered, or due but unsent, when the
	// run ended.
	//
	// +optional
	Censored int64 `json:"censored"`

	// late is how many requests of an open loop were sent late: see lateRequests
	// of the summary.
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

	// lost is how many succeeded requests changed nothing: a compare-and-swap, or
	// a write of an object, found that its key had been changed or deleted by
	// another client.
	//
	// +optional
	Lost int64 `json:"lost,omitempty"`

	// attempts is how often the succeeded requests tried to commit. It is set for
	// an operation that tries again until it commits.
	//
	// +optional
	Attempts int64 `json:"attempts,omitempty"`

	// attemptsPerCommit is attempts divided by succeeded, a decimal. "1" means
	// that no request had to try twice.
	//
	// +optional
	AttemptsPerCommit spec.Decimal `json:"attemptsPerCommit,omitempty"`

	// throughputPerSecond is the rate of successful requests, a decimal like that
	// of the summary.
	//
	// +optional
	ThroughputPerSecond spec.Decimal `json:"throughputPerSecond"`

	// latency is the time from when a request was due (open loop) or could be sent
	// (closed loop) to the end of its response. Objectives judge this value.
	//
	// +optional
	Latency *LatencySummary `json:"latency,omitempty"`

	// serviceTime is the time from when a request was sent to the end of its
	// response.
	//
	// +optional
	ServiceTime *LatencySummary `json:"serviceTime,omitempty"`

	// lateness is the time from when a request was due to when it was sent: the
	// load generator's own delay, and the wait for a free client. It covers all
	// sent requests of an open loop, failed and unanswered ones included.
	//
	// +optional
	Lateness *LatencySummary `json:"lateness,omitempty"`
}

// ErrorCount is how often requests failed with one code.
type ErrorCount struct {
	// code is the gRPC status code, for example Unavailable. It is Missed for an
	// event that was not delivered.
	//
	// +required
	Code string `json:"code"`

	// count is how many requests failed with this code.
	//
	// +required
	Count int64 `json:"count"`
}

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

// RequestCount is how many requests of one RPC the run sent, by phase.
// Requests in flight at the end of the window belong to measured.
type RequestCount struct {
	// rpc is the store's name of the call: for etcd Put, Range, DeleteRange, Txn,
	// …
	//
	// +required
	RPC string `json:"rpc"`

	// preload is how many requests wrote what the workload needs: keys, leases, a
	// history to watch.
	//
	// +optional
	Preload int64 `json:"preload"`

	// warmup is how many requests were sent before the measured window.
	//
	// +optional
	Warmup int64 `json:"warmup"`

	// measured is how many requests belong to the measured window.
	//
	// +optional
	Measured int64 `json:"measured"`

	// control is how many other requests were sent: to claim and clean the key
	// prefix, to observe the members, to open watchers and to keep the clients'
	// own leases.
	//
	// +optional
	Control int64 `json:"control"`
}
