package lifecycle

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
)

// Place is a run's place in the queue of its target.
type Place struct {
	// Behind is namespace/name of the run in front; empty if this run may proceed.
	Behind string
	// Position in the queue, from 1; 0 if this run may proceed.
	Position int
	// SameCluster means that the run in front loads the same cluster at other addresses. Unknown means that the
	// operator does not know this yet.
	SameCluster, Unknown bool
	// Holder is namespace/name of a run that uses one of this run's target addresses, and Holding is what that run does.
	// Both are empty if there is no other run, or once this run has been admitted.
	Holder  string
	Holding Holding
}

// Holding is the activity of a run that uses its target, worded for a message.
type Holding string

// The values of Holding.
const (
	HoldingLoads   Holding = "is running"
	HoldingWaits   Holding = "starts before this run, and has written nothing yet"
	HoldingDeletes Holding = "has not deleted its keys yet"
)

// maxCleaningAfterEnd is how long a finished run can block its target while its remaining keys are deleted.
const maxCleaningAfterEnd = 10 * time.Minute

// AwaitsTurn reports, from the run's status, whether the run still has to enter or leave the queue of its target.
func AwaitsTurn(run *v1alpha1.EtcdBenchmark) bool {
	return isResolved(run) && !isOver(run) && !allowsOthers(run) &&
		(run.Status.Admission == nil && run.Status.Job == nil || awaitsConfirmation(run))
}

// awaitsConfirmation reports whether the run was admitted and its pods may not write yet. For a run that allows others
// it means that none of its pods has started.
func awaitsConfirmation(run *v1alpha1.EtcdBenchmark) bool {
	a := run.Status.Admission
	return a != nil && a.ConfirmedAt == nil
}

// mayWrite reports whether the run's pods may write without waiting. It is also true for runs of an operator version
// without a queue.
func mayWrite(run *v1alpha1.EtcdBenchmark) bool { return !awaitsConfirmation(run) }

func allowsOthers(run *v1alpha1.EtcdBenchmark) bool {
	return run.Spec.Target.ConcurrentRuns == v1alpha1.ConcurrentRunsAllow
}

func isResolved(run *v1alpha1.EtcdBenchmark) bool {
	return run.Status.Target != nil && len(run.Status.Target.Endpoints) > 0
}

func isOver(run *v1alpha1.EtcdBenchmark) bool {
	return meta.IsStatusConditionTrue(run.Status.Conditions, v1alpha1.ConditionFinished)
}

// PlaceOf returns the place of a waiting run among all runs of the operator. If two runs call it at once and one of
// them does not see the other yet, both may get the first place. So the caller must check one run at a time.
func PlaceOf(run *v1alpha1.EtcdBenchmark, all []v1alpha1.EtcdBenchmark, now time.Time) Place {
	if allowsOthers(run) {
		return Place{}
	}
	if awaitsConfirmation(run) {
		return placeInCluster(run, all, now)
	}
	return placeByAddress(run, all, now)
}

// placeByAddress: an active run at one of the addresses is in front, and so are the waiting runs for one of them that
// were created earlier.
func placeByAddress(run *v1alpha1.EtcdBenchmark, all []v1alpha1.EtcdBenchmark, now time.Time) Place {
	p := Place{Position: 1}
	var last *v1alpha1.EtcdBenchmark
	for i := range all {
		other := &all[i]
		switch {
		case other.UID == run.UID || !sharesAddress(run, other):
		case occupiesTarget(other, now):
			if p.Holder == "" {
				p.Holder, p.Holding = nameOf(other), activityOf(other)
			}
		case waits(other) && createdBefore(other, run):
			p.Position++
			if last == nil || createdBefore(last, other) {
				last = other
			}
		}
	}
	p.Behind = p.Holder
	if last != nil {
		p.Behind = nameOf(last)
	}
	if p.Behind == "" {
		p.Position = 0
	}
	return p
}

// placeInCluster counts the runs in front and names one of them.
func placeInCluster(run *v1alpha1.EtcdBenchmark, all []v1alpha1.EtcdBenchmark, now time.Time) Place {
	var p Place
	for i := range all {
		other := &all[i]
		if !isInFront(other, run, now) {
			continue
		}
		p.Position++
		// A run that is known to be on the same cluster is named before a run whose cluster is unknown.
		if known := knowClusters(run, other); p.Behind == "" || known && p.Unknown {
			p.Behind, p.SameCluster, p.Unknown = nameOf(other), known, !known
		}
	}
	return p
}

// isInFront reports whether an admitted run must wait for another run, possibly at other addresses. A waiting run with
// an unknown cluster is not in front; it queues behind this run when its cluster becomes known. So a run whose pods
// never start does not block runs at other addresses. At its own addresses, the order of creation applies until it
// ends.
func isInFront(other, run *v1alpha1.EtcdBenchmark, now time.Time) bool {
	switch {
	case other.UID == run.UID, !occupiesTarget(other, now):
		return false
	case !knowClusters(run, other):
		return mayWrite(other)
	case clusterOf(other) != clusterOf(run):
		return false
	case mayWrite(other):
		return true
	}
	return admittedBefore(other, run)
}

func knowClusters(a, b *v1alpha1.EtcdBenchmark) bool { return clusterOf(a) != "" && clusterOf(b) != "" }

// waits reports whether a run is in the queue or will enter it at its next step.
func waits(run *v1alpha1.EtcdBenchmark) bool {
	return run.Status.Admission == nil && AwaitsTurn(run)
}

// occupiesTarget reports whether a run loads its target, is about to, or has not deleted its keys yet.
func occupiesTarget(run *v1alpha1.EtcdBenchmark, now time.Time) bool {
	s := run.Status
	if s.Admission == nil && s.Job == nil || !isResolved(run) {
		return false
	}
	if !isOver(run) {
		return true
	}
	cleaned := meta.FindStatusCondition(s.Conditions, v1alpha1.ConditionCleaned)
	return cleaned != nil && cleaned.Status == metav1.ConditionUnknown && now.Before(s.CompletionTime.Add(maxCleaningAfterEnd))
}

// activityOf returns what a run does at its target.
func activityOf(run *v1alpha1.EtcdBenchmark) Holding {
	switch {
	case isOver(run):
		return HoldingDeletes
	case !mayWrite(run):
		return HoldingWaits
	}
	return HoldingLoads
}

func sharesAddress(a, b *v1alpha1.EtcdBenchmark) bool {
	if !isResolved(a) || !isResolved(b) {
		return false
	}
	return slices.ContainsFunc(a.Status.Target.Endpoints, func(e string) bool {
		return slices.ContainsFunc(b.Status.Target.Endpoints, func(other string) bool { return strings.EqualFold(e, other) })
	})
}

func clusterOf(run *v1alpha1.EtcdBenchmark) string {
	if run.Status.Target == nil {
		return ""
	}
	return run.Status.Target.ClusterID
}

func nameOf(run *v1alpha1.EtcdBenchmark) string { return run.Namespace + "/" + run.Name }

// createdBefore is a total order of all runs.
func createdBefore(a, b *v1alpha1.EtcdBenchmark) bool {
	return cmp.Or(
		a.CreationTimestamp.Compare(b.CreationTimestamp.Time),
		cmp.Compare(nameOf(a), nameOf(b)),
		cmp.Compare(a.UID, b.UID),
	) < 0
}

// admittedBefore is a total order of all admitted runs. Runs of an operator version without a queue come first.
func admittedBefore(a, b *v1alpha1.EtcdBenchmark) bool {
	if order := admittedAt(a).Compare(admittedAt(b)); order != 0 {
		return order < 0
	}
	return createdBefore(a, b)
}

func admittedAt(run *v1alpha1.EtcdBenchmark) time.Time {
	if run.Status.Admission == nil {
		return time.Time{}
	}
	return run.Status.Admission.At.Time
}

// decideQueue admits a run when no other run is in front of it. Status holds the admission before any object is
// created.
func decideQueue(o Observed, now time.Time) *Decision {
	if o.status().Admission != nil || o.status().Job != nil {
		return nil
	}
	if o.Place.Behind != "" {
		return queued(o, now, fmt.Sprintf("%s. This run is number %d in the queue. To start without waiting, create the run with target.concurrentRuns: Allow.",
			inFront(o.Place), o.Place.Position))
	}
	return &Decision{
		Stage: v1alpha1.StagePreparing, Message: "This run need not wait for a run that has a target address in common with it.",
		Admission: &v1alpha1.Admission{At: microTime(now)}, Requeue: time.Millisecond,
	}
}

// inFront describes the run in front, what it does, and the run that uses the target.
func inFront(p Place) string {
	if p.Behind == p.Holder {
		return fmt.Sprintf("Run %s has a target address in common with this run and %s", p.Holder, p.Holding)
	}
	waits := fmt.Sprintf("Run %s has a target address in common with this run and also waits", p.Behind)
	if p.Holder == "" {
		return waits
	}
	return fmt.Sprintf("%s. Run %s has one too and %s", waits, p.Holder, p.Holding)
}

// decideConfirmation allows the pods to write when no run in front loads the same cluster. If no other run may write,
// the cluster need not be known. Until the run's first pod is running, the run does not block others.
func decideConfirmation(o Observed, now time.Time) *Decision {
	switch {
	case !awaitsConfirmation(o.Run):
		return nil
	case allowsOthers(o.Run):
		return confirmByPods(o, now)
	case o.Pods[0].State != PodRunning:
		return nil
	case o.Place.Behind == "":
		return confirm(o, now, "No other run loads the same etcd cluster.")
	case o.Place.SameCluster:
		return queued(o, now, fmt.Sprintf("Run %s loads the same etcd cluster (%s) at other addresses. This run is number %d in the queue and has written nothing.",
			o.Place.Behind, clusterOf(o.Run), o.Place.Position))
	}
	d := queued(o, now, fmt.Sprintf("The operator does not know yet whether run %s loads the same etcd cluster. This run writes nothing until the operator knows.", o.Place.Behind))
	d.Stage = v1alpha1.StagePreparing
	return d
}

// confirmByPods records that the pods of a run that allows others may write by now. From here on other runs wait for
// it. A run whose pods never start blocks no other run.
func confirmByPods(o Observed, now time.Time) *Decision {
	if !slices.ContainsFunc(o.allPods(), func(p Pod) bool { return p.Started }) {
		return nil
	}
	return confirm(o, now, "The client pods start without waiting for other runs on the target (target.concurrentRuns: Allow).")
}

// confirm restarts the timeout of a run that had to queue.
func confirm(o Observed, now time.Time, message string) *Decision {
	a := *o.status().Admission
	a.ConfirmedAt = new(microTime(now))
	if o.status().Queue != nil {
		a.At = *a.ConfirmedAt
	}
	return &Decision{Stage: v1alpha1.StagePreparing, Message: message, Admission: &a, Requeue: time.Millisecond}
}

func queued(o Observed, now time.Time, message string) *Decision {
	d := &Decision{
		Stage: v1alpha1.StageQueued, Message: message,
		Queue: &v1alpha1.QueueStatus{Position: int32(o.Place.Position), Behind: o.Place.Behind, SameCluster: o.Place.SameCluster},
	}
	d.wake(nextCheck(o, now), now)
	return d
}

// allowWrites sets the annotation on the pods that may write now.
func allowWrites(o Observed) (out []Action) {
	if o.status().Admission == nil || !mayWrite(o.Run) || allowsOthers(o.Run) {
		return nil
	}
	for _, p := range o.Pods {
		if p.State == PodRunning && !p.Turn {
			out = append(out, Action{Act: Annotate, Pod: p.Name, Annotations: map[string]string{plan.AnnotationTurn: "true"}})
		}
	}
	return out
}

func microTime(t time.Time) metav1.MicroTime {
	return metav1.NewMicroTime(t.Truncate(time.Microsecond))
}
