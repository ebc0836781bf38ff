package lifecycle

import (
	"fmt"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
)

// live simulates the cluster for a while: each possible next event may or may not happen.
func (w *world) live(hostile bool) {
	w.target = w.target || !w.now.Before(w.targetBack) && w.rand.IntN(3) > 0
	if w.job.Exists {
		w.makePods()
	}
	w.queueMoves()
	w.growMembers(hostile)
	for _, name := range w.names() {
		p := w.pods[name]
		if w.frozen[name] && p.State == PodRunning && w.finished() != "" && w.rand.IntN(3) == 0 {
			w.thaw(p)
		}
		w.grow(p, hostile)
	}
	w.workOnCleanup(hostile)
	if hostile && w.randomFaults > 0 && w.rand.IntN(6) == 0 {
		w.randomFaults--
		w.inject()
	}
	w.injectPlanned()
}

// queueMoves: the runs in front end, independent of this run.
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
		p.Stuck, p.StuckSeen = &Problem{v1alpha1.ReasonImageUnavailable, "no image"}, w.now
		return
	}
	if p.Stuck == nil {
		p.State, p.Started = PodRunning, true
	}
}

func (w *world) workOnCleanup(hostile bool) {
	switch {
	case !w.cleanup.Exists, hostile && w.rand.IntN(3) == 0:
	case hostile && w.rand.IntN(2) == 0 || w.now.Sub(w.cleanup.Seen) > 2*time.Minute:
		w.cleanup.Failed = "no luck"
	case hostile && w.rand.IntN(4) == 0:
		w.cleanup.Failed, w.cleanup.StillWrites = "it lives", true
	case w.rand.IntN(2) == 0:
		w.cleanup.Succeeded = true
		w.store.sweep()
	}
}

// inject injects a random fault.
func (w *world) inject() {
	switch w.rand.IntN(8) {
	case 4:
		if w.members.Job.Exists {
			w.members.Job.Exists, w.going = false, true
		}
	case 0:
		w.run.Spec.Stop = true
	case 1:
		if w.run.DeletionTimestamp == nil && w.run.Finalizers != nil {
			w.run.DeletionTimestamp = &metav1.Time{Time: w.now}
		}
	case 2:
		w.deleteJob()
	case 3:
		w.job.Refused, w.job.RefusalSeen = "exceeded quota", w.now
	default:
		w.injectPodFault()
	}
}

func (w *world) injectPodFault() {
	names := w.names()
	if len(names) == 0 {
		return
	}
	p := w.pods[names[w.rand.IntN(len(names))]]
	switch w.rand.IntN(6) {
	case 5:
		w.fire(p)
	case 0:
		// A Job does not replace a pod that has completed.
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

// TestAlwaysFinishes runs random faults. It decides again only when the previous decision requested it, and checks that
// each run finishes in time, stays finished, and releases its object.
func TestAlwaysFinishes(t *testing.T) {
	reasons := map[string]int{}
	for seed := range uint64(8000) {
		w := newWorld(t, seed)
		if seed%4 == 0 {
			w.run.Spec.Target.ConcurrentRuns = v1alpha1.ConcurrentRunsAllow
		}
		if seed%5 == 0 {
			w.startsMembers()
		}
		hostile := seed%3 > 0
		queueing := time.Duration(w.ahead+1)*(queueHeartbeat+time.Duration(w.ahead)*queueSpread) + time.Duration(max(w.rivals, 0)+2)*heartbeat
		bound := queueing + seconds(w.run.Spec.SchedulingTimeoutSeconds+w.run.Spec.TimeoutSeconds) + time.Minute + w.membersTime()
		w.until(hostile, w.now.Add(bound), func() bool { return w.finished() != "" || w.gone })
		reason := w.finished()
		reasons[reason]++
		w.checkEnd()
		if !hostile && reason != v1alpha1.ReasonCompleted && reason != v1alpha1.ReasonPodsNotReady && reason != v1alpha1.ReasonMembersNotReady && reason != v1alpha1.ReasonTargetNotFound {
			w.fail("seed %d: wanted a run without faults to complete, found %s", seed, reason)
		}
		w.checkAfterEnd(100, hostile, reason)
	}
	for _, r := range []string{v1alpha1.ReasonCompleted, v1alpha1.ReasonStopped, v1alpha1.ReasonJobDeleted, v1alpha1.ReasonTLSFailed, v1alpha1.ReasonPodFailed, v1alpha1.ReasonImageUnavailable, v1alpha1.ReasonTimedOut, v1alpha1.ReasonGuardStopped, v1alpha1.ReasonPartlyCompleted, v1alpha1.ReasonMembersNotReady} {
		if reasons[r] == 0 {
			t.Errorf("wanted some runs to end as %s, found %v", r, reasons)
		}
	}
}

// until steps until the condition holds, and fails if that is later than bound.
func (w *world) until(hostile bool, bound time.Time, hasFinalizer func() bool) {
	w.t.Helper()
	for !hasFinalizer() {
		if w.now.After(bound) {
			w.fail("wanted the condition to hold by %s, and it is %s", bound.Format(time.TimeOnly), w.now.Format(time.TimeOnly))
		}
		d := w.step()
		if hasFinalizer() {
			return
		}
		if d.Requeue == 0 {
			w.fail("a decision without a requeue: %+v", d)
		}
		w.now = w.now.Add(d.Requeue)
		w.live(hostile)
	}
}

// checkAfterEnd looks at the run for some steps after its end, and then deletes it.
func (w *world) checkAfterEnd(steps int, hostile bool, reason string) {
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
			w.fail("pod %s is still alive long after the run", p.Name)
		}
	}
	if w.members.Job.Exists && !w.going {
		w.fail("members are there long after the run")
	}
	if w.run.DeletionTimestamp == nil {
		w.run.DeletionTimestamp = &metav1.Time{Time: w.now}
		w.gone = w.run.Finalizers == nil
	}
	bound := w.run.DeletionTimestamp.Add(deletionGrace + heartbeat)
	w.until(hostile, bound, func() bool { return w.gone })
	// A cleanup Job that works goes on.
	if w.cleanup.Exists && !w.cleanup.isWorking() {
		w.fail("a cleanup Job that has ended was left behind")
	}
	w.checkNotes()
}
