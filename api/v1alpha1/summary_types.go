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

	// lateRequests is how many requests were sent late enough to distort the
	// latency: their lateness was over 250 µs, and over a tenth of the median
	// service time of their operation. Successful and failed requests count.
	// Absent: not known.
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
	// a decimal. From 1,000 on it is a whole number, below that it has up to six
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

	// burst is the result of the processes of workload.type Fetch.
	//
	// +optional
	Burst *BurstSummary `json:"burst,omitempty"`

	// requestCounts are all requests that the run sent, by RPC and phase, for a
	// comparison with the server's own counters.
	//
	// +optional
	// +listType=map
	// +listMapKey=rpc
	// +kubebuilder:validation:MaxItems=32
	RequestCounts []RequestCount `json:"requestCounts,omitempty"`

	// requestBytes is the length of the bodies of all measured requests, in bytes.
	// Each attempt to send a request counts. Absent: the transport does not count
	// bodies.
	//
	// +optional
	RequestBytes int64 `json:"requestBytes,omitempty"`

	// responseBytes is the length of the bodies of the responses to these
	// requests.
	//
	// +optional
	ResponseBytes int64 `json:"responseBytes,omitempty"`

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

	// saturated is set if the target did not keep up with the rate of an open
	// loop.
	//
	// +optional
	Saturated *Saturation `json:"saturated,omitempty"`

	// clientPauses is how often a client of a closed loop paused, because its
	// request had failed at once. A pause lasts 10 ms, twice as long after each
	// further failure, and at most 1 s.
	//
	// +optional
	ClientPauses int64 `json:"clientPauses,omitempty"`

	// clientPausesMicroseconds is how long clients paused, added up.
	//
	// +optional
	ClientPausesMicroseconds int64 `json:"clientPausesMicroseconds,omitempty"`

	// keyBytesOnWire is the length of one key with the run's prefix, in bytes.
	//
	// +optional
	KeyBytesOnWire int32 `json:"keyBytesOnWire,omitempty"`

	// fingerprint says in which environment the run measured.
	//
	// +optional
	Fingerprint *Fingerprint `json:"fingerprint,omitempty"`

	// concerns are reasons why the numbers may not describe the requested load.
	// They are reasons of the condition Passed, for example TargetChanged.
	//
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=8
	// +kubebuilder:validation:items:MaxLength=64
	Concerns []string `json:"concerns,omitempty"`

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

	// late is how many requests were sent late: see lateRequests of the summary.
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

	// netLatency is the latency without the lateness. Absent: no request waited
	// for a free client, so it is the same as serviceTime.
	//
	// +optional
	NetLatency *LatencySummary `json:"netLatency,omitempty"`

	// lateness is the time from when a request was due and a client was free to
	// when it was sent: the load generator's own delay. It covers all sent
	// requests, failed and unanswered ones included.
	//
	// +optional
	Lateness *LatencySummary `json:"lateness,omitempty"`

	// backlogWait is the time from when a request of an open loop was due until a
	// client was free. It covers all sent requests. Absent: none waited.
	//
	// +optional
	BacklogWait *LatencySummary `json:"backlogWait,omitempty"`
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

	// example is the error message of one of these requests, for example the
	// target's. It is shortened, and characters that cannot be printed are replaced.
	//
	// +optional
	// +kubebuilder:validation:MaxLength=256
	Example string `json:"example,omitempty"`
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
