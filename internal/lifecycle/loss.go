package lifecycle

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/benchmark"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
	"github.com/etcdbench/etcd-benchmark-operator/internal/text"
)

// lossOf says how a pod was lost, nil if it was not.
func lossOf(p Pod, now time.Time) *Problem {
	if t := trouble(p); t != nil {
		return t
	}
	if p.isAbandoned(now) {
		return lost(p, "was deleted, and its node does not say that it ended")
	}
	return nil
}

// goesOnWithout says whether a pod is lost and the others go on, as
// spec.onPodLost wants. A pod that says why it ended, by a failure or by the rule
// of a guard, says it of all of them; and nobody takes over what the spec asks of
// client pod 0 alone.
func (o Observed) goesOnWithout(p Pod, now time.Time) bool {
	if o.spec().OnPodLost != v1alpha1.PodLossContinue || o.status().StartAt == nil || lossOf(p, now) == nil {
		return false
	}
	s := p.Newest()
	says := s != nil && (s.Failure != nil || s.Fired != nil)
	asked := benchmark.WatchesTarget(o.Run) || len(o.spec().Disturbances) > 0
	return !says && !(asked && leavesTarget(p)) && slices.ContainsFunc(o.Pods, func(other Pod) bool { return lossOf(other, now) == nil })
}

// leavesTarget says of a pod that is lost whether it is client pod 0, which alone
// looks at the target and disturbs it, and had not done so to the window's end.
func leavesTarget(p Pod) bool {
	s := p.Newest()
	return p.Index == 0 && !(s != nil && s.HasMeasured())
}

// unwatched is what is said of a run that client pod 0 has left.
const unwatched = ", and without a look at what the members do and whether the target changes, which client pod 0 alone takes"

// without says which pods the run goes on without; empty if it has all.
func without(o Observed, now time.Time) string {
	var losses []string
	note := ""
	for _, p := range o.Pods {
		if !o.goesOnWithout(p, now) {
			continue
		}
		losses = append(losses, lossOf(p, now).Message)
		if leavesTarget(p) {
			note = unwatched
		}
	}
	if len(losses) == 0 {
		return ""
	}
	return fmt.Sprintf(" The run went on without %d of them (spec.onPodLost)%s: %s.", len(losses), note, strings.Join(losses, "; "))
}

// endWait ends the patience of pods that do nothing any more but wait, to delete
// the keys, for one that died holding them: it will never let go. What they
// measured is whole, and stays so when they are told to stop; the cleanup Job sees
// to what they leave. While one of them measures, none is told, for client pod 0
// watches the target until then; and a lost pod that may live, since its node is
// silent or it is gone, may yet let go, or write.
func endWait(o Observed, now time.Time) []Action {
	if !slices.ContainsFunc(o.Pods, func(p Pod) bool { return o.goesOnWithout(p, now) && p.diedHolding() }) {
		return nil
	}
	var out []Action
	for _, p := range o.Pods {
		switch lives := !p.Exited && !p.isFinal(); {
		case o.goesOnWithout(p, now) && lives:
			return nil
		case o.goesOnWithout(p, now), p.isFinal():
		case p.State != PodRunning || p.stage() != results.StageCleaning:
			return nil
		default:
			out = appendMarks(out, p, true, false)
		}
	}
	return out
}

// diedHolding says that the pod has ended before it could let go of the keys, as
// far as is known: its last words, if it left any, are from before it was done.
func (p Pod) diedHolding() bool {
	return p.Exited && (p.Final == nil || p.Final.Stage != results.StageDone)
}

// decidePartlyCompleted finishes a run whose pods have all done their part, but
// for those that were lost. That they were is no news where somebody has deleted
// their Job.
func decidePartlyCompleted(o Observed, now time.Time) *Decision {
	if o.endsForGood() || o.status().StartAt == nil || o.stopped() || checkJob(o, now) != nil {
		return nil
	}
	did, ended := 0, true
	for _, p := range o.Pods {
		switch {
		case o.goesOnWithout(p, now):
		case !p.HasWholeResult():
			return nil
		default:
			did, ended = did+1, ended && p.isFinal()
		}
	}
	if did == 0 || did == len(o.Pods) || !ended && now.Before(cleansUntil(o)) {
		return nil
	}
	message := fmt.Sprintf("%d of %d client pods did their part and reported.%s%s", did, len(o.Pods), without(o, now), stopNote(o))
	return finish(o, Problem{v1alpha1.ReasonPartlyCompleted, text.Shorten(message, maxMessage)})
}
