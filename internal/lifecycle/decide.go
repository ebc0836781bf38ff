package lifecycle

import (
	"fmt"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
	"github.com/etcdbench/etcd-benchmark-operator/internal/text"
)

// step is one link of a chain. It returns nil if it does not apply.
type step func(Observed, time.Time) *Decision

// Decide returns what happens next. Completion is checked before the reasons to end early, so a stop after the last
// result changes nothing.
func Decide(o Observed, now time.Time) Decision {
	o.Seen = o.Seen.by(now)
	return firstOf(o, now, decideOverdue, decideAfterEnd, decideCompleted, decidePartlyCompleted, decideEnding,
		decideResolve, decideQueue, decideMembers, decideCreate, decideLock, decideGather, decideArm, decideStart, decideRun)
}

// firstOf returns the first decision of the chain; decideRun always applies.
func firstOf(o Observed, now time.Time, chain ...step) Decision {
	for _, s := range chain {
		if d := s(o, now); d != nil {
			d.Stage = later(o.stage(), d.Stage)
			return *d
		}
	}
	return Decision{Stage: o.stage()}
}

// decideCompleted finishes a run when all pods have done their load. At the timeout, pods that are only deleting keys
// also count: all measured numbers are there, and the cleanup Job deletes the keys.
func decideCompleted(o Observed, now time.Time) *Decision {
	if o.status().StartAt == nil || o.endingIsFinal() || !o.everyPod(Pod.HasWholeResult) {
		return nil
	}
	if o.Kubelets.Pending && now.Before(timesOut(o)) {
		d := decideRun(o, now)
		d.Message = "All client pods have measured. The operator waits until kubelets have sampled the members after the window."
		return d
	}
	message := fmt.Sprintf("All %d client pods completed their load and reported.", len(o.Pods))
	if !o.everyPod(Pod.isFinal) {
		if now.Before(cleansUntil(o)) {
			return nil
		}
		message = fmt.Sprintf("All %d client pods completed their measurement and reported. %s, they were still deleting the run's keys; the deletion continues.",
			len(o.Pods), whenLate(o, now))
	}
	return finish(o, Problem{v1alpha1.ReasonCompleted, text.Shorten(message+cutOffNote(o)+stopNote(o), maxMessage)})
}

// whenLate says when the run stopped waiting for the deletion of its keys.
func whenLate(o Observed, now time.Time) string {
	if e := o.status().Ending; e != nil {
		return fmt.Sprintf("%s after the stop", now.Sub(e.Since.Time).Truncate(time.Second))
	}
	return fmt.Sprintf("At spec.timeoutSeconds (%d)", o.spec().TimeoutSeconds)
}

// decideResolve saves the target's addresses in status before any object is created from them, so every attempt writes
// the same plan.
func decideResolve(o Observed, now time.Time) *Decision {
	if o.resolved() {
		return nil
	}
	d := &Decision{Stage: v1alpha1.StagePending, Message: o.Target.Missing, Endpoints: o.Target.Endpoints, Nodes: o.Target.Nodes, NotReady: o.Target.NotReady}
	if len(o.Target.Endpoints) > 0 {
		d.Message = "The target's addresses are " + strings.Join(o.Target.Endpoints, ", ") + "."
	}
	if o.spec().Target.Disk != nil {
		d.Message, d.Requeue = "The target is a volume of each client pod.", time.Millisecond
		return d
	}
	if waitsForMembers(o, now) {
		d.Endpoints, d.Nodes = nil, nil
		d.Message = fmt.Sprintf("Members of the target that are ready: %d; not yet: %d. The run waits until %s. To load only those that are ready, create the run with spec.target.unreachableMembers: Skip.",
			len(o.Target.Endpoints), o.Target.Starting, membersBy(o, now).UTC().Format(time.RFC3339))
	}
	d.wake(now.Add(pauseToResolve(o, now)), now)
	return d
}

// pauseToResolve grows when the target takes long.
func pauseToResolve(o Observed, now time.Time) time.Duration {
	if now.After(o.Seen.Run.Add(targetGrace)) {
		return resolveLater
	}
	return resolveEvery
}

// waitsForMembers reports whether members of the target that are not ready may still become ready: a run can be created
// together with its target.
func waitsForMembers(o Observed, now time.Time) bool {
	return len(o.Target.Endpoints) > 0 && o.Target.Starting > 0 && o.spec().Target.UnreachableMembers != spec.UnreachableSkip && now.Before(membersBy(o, now))
}

// membersBy is when a run continues without the members that are not ready.
func membersBy(o Observed, now time.Time) time.Time {
	from := o.started()
	if from.IsZero() {
		from = now
	}
	return from.Add(seconds(o.spec().SchedulingTimeoutSeconds))
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

// decideGather waits until all pods are ready or already carry a start.
func decideGather(o Observed, now time.Time) *Decision {
	ready := o.countPods(Pod.isReady)
	if o.status().StartAt != nil || ready == len(o.Pods) {
		return nil
	}
	d := &Decision{
		Stage:   v1alpha1.StagePreparing,
		Message: fmt.Sprintf("%d of %d client pods are ready to start; %s.", ready, len(o.Pods), firstNotReady(o)),
		Actions: append(stopExtraPods(o.ExtraPods), admitPods(o)...),
	}
	d.wake(nextCheck(o, now), now)
	return d
}

// firstNotReady names one pod; that is enough to see what the run waits for.
func firstNotReady(o Observed) string {
	p := o.Pods[firstPod(o, func(p Pod) bool { return !p.isReady() })]
	return p.String() + " " + whyNotReady(p)
}

// decideArm chooses the common start. A start in status is replaced only if it has passed and a live list shows no pod
// that carries it.
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
		Message: ArmedMessage(len(o.Pods), start),
		StartAt: &start,
		Requeue: time.Millisecond,
	}
}

// ArmedMessage says when the client pods start.
func ArmedMessage(pods int, at metav1.MicroTime) string {
	return fmt.Sprintf("All %d client pods are ready; they start at %s.", pods, FormatStart(at))
}

// decideStart sets the start on the pods that do not carry it. A pod that reads a start in the past begins at once and
// reports how late it was.
func decideStart(o Observed, now time.Time) *Decision {
	at := FormatStart(*o.status().StartAt)
	d := &Decision{Stage: v1alpha1.StageArmed, Message: "The client pods will start at " + at + "."}
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
	d := &Decision{Actions: stopExtraPods(o.ExtraPods)}
	d.Stage, d.Message = runStage(o, now)
	d.Actions = append(d.Actions, releaseUnreachable(o.Pods)...)
	d.Actions = append(d.Actions, stopWaitingPods(o, now)...)
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
	return v1alpha1.StageRunning, fmt.Sprintf("%d of %d client pods are loading the target.%s", len(o.Pods)-measured, len(o.Pods), podLossNote(o, now))
}

// stopExtraPods stops pods that take no part in the run.
func stopExtraPods(extra []Pod) []Action {
	var out []Action
	for _, p := range extra {
		if p.State == PodRunning || p.State == PodWaiting {
			out = appendMarks(out, p, true, true)
		}
	}
	return out
}

// releaseUnreachable releases pods that cannot be scraped. Their termination message, which the cluster shows once they
// have ended, has all counts.
func releaseUnreachable(pods []Pod) []Action {
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

// finish ends the run with what is known about its keys.
func finish(o Observed, p Problem) *Decision {
	return &Decision{Finish: &p, Cleaned: new(keys(o))}
}

// nextCheck is when an active run must be checked again if no event arrives.
func nextCheck(o Observed, now time.Time) time.Time {
	next := now.Add(heartbeat)
	for _, at := range deadlines(o) {
		if at.After(now) && at.Before(next) {
			next = at
		}
	}
	return next
}

// FormatStart formats a start for the pods.
func FormatStart(t metav1.MicroTime) string { return t.UTC().Format(time.RFC3339Nano) }
