package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ConcurrentRuns is what a run does while another run loads its target.
//
// +kubebuilder:validation:Enum=Queue;Allow
type ConcurrentRuns string

const (
	// ConcurrentRunsQueue waits until no other run loads the target.
	ConcurrentRunsQueue ConcurrentRuns = "Queue"
	// ConcurrentRunsAllow starts at once, even if another run loads the target.
	ConcurrentRunsAllow ConcurrentRuns = "Allow"
)

// StageQueued: another run loads the same target; status.queue names it. The
// stage follows Pending. It can also follow Preparing, before any write, if
// the addresses of two runs turn out to lead to one cluster.
const StageQueued = "Queued"

// QueueStatus is a run's place in the queue for its target.
type QueueStatus struct {
	// position in the queue. 1 is next.
	//
	// +required
	// +kubebuilder:validation:Minimum=1
	Position int32 `json:"position"`

	// behind is the run in front, as namespace/name. It loads the target, or is
	// also waiting.
	//
	// +required
	// +kubebuilder:validation:MaxLength=317
	Behind string `json:"behind"`

	// sameCluster is true if the two runs have no address in common, but the
	// cluster ID shows that they load the same cluster.
	//
	// +optional
	SameCluster bool `json:"sameCluster,omitempty"`
}

// Admission is when a run left the queue.
type Admission struct {
	// at is the time when the run left the queue. spec.timeoutSeconds counts from
	// here. If the run had to queue again, behind a run on the same cluster, it is
	// the second time.
	//
	// +required
	At metav1.MicroTime `json:"at"`

	// confirmedAt is when the client pods were allowed to write: no other run
	// loaded the same cluster then, under any address. Absent: they write nothing.
	// With target.concurrentRuns: Allow it is when the first of them ran.
	//
	// +optional
	ConfirmedAt *metav1.MicroTime `json:"confirmedAt,omitempty"`
}
