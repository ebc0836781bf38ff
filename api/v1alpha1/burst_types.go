package v1alpha1

import "github.com/etcdbench/etcd-benchmark-operator/api/spec"

// BurstSummary is the result of the processes of workload.type Fetch, beside
// the latency of Fetch.
type BurstSummary struct {
	// lastProcessMicroseconds is the time from the start until the last process
	// had ended. Absent: a process has failed, or did not end.
	//
	// +optional
	LastProcessMicroseconds int64 `json:"lastProcessMicroseconds,omitempty"`

	// valueBytes is the length of all values that processes read.
	//
	// +optional
	ValueBytes int64 `json:"valueBytes"`

	// bodyOverheadPercent is how much longer the bodies of the responses are than
	// the values.
	//
	// +optional
	BodyOverheadPercent spec.Decimal `json:"bodyOverheadPercent,omitempty"`

	// wireSentBytes and wireReceivedBytes are the bytes on the TCP connections,
	// with those to connect.
	//
	// +optional
	WireSentBytes int64 `json:"wireSentBytes,omitempty"`

	// +optional
	WireReceivedBytes int64 `json:"wireReceivedBytes,omitempty"`

	// unavailableProcesses counts processes that ended as Unavailable before the
	// first response: the connection was refused or broke, or the member was not
	// ready. Absent: none, or connections were open before.
	//
	// +optional
	UnavailableProcesses int64 `json:"unavailableProcesses,omitempty"`

	// memberBytesPerConnection is by how much the members' memory grew for each
	// connection. Absent: unknown, or connections were open before.
	//
	// +optional
	MemberBytesPerConnection int64 `json:"memberBytesPerConnection,omitempty"`

	// timeouts is how many processes had how many attempts that timed out.
	//
	// +optional
	// +listType=map
	// +listMapKey=from
	// +kubebuilder:validation:MaxItems=32
	Timeouts []TimeoutCount `json:"timeouts,omitempty"`
}

// TimeoutCount is the number of processes with this many time-outs.
type TimeoutCount struct {
	// from and to are the least and the greatest number of time-outs. to is
	// absent for from or more.
	//
	// +required
	From int32 `json:"from"`

	// +optional
	To *int32 `json:"to,omitempty"`

	// +optional
	Processes int64 `json:"processes"`
}
