package v1alpha1

import "github.com/etcdbench/etcd-benchmark-operator/api/spec"

// MaxLogLines is how many lines of a kind are kept of a member's log.
const MaxLogLines = 20

// MemberLog has the lines of one kind that a member wrote to its log in the
// window.
type MemberLog struct {
	// kind is Election, Snapshot, SlowFlush or SlowApply.
	//
	// +required
	Kind spec.LogKind `json:"kind"`

	// count is how many lines the member wrote.
	//
	// +required
	Count int64 `json:"count"`

	// lines are the first of them.
	//
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=20
	Lines []LogLine `json:"lines,omitempty"`
}

// LogLine is a line of a log.
type LogLine struct {
	// atMicroseconds is the time since the start of the window.
	//
	// +optional
	AtMicroseconds int64 `json:"atMicroseconds"`

	// text of the line. Absent in a report without names.
	//
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Text string `json:"text,omitempty"`
}
