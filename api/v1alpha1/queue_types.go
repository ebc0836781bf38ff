package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ConcurrentRuns says what a run does while another one goes on against its
// target.
//
// +kubebuilder:validation:Enum=Queue;Allow
type ConcurrentRuns string

const (
	// ConcurrentRunsQueue waits until no other run goes on.
	ConcurrentRunsQueue ConcurrentRuns = "Queue"
	// ConcurrentRunsAllow starts whatever else loads the target.
	ConcurrentRunsAllow ConcurrentRuns = "Allow"
)

// StageQueued: another run goes on against the same target; status.queue says
// which. It comes after Pending, or, where two runs find out that their
// addresses lead to one cluster, after Preparing and before any write.
const StageQueued = "Queued"

// QueueStatus is a run's place among those that wait for one target.
type QueueStatus struct {
	// position in the queue: 1 is next.
	//
	// +required
	// +kubebuilder:validation:Minimum=1
	Position int32 `json:"position"`

	// behind is the run in front, as namespace/name: the one that goes on, or
	// that waits, too.
	//
	// +required
	// +kubebuilder:validation:MaxLength=317
	Behind string `json:"behind"`

	// sameCluster is true if the two have no address in common and yet load one
	// cluster, as its ID shows.
	//
	// +optional
	SameCluster bool `json:"sameCluster,omitempty"`
}

// Admission is when a run left the queue.
type Admission struct {
	// at is when it did; spec.timeoutSeconds counts from here. A run that had to
	// queue once more, behind one on the same cluster, left it then.
	//
	// +required
	At metav1.MicroTime `json:"at"`

	// confirmedAt is when the client pods were let write: no other run, under
	// whatever addresses, loaded the same cluster then. Absent: they write nothing.
	// Of a run with target.concurrentRuns: Allow it is when the first of them ran.
	//
	// +optional
	ConfirmedAt *metav1.MicroTime `json:"confirmedAt,omitempty"`
}
