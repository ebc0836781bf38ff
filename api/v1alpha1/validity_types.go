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
// +kubebuilder:validation:Enum=Throttled;Busy;Delayed;Late;Unread
type ValidityCause string

const (
	// CauseThrottled: a client pod was throttled for over 1 % of the window,
	// averaged over the processors that it uses at a time.
	CauseThrottled ValidityCause = "Throttled"
	// CauseBusy: a client pod used over 85 % of the processor time that it may
	// use.
	CauseBusy ValidityCause = "Busy"
	// CauseDelayed: work of a client pod waited too long for a processor.
	CauseDelayed ValidityCause = "Delayed"
	// CauseLate: requests were sent too long after they were due.
	CauseLate ValidityCause = "Late"
	// CauseUnread: numbers that are needed for a verdict could not be read.
	CauseUnread ValidityCause = "Unread"
)

// SharedWithMembers is what client pods shared with members of the target.
//
// +kubebuilder:validation:Enum=Node;Process
type SharedWithMembers string

const (
	// SharedNode: a client pod ran on the node of a member.
	SharedNode SharedWithMembers = "Node"
	// SharedProcess: the members were embedded in the client's process.
	SharedProcess SharedWithMembers = "Process"
)

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

	// threadDelayMeanMicroseconds is how long runnable threads waited for a
	// processor, on average.
	//
	// +optional
	ThreadDelayMeanMicroseconds *int64 `json:"threadDelayMeanMicroseconds,omitempty"`
}

// ValidityReason is one reason of a verdict.
type ValidityReason struct {
	// cause is Throttled, Busy, Delayed, Late or Unread.
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
