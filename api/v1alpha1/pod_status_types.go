package v1alpha1

// ResultRoad is the way by which a pod's final result came.
//
// +kubebuilder:validation:Enum=None;Scrape;TerminationMessage
type ResultRoad string

const (
	// RoadNone means that no final result came.
	RoadNone ResultRoad = "None"
	// RoadScrape means that the final result was read from the pod's metrics.
	RoadScrape ResultRoad = "Scrape"
	// RoadTerminationMessage means that it was read from the pod's termination message.
	RoadTerminationMessage ResultRoad = "TerminationMessage"
)

// PodStatus is one client pod.
type PodStatus struct {
	// index of the pod in the Job.
	//
	// +required
	Index int32 `json:"index"`

	// name of the pod.
	//
	// +optional
	Name string `json:"name,omitempty"`

	// node that the pod ran on.
	//
	// +optional
	Node string `json:"node,omitempty"`

	// stage that the pod last reported.
	//
	// +optional
	Stage string `json:"stage,omitempty"`

	// road by which the pod's final result came: Scrape, TerminationMessage
	// or None.
	//
	// +optional
	Road ResultRoad `json:"road,omitempty"`

	// partial is true if what is counted of this pod is not its final result.
	//
	// +optional
	Partial bool `json:"partial,omitempty"`

	// measuredRequests of this pod.
	//
	// +optional
	MeasuredRequests int64 `json:"measuredRequests"`

	// startSkewMicroseconds is how long after startAt the pod started.
	//
	// +optional
	StartSkewMicroseconds int64 `json:"startSkewMicroseconds,omitempty"`

	// clockOffsetMicroseconds is how far the pod's wall clock is at least ahead
	// of the operator's, or, if it is less than 0, behind it. Absent: the pod
	// could not be scraped.
	//
	// +optional
	ClockOffsetMicroseconds *int64 `json:"clockOffsetMicroseconds,omitempty"`

	// keysDeleted is true once the pod reported that its keys are gone.
	//
	// +optional
	KeysDeleted bool `json:"keysDeleted,omitempty"`

	// lastResult is the last result that the operator scraped from a pod that is
	// gone, encoded as a termination message. It survives a restart of the
	// operator, and is removed when the run has finished and summary includes it.
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
