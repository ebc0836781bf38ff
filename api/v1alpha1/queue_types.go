package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ConcurrentRuns is what a run does while another run loads its target.
//
// +kubebuilder:validation:Enum=Queue;Allow
type ConcurrentRuns string

const (
	// ConcurrentRunsQueue waits until the run holds the lock of the target, which
	// one run at a time holds.
	ConcurrentRunsQueue ConcurrentRuns = "Queue"
	// ConcurrentRunsAllow starts at once, even if another run loads the target.
	// Runs that start later wait for it.
	ConcurrentRunsAllow ConcurrentRuns = "Allow"
)

// StageQueued: the run waits for other runs on its target or in its namespace.
// The stage follows Pending. It can also follow Preparing, before any write, if another run holds
// the lock of the target.
const StageQueued = "Queued"

// QueueCause is what a run waits for.
//
// +kubebuilder:validation:Enum=Addresses;Lock;Limit
type QueueCause string

const (
	// QueueAddresses: runs in front have an address in common with this run.
	QueueAddresses QueueCause = "Addresses"
	// QueueLock: another run holds the lock of the target. It may have been
	// started elsewhere: by another operator, or with run --local.
	QueueLock QueueCause = "Lock"
	// QueueLimit: the namespace already runs the maximum number of runs that the
	// operator's configuration sets.
	QueueLimit QueueCause = "Limit"
)

// QueueState is how far a run has come in the queues of its target.
type QueueState struct {
	// createdVersion is the object's resourceVersion when the operator first
	// handled the run. Runs that were created in the same second queue in this
	// order.
	//
	// +optional
	// +kubebuilder:validation:MaxLength=64
	CreatedVersion string `json:"createdVersion,omitempty"`

	// queue is what the run waits for. Absent: the run does not wait for others.
	//
	// +optional
	Queue *QueueStatus `json:"queue,omitempty"`

	// admission is when the run left the queue. It is written before anything is
	// created for the run.
	//
	// +optional
	Admission *Admission `json:"admission,omitempty"`
}

// QueueStatus says what a run waits for. It is written when the wait for one
// cause begins.
type QueueStatus struct {
	// waitsFor is Addresses while runs in front have an address in common with
	// this run, Lock while another run holds the lock of the target, and Limit
	// while the namespace runs the maximum number of runs.
	//
	// +required
	WaitsFor QueueCause `json:"waitsFor"`

	// since is when the wait began.
	//
	// +required
	Since metav1.Time `json:"since"`

	// ahead is how many runs were in front when the wait began. Absent if this
	// run does not wait for addresses.
	//
	// +optional
	// +kubebuilder:validation:Minimum=1
	Ahead int32 `json:"ahead,omitempty"`

	// behind is the name of the run that was in front when the wait began.
	// Absent if it is in another namespace, or not known.
	//
	// +optional
	// +kubebuilder:validation:MaxLength=253
	Behind string `json:"behind,omitempty"`
}

// Admission is when a run left the queue.
type Admission struct {
	// at is when the run left the queue of its addresses. spec.timeoutSeconds
	// counts from here. If the run then had to wait for the lock of the target,
	// it is when it got the lock.
	//
	// +required
	At metav1.MicroTime `json:"at"`

	// lockedAt is when the operator learned that the run holds the lock of its
	// target, and allowed the client pods to write. Absent: they write nothing
	// yet, or the run does not wait for others (target.concurrentRuns: Allow).
	//
	// +optional
	LockedAt *metav1.MicroTime `json:"lockedAt,omitempty"`

	// undeleted is how many finished runs at the addresses of this run were not
	// known to have deleted their keys when it left the queue. Such a run holds up
	// others only for its spec.schedulingTimeoutSeconds. Its keys may be deleted
	// while this run measures, which a warning in the summary says. Absent: 0, or
	// the run does not wait for others (target.concurrentRuns: Allow).
	//
	// +optional
	Undeleted int32 `json:"undeleted,omitempty"`
}
