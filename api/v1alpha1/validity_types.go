package v1alpha1

// ValidityVerdict says whether a result is one of the target or one of its
// client.
//
// +kubebuilder:validation:Enum=Valid;ClientBound;Unknown
type ValidityVerdict string

const (
	// ValidityValid: nothing that was looked at shows the client in the result.
	ValidityValid ValidityVerdict = "Valid"
	// ValidityClientBound: the client was itself a limit.
	ValidityClientBound ValidityVerdict = "ClientBound"
	// ValidityUnknown: what would tell could not be read.
	ValidityUnknown ValidityVerdict = "Unknown"
)

// ValidityCause is what shows that the client was a limit, or keeps from
// knowing.
//
// +kubebuilder:validation:Enum=Throttled;Busy;Delayed;Late;Unread
type ValidityCause string

const (
	// CauseThrottled: a client pod was throttled for over 1 % of the window, on
	// average of the processors that it uses at a time.
	CauseThrottled ValidityCause = "Throttled"
	// CauseBusy: a client pod used over 85 % of the processor time that it may use.
	CauseBusy ValidityCause = "Busy"
	// CauseDelayed: work of a client pod waited too long for a processor.
	CauseDelayed ValidityCause = "Delayed"
	// CauseLate: requests were sent too long after they were due.
	CauseLate ValidityCause = "Late"
	// CauseUnread: something that would tell could not be read.
	CauseUnread ValidityCause = "Unread"
)

// SharedWithMembers is what client pods had in common with members of the
// target.
//
// +kubebuilder:validation:Enum=Node;Process
type SharedWithMembers string

const (
	// SharedNode: a client pod ran on the node of a member.
	SharedNode SharedWithMembers = "Node"
	// SharedProcess: the members were embedded in the client's process.
	SharedProcess SharedWithMembers = "Process"
)

// Validity says whether a result is one of the target or one of its client. Its
// numbers are of the measured window, and those of the pod that is worst off;
// one that is absent is not known of all pods.
type Validity struct {
	// verdict is Valid, ClientBound (the client was itself a limit: the target
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

	// shared is what client pods had in common with members: Node or Process.
	// Absent: nothing, or it is not known.
	//
	// +optional
	Shared SharedWithMembers `json:"shared,omitempty"`

	// cpuPercent is the used part of the processor time that a client pod may
	// use: its CPU limit, or the processors that Go uses if these are fewer or there
	// is no limit.
	//
	// +optional
	CPUPercent *int32 `json:"cpuPercent,omitempty"`

	// garbageCollectionPercent is the part of the used processor time that went
	// into collecting garbage.
	//
	// +optional
	GarbageCollectionPercent *int32 `json:"garbageCollectionPercent,omitempty"`

	// throttledMicroseconds is for how long a client pod was throttled, added up
	// over its processors.
	//
	// +optional
	ThrottledMicroseconds *int64 `json:"throttledMicroseconds,omitempty"`

	// goroutineDelayP99Microseconds is the 99th percentile of how long work that
	// could go on waited for a thread.
	//
	// +optional
	GoroutineDelayP99Microseconds *int64 `json:"goroutineDelayP99Microseconds,omitempty"`

	// threadDelayMeanMicroseconds is how long threads that could run waited for
	// a processor, on average.
	//
	// +optional
	ThreadDelayMeanMicroseconds *int64 `json:"threadDelayMeanMicroseconds,omitempty"`
}

// ValidityReason is one ground of a verdict.
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
