package lifecycle

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/benchmark"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
	"github.com/etcdbench/etcd-benchmark-operator/internal/text"
)

// podLoss returns how a pod was lost, nil if it was not.
func podLoss(p Pod, now time.Time) *Problem {
	if t := podProblem(p); t != nil {
		return t
	}
	if p.isAbandoned(now) {
		return lost(p, "was deleted, and its node has not confirmed that it ended")
	}
	return nil
}

// continuesWithout reports whether the pod is lost and the other pods continue (spec.onPodLost). A pod that reports a
// failure or a fired guard ends the run, because the reason applies to all pods. The loss of client pod 0 also ends the
// run if the spec needs it: no other pod takes over its tasks.
func (o Observed) continuesWithout(p Pod, now time.Time) bool {
	if o.spec().OnPodLost != v1alpha1.PodLossContinue || o.status().StartAt == nil || podLoss(p, now) == nil {
		return false
	}
	s := p.Newest()
	reportsReason := s != nil && (s.Failure != nil || s.Fired != nil)
	needed := benchmark.WatchesTarget(o.Run) || len(o.spec().Disturbances) > 0
	return !reportsReason && !(needed && leavesTargetUnobserved(p)) && slices.ContainsFunc(o.Pods, func(other Pod) bool { return podLoss(other, now) == nil })
}

// leavesTargetUnobserved reports whether a lost pod is client pod 0 and was lost before the end of its window. Only
// client pod 0 observes the target and disturbs it.
func leavesTargetUnobserved(p Pod) bool {
	s := p.Newest()
	return p.Index == 0 && !(s != nil && s.HasMeasured())
}

// losesItsWatch reports whether client pod 0 has ended after it had measured everything, while other pods still load the
// target: no other pod checks the rules of the guard. With onPodLost: Continue the others go on.
func (o Observed) losesItsWatch(p Pod) bool {
	return o.spec().OnPodLost != v1alpha1.PodLossContinue && p.Index == 0 && p.wasCutOffWhileDeleting() && benchmark.WatchesTarget(o.Run) && !o.everyPod(Pod.hasMeasured)
}

// missingObservations is the note on a run that has lost client pod 0.
const missingObservations = " Only client pod 0 observes the members and changes of the target, so these observations are missing."

// podLossNote describes the lost pods that the run continues without; empty if it has all pods.
func podLossNote(o Observed, now time.Time) string {
	var losses []string
	note := ""
	for _, p := range o.Pods {
		if !o.continuesWithout(p, now) {
			continue
		}
		loss := podLoss(p, now).Message
		losses = append(losses, strings.ToUpper(loss[:1])+loss[1:])
		if leavesTargetUnobserved(p) {
			note = missingObservations
		}
	}
	if len(losses) == 0 {
		return ""
	}
	return fmt.Sprintf(" Lost client pods: %d; the run continued with the others (spec.onPodLost). %s%s", len(losses), strings.Join(losses, " "), note)
}

// cutOffNote names the pods that could not delete their keys; empty if there are none.
func cutOffNote(o Observed) (note string) {
	for _, p := range o.Pods {
		if p.wasCutOffWhileDeleting() {
			note += fmt.Sprintf(" Warning: %s had measured everything, and ended before it had deleted its keys (%s). The cleanup Job is to delete them.", p, cmp.Or(p.Exit, "it is gone"))
		}
	}
	return note
}

// stopWaitingPods tells pods that only wait for a lost pod's keys to stop waiting. The lost pod has died and will never
// release them. The results of the waiting pods are complete, and the cleanup Job deletes what is left. It does nothing
// while a pod still measures, because client pod 0 observes the target until then. It also does nothing if a lost pod
// may still be alive (its node does not answer, or the pod object is gone): that pod may still release its keys, or
// write.
func stopWaitingPods(o Observed, now time.Time) []Action {
	if !slices.ContainsFunc(o.Pods, func(p Pod) bool {
		return p.diedBeforeRelease() && (o.continuesWithout(p, now) || p.wasCutOffWhileDeleting())
	}) {
		return nil
	}
	var out []Action
	for _, p := range o.Pods {
		switch lives := !p.Exited && !p.isFinal(); {
		case o.continuesWithout(p, now) && lives:
			return nil
		case o.continuesWithout(p, now), p.isFinal():
		case p.State != PodRunning || p.stage() != results.StageCleaning:
			return nil
		default:
			out = appendMarks(out, p, true, false)
		}
	}
	return out
}

// diedBeforeRelease reports whether the pod has ended before it released the keys: its termination message is missing
// or was written before the pod was done.
func (p Pod) diedBeforeRelease() bool {
	return p.Exited && (p.Final == nil || p.Final.Stage != results.StageDone)
}

// decidePartlyCompleted finishes a run when all pods have done their load, except the lost ones. A deleted Job explains
// lost pods better, so checkJob comes first.
func decidePartlyCompleted(o Observed, now time.Time) *Decision {
	if o.endingIsFinal() || o.status().StartAt == nil || o.stopped() || checkJob(o, now) != nil {
		return nil
	}
	did, ended := 0, true
	for _, p := range o.Pods {
		switch {
		case o.continuesWithout(p, now):
		case !p.HasWholeResult():
			return nil
		default:
			did, ended = did+1, ended && p.isFinal()
		}
	}
	if did == 0 || did == len(o.Pods) || !ended && now.Before(cleansUntil(o)) {
		return nil
	}
	message := fmt.Sprintf("%d of %d client pods completed their load and reported.%s%s", did, len(o.Pods), podLossNote(o, now), stopNote(o))
	return finish(o, Problem{v1alpha1.ReasonPartlyCompleted, text.Shorten(message, maxMessage)})
}
