package lifecycle

import (
	"fmt"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
)

// live lets the cluster do its work for a while: each thing that could happen
// next may happen, or may not.
func (w *world) live(hostile bool) {
	w.target = w.target || w.rand.IntN(3) > 0
	if w.job.Exists {
		w.makePods()
	}
	w.queueMoves()
	for _, name := range w.names() {
		p := w.pods[name]
		if w.frozen[name] && p.State == PodRunning && w.finished() != "" && w.rand.IntN(3) == 0 {
			w.thaw(p)
		}
		w.grow(p, hostile)
	}
	w.workOnCleanup(hostile)
	if hostile && w.strikes > 0 && w.rand.IntN(6) == 0 {
		w.strikes--
		w.strike()
	}
	w.unfold()
}

// queueMoves: the runs in front end, whatever becomes of this one.
func (w *world) queueMoves() {
	if w.ahead > 0 {
		w.ahead--
	} else if w.run.Status.Admission != nil {
		w.rivals--
	}
}

func (w *world) makePods() {
	for i := range int(w.run.Spec.Load.Pods) {
		has := false
		for _, p := range w.pods {
			has = has || p.Index == i
		}
		if !has && w.rand.IntN(3) > 0 {
			name := fmt.Sprintf("pod-%d-%d", i, w.rand.IntN(1000))
			w.pods[name] = &Pod{Index: i, Name: name, State: PodWaiting, Created: w.now}
		}
	}
}

func (w *world) startOrStick(p *Pod, hostile bool) {
	p.Node = "node"
	if hostile && w.rand.IntN(10) == 0 {
		p.Stuck, p.StuckSince = &Problem{v1alpha1.ReasonImageUnavailable, "no image"}, w.now
		return
	}
	if p.Stuck == nil {
		p.State, p.Started = PodRunning, true
	}
}

func (w *world) workOnCleanup(hostile bool) {
	switch {
	case !w.cleanup.Exists, hostile && w.rand.IntN(3) == 0:
	case hostile && w.rand.IntN(2) == 0 || w.now.Sub(w.cleanup.Created) > 2*time.Minute:
		w.cleanup.Failed = "no luck"
	case w.rand.IntN(2) == 0:
		w.cleanup.Succeeded = true
		w.store.sweep()
	}
}

// strike is what nobody hopes for.
func (w *world) strike() {
	switch w.rand.IntN(8) {
	case 0:
		w.run.Spec.Stop = true
	case 1:
		if w.run.DeletionTimestamp == nil && w.run.Finalizers != nil {
			w.run.DeletionTimestamp = &metav1.Time{Time: w.now}
		}
	case 2:
		w.deleteJob()
	case 3:
		w.job.Refused, w.job.RefusedSince = "exceeded quota", w.now
	default:
		w.strikePod()
	}
}

func (w *world) strikePod() {
	names := w.names()
	if len(names) == 0 {
		return
	}
	p := w.pods[names[w.rand.IntN(len(names))]]
	switch w.rand.IntN(6) {
	case 5:
		w.fire(p)
	case 0:
		// A Job makes no pod anew that is through with its load.
		if !w.client(p).over {
			delete(w.pods, p.Name)
		}
	case 1:
		w.terminate(p)
	case 2:
		w.breaks(p)
	case 3:
		w.frozen[p.Name] = true
	case 4:
		forget(p)
	}
}

// TestAlwaysFinishes drives runs through random fates, asking again only when
// the decision said so, and checks that each finishes in time, stays finished,
// and lets go of its object.
func TestAlwaysFinishes(t *testing.T) {
	reasons := map[string]int{}
	for seed := range uint64(8000) {
		w := newWorld(t, seed)
		if seed%4 == 0 {
			w.run.Spec.Target.ConcurrentRuns = v1alpha1.ConcurrentRunsAllow
		}
		hostile := seed%3 > 0
		queueing := time.Duration(w.ahead+max(w.rivals, 0)+2) * heartbeat
		bound := queueing + seconds(w.run.Spec.SchedulingTimeoutSeconds+w.run.Spec.TimeoutSeconds) + time.Minute
		w.until(hostile, w.now.Add(bound), func() bool { return w.finished() != "" || w.gone })
		reason := w.finished()
		reasons[reason]++
		w.checkEnd()
		if !hostile && reason != v1alpha1.ReasonCompleted && reason != v1alpha1.ReasonPodsNotReady && reason != v1alpha1.ReasonTargetNotFound {
			w.fail("seed %d: wanted an untroubled run to complete, found %s", seed, reason)
		}
		w.checkAftermath(100, hostile, reason)
	}
	for _, r := range []string{v1alpha1.ReasonCompleted, v1alpha1.ReasonStopped, v1alpha1.ReasonJobDeleted, v1alpha1.ReasonTLSFailed, v1alpha1.ReasonPodFailed, v1alpha1.ReasonImageUnavailable, v1alpha1.ReasonTimedOut, v1alpha1.ReasonGuardStopped, v1alpha1.ReasonPartlyCompleted} {
		if reasons[r] == 0 {
			t.Errorf("wanted some runs to end as %s, found %v", r, reasons)
		}
	}
}

// until steps until the condition holds, and fails if that is later than bound.
func (w *world) until(hostile bool, bound time.Time, holds func() bool) {
	w.t.Helper()
	for !holds() {
		if w.now.After(bound) {
			w.fail("wanted it to be so by %s, and it is %s", bound.Format(time.TimeOnly), w.now.Format(time.TimeOnly))
		}
		d := w.step()
		if holds() {
			return
		}
		if d.Requeue == 0 {
			w.fail("a decision that waits for nothing: %+v", d)
		}
		w.now = w.now.Add(d.Requeue)
		w.live(hostile)
	}
}

// checkAftermath looks at the run for some steps after its end, and then deletes it.
func (w *world) checkAftermath(steps int, hostile bool, reason string) {
	for range steps {
		if w.gone {
			return
		}
		w.step()
		w.now = w.now.Add(heartbeat)
		w.live(hostile)
		if w.finished() != reason {
			w.fail("Finished went from %s to %q", reason, w.finished())
		}
	}
	for _, p := range w.pods {
		if p.State == PodRunning || p.State == PodWaiting {
			w.fail("pod %s still lives long after the run", p.Name)
		}
	}
	if w.run.DeletionTimestamp == nil {
		w.run.DeletionTimestamp = &metav1.Time{Time: w.now}
		w.gone = w.run.Finalizers == nil
	}
	bound := w.run.DeletionTimestamp.Add(deletionGrace + heartbeat)
	w.until(hostile, bound, func() bool { return w.gone })
	if w.cleanup.Exists {
		w.fail("the cleanup Job was left behind")
	}
	w.checkFarewell()
}
