package lifecycle

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
)

// Decision is what happens next to a run.
type Decision struct {
	// Stage and Message go into Finished=False. They are unused if Finish is set or the run had already finished.
	Stage, Message string
	// Endpoints, if any, are saved in status.
	Endpoints []string
	// Nodes and NotReady go with Endpoints.
	Nodes    []string
	NotReady int
	// Queue is the run's place in the queue; nil if it does not wait.
	Queue *v1alpha1.QueueStatus
	// Members, if set, are saved in status when all are ready.
	Members *v1alpha1.EphemeralStatus
	// Admission, if set, is saved in status.
	Admission *v1alpha1.Admission
	// StartAt, if set, is saved in status before any pod reads it.
	StartAt *metav1.MicroTime
	// Ending, if set, is saved in status and never changes after that.
	Ending *v1alpha1.Ending
	// Finish, if set, ends the run with its final results.
	Finish *Problem
	// Cleaned, if set, is the new condition Cleaned.
	Cleaned *Cleaned
	// Actions are executed in this order.
	Actions []Action
	// Notes are recorded as events before the actions, because the object may be gone after them.
	Notes []Note
	// Requeue is the delay until the next decision; 0 if only an event can change it.
	Requeue time.Duration
}

// Problem is a reason of the condition Finished with its message.
type Problem struct{ Reason, Message string }

// Cleaned is the content of the condition Cleaned.
type Cleaned struct {
	Status          metav1.ConditionStatus
	Reason, Message string
}

// Note is an event for users that no condition reports.
type Note struct{ Reason, Message string }

// Act is a kind of action.
type Act string

// The kinds of action.
const (
	// AddFinalizer keeps the object until its keys are deleted.
	AddFinalizer Act = "AddFinalizer"
	// CreateMembers creates the Job and the Service of the run's own members.
	CreateMembers Act = "CreateMembers"
	// DeleteMembers deletes them with their volume claims.
	DeleteMembers Act = "DeleteMembers"
	// ApplyPlan writes the ConfigMap with the plan; it can be repeated.
	ApplyPlan Act = "ApplyPlan"
	// CreateJob creates the load Job, once.
	CreateJob Act = "CreateJob"
	// Annotate sets Action.Annotations on the pod Action.Pod.
	Annotate Act = "Annotate"
	// Start is Annotate with the common start. It requires a status that is up to date.
	Start Act = "Start"
	// DeleteJob deletes the load Job with its pods.
	DeleteJob Act = "DeleteJob"
	// NameCleanup chooses the name of the Job that deletes the remaining keys.
	NameCleanup Act = "NameCleanup"
	// CreateCleanup creates that Job. Status has its name, so that retries do not create another one.
	CreateCleanup Act = "CreateCleanup"
	// DeleteCleanup deletes that Job with its pods.
	DeleteCleanup Act = "DeleteCleanup"
	// RemoveFinalizer allows the deletion of the object.
	RemoveFinalizer Act = "RemoveFinalizer"
	// DeleteRun deletes the object when its TTL has expired.
	DeleteRun Act = "DeleteRun"
)

// Action is one thing to do.
type Action struct {
	Act Act
	// Pod and Annotations are set for Annotate and Start.
	Pod         string
	Annotations map[string]string
	// PodTimeout is set for CreateCleanup: how long the Job waits while a client pod shows that it lives.
	PodTimeout time.Duration
}

func (d *Decision) do(acts ...Act) {
	for _, a := range acts {
		d.Actions = append(d.Actions, Action{Act: a})
	}
}

// wake requests another decision at this time, unless an earlier one is already requested.
func (d *Decision) wake(at, now time.Time) {
	// 0 means never, so the minimum is a millisecond.
	after := max(at.Sub(now), time.Millisecond)
	if d.Requeue == 0 || after < d.Requeue {
		d.Requeue = after
	}
}
