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

// Place is a run's place among the runs on its target.
type Place struct {
	// Behind is namespace/name of the run in front; empty if it is this run's turn.
	Behind string
	// Position among those that wait, from 1; 0 if it is this run's turn.
	Position int
	// SameCluster says that the run in front loads the same cluster under other
	// addresses; Unknown, that this is not known yet.
	SameCluster, Unknown bool
	// Holder is namespace/name of a run that holds one of the run's addresses, and
	// Holding what it does there; empty if none does, or once the run has been let in.
	Holder  string
	Holding Holding
}

// Holding is what a run does that holds its target, in the words of a message.
type Holding string

// What holders do.
const (
	HoldingLoads   Holding = "goes on"
	HoldingWaits   Holding = "was let in before, and has written nothing yet"
	HoldingDeletes Holding = "has yet to delete its keys"
)

// holdAfterEnd is how long a run that has ended may hold its target at most,
// while keys that it left are deleted.
const holdAfterEnd = 10 * time.Minute

// AwaitsTurn says whether a run is yet to be let into, or past, the queue of
// its target, by what its status says.
func AwaitsTurn(run *v1alpha1.EtcdBenchmark) bool {
	return isResolved(run) && !isOver(run) && !allowsOthers(run) &&
		(run.Status.Admission == nil && run.Status.Job == nil || awaitsConfirmation(run))
}

// awaitsConfirmation says that the run was let in, and that its pods may not
// write yet; of a run that allows others, that none of them has started.
func awaitsConfirmation(run *v1alpha1.EtcdBenchmark) bool {
	a := run.Status.Admission
	return a != nil && a.ConfirmedAt == nil
}

// mayWrite says that the run has pods, or will, that nobody asks to wait. Those of
// an operator that knew no queue never do.
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

// PlaceOf returns the place of a run that awaits its turn, among all runs of the
// operator. Of two runs that ask this at once, one of which the other does not
// see yet, both may be told that it is their turn: who acts on it must have asked
// alone.
func PlaceOf(run *v1alpha1.EtcdBenchmark, all []v1alpha1.EtcdBenchmark, now time.Time) Place {
	if allowsOthers(run) {
		return Place{}
	}
	if awaitsConfirmation(run) {
		return placeInCluster(run, all, now)
	}
	return placeByAddress(run, all, now)
}

// placeByAddress: whoever goes on on one of the addresses is in front, and so is
// whoever waits for one of them and was created before.
func placeByAddress(run *v1alpha1.EtcdBenchmark, all []v1alpha1.EtcdBenchmark, now time.Time) Place {
	p := Place{Position: 1}
	var last *v1alpha1.EtcdBenchmark
	for i := range all {
		other := &all[i]
		switch {
		case other.UID == run.UID || !sharesAddress(run, other):
		case holdsTarget(other, now):
			if p.Holder == "" {
				p.Holder, p.Holding = nameOf(other), holding(other)
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

// placeInCluster counts who is in front, and tells of one of them.
func placeInCluster(run *v1alpha1.EtcdBenchmark, all []v1alpha1.EtcdBenchmark, now time.Time) Place {
	var p Place
	for i := range all {
		other := &all[i]
		if !isInFront(other, run, now) {
			continue
		}
		p.Position++
		// A run on the same cluster is told of rather than one of which that is
		// not known.
		if known := knowClusters(run, other); p.Behind == "" || known && p.Unknown {
			p.Behind, p.SameCluster, p.Unknown = nameOf(other), known, !known
		}
	}
	return p
}

// isInFront says whether a run that was let in must wait for another one, which
// may have other addresses. A run that waits and has told no cluster is not in
// front: once it tells, it is behind. So one whose pods never come keeps nobody
// at other addresses waiting; at its own, the order of creation holds until it
// ends.
func isInFront(other, run *v1alpha1.EtcdBenchmark, now time.Time) bool {
	switch {
	case other.UID == run.UID, !holdsTarget(other, now):
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

// waits says whether a run stands in the queue, or will at its next step.
func waits(run *v1alpha1.EtcdBenchmark) bool {
	return run.Status.Admission == nil && AwaitsTurn(run)
}

// holdsTarget says whether a run loads its target, or is about to, or has yet to
// delete its keys.
func holdsTarget(run *v1alpha1.EtcdBenchmark, now time.Time) bool {
	s := run.Status
	if s.Admission == nil && s.Job == nil || !isResolved(run) {
		return false
	}
	if !isOver(run) {
		return true
	}
	cleaned := meta.FindStatusCondition(s.Conditions, v1alpha1.ConditionCleaned)
	return cleaned != nil && cleaned.Status == metav1.ConditionUnknown && now.Before(s.CompletionTime.Add(holdAfterEnd))
}

// holding says what a run does that holds its target.
func holding(run *v1alpha1.EtcdBenchmark) Holding {
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

// admittedBefore is a total order of all runs that were let in. One of an
// operator that knew no queue comes first.
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

// decideQueue lets a run in once nobody is in front of it. That is kept in
// status before anything is created.
func decideQueue(o Observed, now time.Time) *Decision {
	if o.status().Admission != nil || o.status().Job != nil {
		return nil
	}
	if o.Place.Behind != "" {
		return queued(o, now, fmt.Sprintf("%s; this run is number %d of those that wait. One with target.concurrentRuns: Allow waits for nobody.",
			inFront(o.Place), o.Place.Position))
	}
	return &Decision{
		Stage: v1alpha1.StagePreparing, Message: "No other run that it would have to wait for goes on at the target's addresses.",
		Admission: &v1alpha1.Admission{At: microTime(now)}, Requeue: time.Millisecond,
	}
}

// inFront says who keeps a run waiting at its addresses, and what they do.
func inFront(p Place) string {
	if p.Behind == p.Holder {
		return fmt.Sprintf("%s, which shares an address with this run, %s", p.Holder, p.Holding)
	}
	waits := fmt.Sprintf("%s, which shares an address with this run, waits too", p.Behind)
	if p.Holder == "" {
		return waits
	}
	return fmt.Sprintf("%s, and %s, which holds one of its addresses, %s", waits, p.Holder, p.Holding)
}

// decideTurn lets the pods write once nobody in front loads the same cluster.
// While no other run may write, which cluster it is need not be known; but until
// its first pod runs, the run leaves others the way.
func decideTurn(o Observed, now time.Time) *Decision {
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
		return queued(o, now, fmt.Sprintf("%s, under other addresses, loads the same etcd cluster (%s); this run is number %d of those that wait, and has written nothing.",
			o.Place.Behind, clusterOf(o.Run), o.Place.Position))
	}
	d := queued(o, now, fmt.Sprintf("It is not known yet whether %s loads the same etcd cluster; until then this run writes nothing.", o.Place.Behind))
	d.Stage = v1alpha1.StagePreparing
	return d
}

// confirmByPods keeps that the pods of a run that allows others, which ask nobody,
// may write by now: others wait for it from here on, and not for a run whose pods
// never start.
func confirmByPods(o Observed, now time.Time) *Decision {
	if !slices.ContainsFunc(o.allPods(), func(p Pod) bool { return p.Started }) {
		return nil
	}
	return confirm(o, now, "The client pods start, whatever other runs do on the target.")
}

// confirm restarts the clock of a run that had to queue.
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

// giveTurn tells the pods that may write by now that they may.
func giveTurn(o Observed) (out []Action) {
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
