package lifecycle

import (
	"fmt"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
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
		w.grow(w.pods[name], hostile)
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

// grow takes a pod one step through its life, as loadgen lives it.
func (w *world) grow(p *Pod, hostile bool) {
	if w.frozen[p.Name] || w.rand.IntN(3) == 0 {
		return
	}
	switch {
	case p.State == PodWaiting:
		w.startOrStick(p, hostile)
	case p.State != PodRunning:
	case p.Final != nil && p.Collected:
		w.end(p)
	case p.Final != nil:
	case p.Stop, p.StartAt != "" && p.Live != nil && p.Live.Stage == results.StageCleaning:
		measured := p.Live != nil && p.Live.Stage == results.StageCleaning
		p.Live = &results.Snapshot{Stage: results.StageDone, Stopped: p.Stop && !measured, Cleaning: results.CleaningKeysDeleted}
		p.Conclude(p.Live, nil)
	case p.StartAt != "":
		p.Live = &results.Snapshot{Stage: results.StageCleaning}
	case !p.Turn && !allowsOthers(w.run):
		p.Live = &results.Snapshot{Stage: results.StageWaiting, Cleaning: results.CleaningNothingWritten}
		w.run.Status.Target.ClusterID = "c"
	default:
		p.Ready = true
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

func (w *world) end(p *Pod) {
	p.State, p.Exit, p.Exited, p.Ready = PodEnded, "ended with exit code 0 (Completed)", true, false
	if p.Final == nil && w.rand.IntN(2) == 0 {
		p.Conclude(nil, &results.Snapshot{Stage: results.StageDone, Stopped: true, Cleaning: results.CleaningKeysLeft})
	}
}

func (w *world) workOnCleanup(hostile bool) {
	switch {
	case !w.cleanup.Exists, hostile && w.rand.IntN(3) == 0:
	case hostile && w.rand.IntN(2) == 0 || w.now.Sub(w.cleanup.Created) > 2*time.Minute:
		w.cleanup.Failed = "no luck"
	case w.rand.IntN(2) == 0:
		w.cleanup.Succeeded = true
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
		delete(w.pods, p.Name)
	case 1:
		w.end(p)
	case 2:
		p.Live = &results.Snapshot{Stage: results.StageConnecting, Failure: &results.Failure{Reason: results.FailureTLSFailed, Message: "no"}}
	case 3:
		w.frozen[p.Name] = true
	case 4:
		// A new operator knows no scrape.
		p.Live = nil
		if p.Road == v1alpha1.RoadScrape {
			p.Final, p.Road = nil, ""
		}
	}
}

// fire has the pod's guard end its load.
func (w *world) fire(p *Pod) {
	if p.State == PodRunning && p.Final == nil {
		p.Live = &results.Snapshot{
			Stage: results.StageDone, Stopped: true, Cleaning: results.CleaningKeysDeleted,
			Fired: &results.Fired{Rule: results.GuardAlarm, Detail: "NOSPACE", At: w.now},
		}
		p.Conclude(p.Live, nil)
	}
}

// TestAlwaysFinishes drives runs through random fates, asking again only when
// the decision said so, and checks that each finishes in time, stays finished,
// and lets go of its object.
func TestAlwaysFinishes(t *testing.T) {
	reasons := map[string]int{}
	for seed := range uint64(3000) {
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
}
