package lifecycle

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
)

// Decision is what happens next to a run.
type Decision struct {
	// Stage and Message are of Finished=False; unused once Finish is set or the
	// run has finished before.
	Stage, Message string
	// Endpoints, if any, are to be kept in status.
	Endpoints []string
	// Nodes go with Endpoints.
	Nodes []string
	// Queue is the run's place among those that wait, nil if it does not.
	Queue *v1alpha1.QueueStatus
	// Admission, if set, is to be kept in status.
	Admission *v1alpha1.Admission
	// StartAt, if set, is the start to be kept in status before a pod sees it.
	StartAt *metav1.MicroTime
	// Ending, if set, is to be kept in status for good.
	Ending *v1alpha1.Ending
	// Finish, if set, ends the run: the results are final.
	Finish *Problem
	// Cleaned, if set, is the new condition of that name.
	Cleaned *Cleaned
	// Actions are to be taken in this order.
	Actions []Action
	// Notes are to be told as events before the actions are taken, which may be for
	// good.
	Notes []Note
	// Requeue is after what time to ask again, 0 if only an event can change
	// the decision.
	Requeue time.Duration
}

// Problem is a reason of the condition Finished with its message.
type Problem struct{ Reason, Message string }

// Cleaned is what the condition of that name is to say.
type Cleaned struct {
	Status          metav1.ConditionStatus
	Reason, Message string
}

// Note is something that people must hear of and that no condition says.
type Note struct{ Reason, Message string }

// Act is a kind of action.
type Act string

// The kinds of action.
const (
	// AddFinalizer holds the object until its keys are deleted.
	AddFinalizer Act = "AddFinalizer"
	// ApplyPlan writes the ConfigMap with the plan; it may be done again.
	ApplyPlan Act = "ApplyPlan"
	// CreateJob creates the load Job, once.
	CreateJob Act = "CreateJob"
	// Annotate sets Action.Annotations on the pod Action.Pod.
	Annotate Act = "Annotate"
	// Start is Annotate with the common start. It must not follow from a
	// status that is out of date.
	Start Act = "Start"
	// DeleteJob deletes the load Job with its pods.
	DeleteJob Act = "DeleteJob"
	// CreateCleanup creates the Job that deletes keys left behind.
	CreateCleanup Act = "CreateCleanup"
	// DeleteCleanup deletes that Job with its pods.
	DeleteCleanup Act = "DeleteCleanup"
	// RemoveFinalizer lets go of the object.
	RemoveFinalizer Act = "RemoveFinalizer"
	// DeleteRun deletes the object itself: its time to live is over.
	DeleteRun Act = "DeleteRun"
)

// Action is one thing to do.
type Action struct {
	Act Act
	// Pod and Annotations are of Annotate and Start.
	Pod         string
	Annotations map[string]string
}

func (d *Decision) do(acts ...Act) {
	for _, a := range acts {
		d.Actions = append(d.Actions, Action{Act: a})
	}
}

// wake asks for another decision at this time, or earlier if that was asked for.
func (d *Decision) wake(at, now time.Time) {
	// A moment more than nothing, since 0 means never.
	after := max(at.Sub(now), time.Millisecond)
	if d.Requeue == 0 || after < d.Requeue {
		d.Requeue = after
	}
}
