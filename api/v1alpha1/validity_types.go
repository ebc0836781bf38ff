package v1alpha1

// ValidityVerdict says whether the client limited the result.
//
// +kubebuilder:validation:Enum=Valid;ClientBound;Unknown
type ValidityVerdict string

const (
	// ValidityValid: no check shows that the client limited the result.
	ValidityValid ValidityVerdict = "Valid"
	// ValidityClientBound: the client was itself a limit.
	ValidityClientBound ValidityVerdict = "ClientBound"
	// ValidityUnknown: numbers that are needed for a verdict could not be read.
	ValidityUnknown ValidityVerdict = "Unknown"
)

// ValidityCause shows that the client was a limit, or prevents a verdict.
//
// +kubebuilder:validation:Enum=Throttled;Busy;Loop;Delayed;Late;Unread
type ValidityCause string

const (
	// CauseThrottled: a client pod was throttled for over 1 % of the window,
	// averaged over the processors that it uses at a time.
	CauseThrottled ValidityCause = "Throttled"
	// CauseBusy: a client pod used over 85 % of the processor time that it may
	// use.
	CauseBusy ValidityCause = "Busy"
	// CauseLoop: one event loop of a client pod was busy for over 85 % of the
	// window.
	CauseLoop ValidityCause = "Loop"
	// CauseDelayed: work of a client pod waited too long for a processor.
	CauseDelayed ValidityCause = "Delayed"
	// CauseLate: requests were sent too long after they were due and a client was
	// free.
	CauseLate ValidityCause = "Late"
	// CauseUnread: numbers that are needed for a verdict could not be read.
	CauseUnread ValidityCause = "Unread"
)

// SharedWithMembers is what client pods shared with members of the target.
//
// +kubebuilder:validation:Enum=Node
type SharedWithMembers string

// SharedNode: a client pod ran on the node of a member.
const SharedNode SharedWithMembers = "Node"

// Validity says whether the client limited the result. Its numbers are of the
// measured window and of the worst pod. A number is absent if it is not known
// for all pods.
type Validity struct {
	// verdict is Valid, ClientBound (the client was itself a limit, and the target
	// might have done better) or Unknown.
	//
	// +required
	Verdict ValidityVerdict `json:"verdict"`

	// reasons for ClientBound or Unknown.
	//
	// +optional
	// +listType=map
	// +listMapKey=cause
	// +kubebuilder:validation:MaxItems=8
	Reasons []ValidityReason `json:"reasons,omitempty"`

	// shared is what client pods shared with members: Node or Process. Absent:
	// nothing, or not known.
	//
	// +optional
	Shared SharedWithMembers `json:"shared,omitempty"`

	// cpuPercent is the used share of the processor time that a client pod may
	// use, in percent. A pod may use its CPU limit, or the processors that Go uses
	// if these are fewer or there is no limit.
	//
	// +optional
	CPUPercent *int32 `json:"cpuPercent,omitempty"`

	// garbageCollectionPercent is the share of the used processor time that
	// garbage collection took, in percent.
	//
	// +optional
	GarbageCollectionPercent *int32 `json:"garbageCollectionPercent,omitempty"`

	// throttledMicroseconds is how long a client pod was throttled, added up over
	// its processors.
	//
	// +optional
	ThrottledMicroseconds *int64 `json:"throttledMicroseconds,omitempty"`

	// goroutineDelayP99Microseconds is the 99th percentile of how long runnable
	// goroutines waited for a thread.
	//
	// +optional
	GoroutineDelayP99Microseconds *int64 `json:"goroutineDelayP99Microseconds,omitempty"`

	// delayPerRequestMicroseconds is how long runnable threads waited for a
	// processor, divided by the number of requests. For the transport Client it
	// includes how long runnable goroutines waited for a thread.
	//
	// +optional
	DelayPerRequestMicroseconds *int64 `json:"delayPerRequestMicroseconds,omitempty"`

	// addedPerMillion is the greatest share of the mean latency that the client can
	// have added, in parts per million. Absent: not known.
	//
	// +optional
	AddedPerMillion *int64 `json:"addedPerMillion,omitempty"`

	// busiestLoopPercent is the share of the window in which the busiest event
	// loop did not wait for events. Only the transport Fast has event loops.
	//
	// +optional
	BusiestLoopPercent *int32 `json:"busiestLoopPercent,omitempty"`
}

// Saturation says that the target did not keep up with an open loop: requests
// waited for a free client, although the client was not the limit.
type Saturation struct {
	// lackingRequests is how many requests were due in the window and still waited
	// for a free client when it ended.
	//
	// +optional
	LackingRequests int64 `json:"lackingRequests"`

	// backlogWaitP50Microseconds is how long the median request waited for a free
	// client.
	//
	// +optional
	BacklogWaitP50Microseconds int64 `json:"backlogWaitP50Microseconds"`

	// busyClients is how many clients the rate keeps busy on average: the rate
	// times the mean service time.
	//
	// +optional
	BusyClients int64 `json:"busyClients"`

	// message says what was found.
	//
	// +required
	// +kubebuilder:validation:MaxLength=512
	Message string `json:"message"`

	// change says what to do about it.
	//
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Change string `json:"change,omitempty"`
}

// ValidityReason is one reason of a verdict.
type ValidityReason struct {
	// cause is Throttled, Busy, Loop, Delayed, Late or Unread.
	//
	// +required
	Cause ValidityCause `json:"cause"`

	// message says what was found.
	//
	// +required
	// +kubebuilder:validation:MaxLength=512
	Message string `json:"message"`

	// change says what to do about it.
	//
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Change string `json:"change,omitempty"`
}
