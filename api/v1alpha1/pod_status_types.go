package v1alpha1

// ResultSource is how a pod's final result arrived.
//
// +kubebuilder:validation:Enum=None;Scrape;TerminationMessage
type ResultSource string

const (
	// SourceNone means that no final result arrived.
	SourceNone ResultSource = "None"
	// SourceScrape means that the final result was read from the pod's metrics.
	SourceScrape ResultSource = "Scrape"
	// SourceTerminationMessage means that the final result was read from the pod's
	// termination message.
	SourceTerminationMessage ResultSource = "TerminationMessage"
)

// PodStatus is one client pod.
type PodStatus struct {
	// index is the number of the pod in the Job, from 0.
	//
	// +required
	Index int32 `json:"index"`

	// name of the pod.
	//
	// +optional
	Name string `json:"name,omitempty"`

	// node is where the pod ran.
	//
	// +optional
	Node string `json:"node,omitempty"`

	// stage is the last stage that the pod reported.
	//
	// +optional
	Stage string `json:"stage,omitempty"`

	// source is how the pod's final result arrived: Scrape, TerminationMessage or
	// None.
	//
	// +optional
	Source ResultSource `json:"source,omitempty"`

	// partial is true if the numbers of this pod are not its final result.
	//
	// +optional
	Partial bool `json:"partial,omitempty"`

	// measuredRequests is how many requests of the measured window are this pod's.
	//
	// +optional
	MeasuredRequests int64 `json:"measuredRequests"`

	// startSkewMicroseconds is how long after startAt the pod started.
	//
	// +optional
	StartSkewMicroseconds int64 `json:"startSkewMicroseconds,omitempty"`

	// clockOffsetMicroseconds is how far the pod's wall clock is at least ahead of
	// the operator's. Below 0: behind it. Absent: the pod could not be scraped.
	//
	// +optional
	ClockOffsetMicroseconds *int64 `json:"clockOffsetMicroseconds,omitempty"`

	// keysDeleted is true when the pod has reported that its keys are deleted.
	//
	// +optional
	KeysDeleted bool `json:"keysDeleted,omitempty"`

	// disk is the disk that the pod measured, with target.disk.
	//
	// +optional
	Disk *DiskStatus `json:"disk,omitempty"`

	// lastResult is the last result that the operator scraped from a lost pod,
	// encoded as a termination message. It survives a restart of the operator. It
	// is removed when the run has finished and summary includes it. At most 200
	// pods of a run have one.
	//
	// +optional
	// +kubebuilder:validation:MaxLength=3000
	LastResult string `json:"lastResult,omitempty"`

	// message says what went wrong in this pod.
	//
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	Message string `json:"message,omitempty"`
}

// DiskStatus is the disk that a client pod measured.
type DiskStatus struct {
	// device of the mount.
	//
	// +optional
	// +kubebuilder:validation:MaxLength=256
	Device string `json:"device,omitempty"`

	// fileSystem of the mount.
	//
	// +optional
	// +kubebuilder:validation:MaxLength=64
	FileSystem string `json:"fileSystem,omitempty"`

	// options of the mount.
	//
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	Options string `json:"options,omitempty"`

	// flushP50Microseconds is the median of fdatasync. Absent: too few flushes are
	// above it, or it falls on one that failed or did not end.
	//
	// +optional
	FlushP50Microseconds int64 `json:"flushP50Microseconds,omitempty"`

	// flushP99Microseconds is its 99th percentile, absent like the median.
	//
	// +optional
	FlushP99Microseconds int64 `json:"flushP99Microseconds,omitempty"`

	// flushMaxMicroseconds is its maximum, of the flushes that ended.
	//
	// +optional
	FlushMaxMicroseconds int64 `json:"flushMaxMicroseconds,omitempty"`
}
