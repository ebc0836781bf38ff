package lifecycle

import (
	"fmt"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
)

// step is one link of a chain: it returns nil where it does not apply.
type step func(Observed, time.Time) *Decision

// Decide returns what happens next. A run that completed is finished before
// anything is looked for that could end it early: a stop that comes after the
// last result changes nothing.
func Decide(o Observed, now time.Time) Decision {
	return firstOf(o, now, decideOverdue, decideAftermath, decideCompleted, decidePartlyCompleted, decideEnding,
		decideResolve, decideQueue, decideCreate, decideTurn, decideGather, decideArm, decideStart, decideRun)
}

// firstOf ends at decideRun at the latest, which applies always.
func firstOf(o Observed, now time.Time, chain ...step) Decision {
	for _, s := range chain {
		if d := s(o, now); d != nil {
			d.Stage = later(o.stage(), d.Stage)
			return *d
		}
	}
	return Decision{Stage: o.stage()}
}

// decideCompleted finishes a run whose pods have all done their part. When time
// is over, pods that only delete keys any more have done it, too: no number is
// missing, and the aftermath sees to the keys.
func decideCompleted(o Observed, now time.Time) *Decision {
	if o.status().StartAt == nil || o.endsForGood() || !o.everyPod(Pod.HasWholeResult) {
		return nil
	}
	message := fmt.Sprintf("All %d client pods did their part and reported.", len(o.Pods))
	if !o.everyPod(Pod.isFinal) {
		if now.Before(cleansUntil(o)) {
			return nil
		}
		message = fmt.Sprintf("All %d client pods measured their part and reported; %s they were still deleting the run's keys, which goes on.",
			len(o.Pods), whenLate(o, now))
	}
	return finish(o, Problem{v1alpha1.ReasonCompleted, message + stopNote(o)})
}

// whenLate says why a run waits no longer for its keys.
func whenLate(o Observed, now time.Time) string {
	if e := o.status().Ending; e != nil {
		return fmt.Sprintf("%s after they were to stop", now.Sub(e.Since.Time).Truncate(time.Second))
	}
	return fmt.Sprintf("at spec.timeoutSeconds (%d)", o.spec().TimeoutSeconds)
}

// decideResolve keeps the target's addresses before anything is made from
// them, so that every try to write the plan writes the same.
func decideResolve(o Observed, now time.Time) *Decision {
	if o.resolved() {
		return nil
	}
	d := &Decision{Stage: v1alpha1.StagePending, Message: o.Target.Missing, Endpoints: o.Target.Endpoints, Nodes: o.Target.Nodes}
	if len(o.Target.Endpoints) > 0 {
		d.Message = "The target's addresses are " + strings.Join(o.Target.Endpoints, ", ") + "."
	}
	d.wake(now.Add(resolveEvery), now)
	return d
}

func decideCreate(o Observed, now time.Time) *Decision {
	if o.status().Job != nil {
		return nil
	}
	d := &Decision{Stage: v1alpha1.StagePreparing, Message: fmt.Sprintf("Starting %d client pods.", len(o.Pods))}
	d.do(AddFinalizer, ApplyPlan, CreateJob)
	d.wake(now.Add(heartbeat), now)
	return d
}

// decideGather waits until all pods are ready, or carry a start already.
func decideGather(o Observed, now time.Time) *Decision {
	ready := o.countPods(Pod.isReady)
	if o.status().StartAt != nil || ready == len(o.Pods) {
		return nil
	}
	d := &Decision{
		Stage:   v1alpha1.StagePreparing,
		Message: fmt.Sprintf("%d of %d client pods are ready to start; %s.", ready, len(o.Pods), firstNotReady(o)),
		Actions: append(dismiss(o.Strangers), giveTurn(o)...),
	}
	d.wake(nextCheck(o, now), now)
	return d
}

// firstNotReady: one pod is enough to see what the run waits for.
func firstNotReady(o Observed) string {
	p := o.Pods[firstPod(o, func(p Pod) bool { return !p.isReady() })]
	return p.String() + " " + whyNotReady(p)
}

// decideArm chooses the common start. One that status holds already is replaced
// only if it has passed and a live list shows no pod that carries it.
func decideArm(o Observed, now time.Time) *Decision {
	at := o.status().StartAt
	if at != nil && (at.After(now) || !o.PodsLive || o.countPods(Pod.carriesStart) > 0) {
		return nil
	}
	ahead := lead(o.spec().Load.Pods)
	if at != nil {
		ahead += leadAfterMiss(now.Sub(at.Time))
	}
	start := metav1.NewMicroTime(now.Add(ahead).Truncate(time.Microsecond))
	return &Decision{
		Stage:   v1alpha1.StageArmed,
		Message: fmt.Sprintf("All %d client pods are ready; they start at %s.", len(o.Pods), FormatStart(start)),
		StartAt: &start,
		Requeue: time.Millisecond,
	}
}

// decideStart tells the start to the pods that do not know it. One that reads
// a start of the past begins at once, and reports how late it was.
func decideStart(o Observed, now time.Time) *Decision {
	at := FormatStart(*o.status().StartAt)
	d := &Decision{Stage: v1alpha1.StageArmed, Message: "The client pods are told to start at " + at + "."}
	for _, p := range o.Pods {
		if p.State == PodRunning && !p.carriesStart() {
			d.Actions = append(d.Actions, Action{Act: Start, Pod: p.Name, Annotations: map[string]string{plan.AnnotationStartAt: at}})
		}
	}
	if len(d.Actions) == 0 {
		return nil
	}
	d.wake(now.Add(time.Second), now)
	return d
}

func decideRun(o Observed, now time.Time) *Decision {
	d := &Decision{Actions: dismiss(o.Strangers)}
	d.Stage, d.Message = runStage(o, now)
	d.Actions = append(d.Actions, excuse(o.Pods)...)
	d.Actions = append(d.Actions, endWait(o, now)...)
	d.wake(nextCheck(o, now), now)
	if at := o.status().StartAt; at.After(now) {
		d.wake(at.Time, now)
	}
	return d
}

func runStage(o Observed, now time.Time) (stage, message string) {
	measured := o.countPods(Pod.hasMeasured)
	switch {
	case o.status().StartAt.After(now):
		return v1alpha1.StageArmed, "The client pods wait for the common start."
	case measured == len(o.Pods):
		return v1alpha1.StageCollecting, fmt.Sprintf("%d of %d client pods have reported.", o.countPods(Pod.isFinal), len(o.Pods))
	}
	return v1alpha1.StageRunning, fmt.Sprintf("%d of %d client pods are loading the target.%s", len(o.Pods)-measured, len(o.Pods), without(o, now))
}

// dismiss ends pods that take no part in the run.
func dismiss(strangers []Pod) []Action {
	var out []Action
	for _, p := range strangers {
		if p.State == PodRunning || p.State == PodWaiting {
			out = appendMarks(out, p, true, true)
		}
	}
	return out
}

// excuse tells pods that cannot be scraped not to wait for it: their
// termination message, which the cluster shows once they end, has all counts.
func excuse(pods []Pod) []Action {
	var out []Action
	for _, p := range pods {
		if p.State == PodRunning && p.Unreachable {
			out = appendMarks(out, p, false, true)
		}
	}
	return out
}

// appendMarks sets the annotations stop and collected where they are missing.
func appendMarks(actions []Action, p Pod, stop, collected bool) []Action {
	marks := map[string]string{}
	if stop && !p.Stop {
		marks[plan.AnnotationStop] = "true"
	}
	if collected && !p.Collected {
		marks[plan.AnnotationCollected] = "true"
	}
	if len(marks) == 0 {
		return actions
	}
	return append(actions, Action{Act: Annotate, Pod: p.Name, Annotations: marks})
}

// finish ends the run, and says of its keys what is known by now.
func finish(o Observed, p Problem) *Decision {
	return &Decision{Finish: &p, Cleaned: new(keys(o))}
}

// nextCheck is when a run that goes on must be looked at again without an event.
func nextCheck(o Observed, now time.Time) time.Time {
	next := now.Add(heartbeat)
	for _, at := range deadlines(o) {
		if at.After(now) && at.Before(next) {
			next = at
		}
	}
	return next
}

// FormatStart writes a start as the pods read it.
func FormatStart(t metav1.MicroTime) string { return t.UTC().Format(time.RFC3339Nano) }
