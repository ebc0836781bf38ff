package lifecycle

import (
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// moment is a point in the course of a run. Each of a calm run comes after the one
// before.
type moment int

const (
	momentPending moment = iota
	momentQueued
	// momentCreated: the Job is there, and no pod.
	momentCreated
	// momentStarting: a container has not started.
	momentStarting
	// momentWaiting: a pod waits for its turn at the target.
	momentWaiting
	momentReady
	momentArmed
	momentRunning
	// momentMeasured: a pod deletes its keys, and others may load the target.
	momentMeasured
	momentCollecting
	// momentOver is after the end, whatever the run came to.
	momentOver
	moments
)

// has says whether the moment has come.
func (w *world) has(m moment) bool {
	stage := Observed{Run: w.run}.stage()
	some := func(is func(*Pod) bool) bool {
		return slices.ContainsFunc(slices.Collect(maps.Values(w.pods)), is)
	}
	live := func(s results.Stage) bool {
		return some(func(p *Pod) bool { return p.Live != nil && p.Live.Stage == s })
	}
	switch m {
	case momentPending:
		return true
	case momentQueued:
		return stage == v1alpha1.StageQueued
	case momentCreated:
		return w.job.Exists
	case momentStarting:
		return some(func(p *Pod) bool { return p.State == PodWaiting })
	case momentWaiting:
		return live(results.StageWaiting)
	case momentReady:
		return some(func(p *Pod) bool { return p.Ready })
	case momentArmed:
		return stage == v1alpha1.StageArmed
	case momentRunning:
		return stage == v1alpha1.StageRunning
	case momentMeasured:
		return live(results.StageCleaning)
	case momentCollecting:
		return stage == v1alpha1.StageCollecting
	}
	return w.finished() != ""
}

// blow is what happens to a run that nobody hopes for. It does nothing where
// there is nothing that it could hit.
type blow struct {
	name string
	// losesPod: what comes of it depends on spec.onPodLost.
	losesPod bool
	// strike says whether it has hit anything.
	strike func(*world) bool
	// tells are the reasons, other than Completed, of which a run that it has hit
	// may tell without a lie.
	tells []string
}

// harmless blows end no run.
var harmless = []string{"others in front", "a new operator"}

// turn is a blow at a moment, or after the end if that moment never comes. The last
// pod is the one it hits, or the first: client pod 0.
type turn struct {
	moment moment
	blow   blow
	first  bool
}

// unfold lets happen what is due.
func (w *world) unfold() {
	for len(w.plot) > 0 && (w.has(w.plot[0].moment) || w.finished() != "") {
		w.note("%s", w.plot[0].blow.name)
		w.first = w.plot[0].first
		// What comes after the end, or when that is certain, is not its cause.
		certain := w.finished() != "" || Observed{Run: w.run}.endsForGood()
		if b := w.plot[0].blow; b.strike(w) && !certain {
			w.struck = append(w.struck, b)
		}
		w.plot = w.plot[1:]
	}
}

// onPod hits the pod whose turn it is, if there is one.
func onPod(strike func(*world, *Pod) bool) func(*world) bool {
	return func(w *world) bool {
		names := w.names()
		if w.first {
			slices.Reverse(names)
		}
		return len(names) > 0 && strike(w, w.pods[names[len(names)-1]])
	}
}

// onWaiting hits a pod whose container has not started.
func onWaiting(problem Problem) func(*world) bool {
	return func(w *world) bool {
		for _, name := range w.names() {
			if p := w.pods[name]; p.State == PodWaiting {
				p.Stuck, p.StuckSince, w.frozen[name] = &problem, w.now, true
				return true
			}
		}
		return false
	}
}

// onLoad hits a pod whose container runs and has not told its last.
func onLoad(strike func(*world, *Pod)) func(*world) bool {
	return onPod(func(w *world, p *Pod) bool {
		hits := p.State == PodRunning && p.Final == nil
		if hits {
			strike(w, p)
		}
		return hits
	})
}

// always hits.
func always(strike func(*world)) func(*world) bool {
	return func(w *world) bool { strike(w); return true }
}

// What is told of a pod that is lost, and of one that is silent.
var (
	lostTells   = []string{v1alpha1.ReasonPodFailed, v1alpha1.ReasonPartlyCompleted}
	silentTells = []string{v1alpha1.ReasonPodsNotReady, v1alpha1.ReasonTimedOut}
)

var blows = []blow{
	{"stopped", false, always(func(w *world) { w.run.Spec.Stop = true }), []string{v1alpha1.ReasonStopped}},
	{"the object deleted", false, always(func(w *world) {
		if w.run.DeletionTimestamp == nil {
			w.run.DeletionTimestamp = &metav1.Time{Time: w.now}
			w.gone = w.run.Finalizers == nil
		}
	}), []string{v1alpha1.ReasonStopped}},
	{"the Job deleted", false, func(w *world) bool { defer w.deleteJob(); return w.job.Exists }, []string{v1alpha1.ReasonJobDeleted}},
	{"pods refused", false, always(func(w *world) { w.job.Refused, w.job.RefusedSince = "exceeded quota", w.now }), []string{v1alpha1.ReasonPodsForbidden}},
	{"the target gone", false, always(func(w *world) { w.target = false }), []string{v1alpha1.ReasonTargetNotFound}},
	{"others in front", false, always(func(w *world) { w.ahead, w.rivals = w.ahead+3, w.rivals+3 }), nil},
	{"the operator away until the time is over", false, always(func(w *world) { w.leave(seconds(w.run.Spec.TimeoutSeconds)) }), silentTells},
	{"pods that time out by their own timers", false, always((*world).timer), silentTells},
	{"a new operator", false, always((*world).restart), nil},
	{"an image missing", false, onWaiting(Problem{v1alpha1.ReasonImageUnavailable, "no image"}), []string{v1alpha1.ReasonImageUnavailable}},
	{"no node for a pod", false, onWaiting(Problem{v1alpha1.ReasonUnschedulable, "no node"}), []string{v1alpha1.ReasonUnschedulable}},
	{"a pod that fails", false, onLoad((*world).breaks), []string{v1alpha1.ReasonTLSFailed}},
	{"a guard that fires", false, onLoad((*world).fire), []string{v1alpha1.ReasonGuardStopped}},
	{"a pod that crashes", true, onLoad(func(_ *world, p *Pod) {
		p.State, p.Exit, p.Exited, p.Ready = PodEnded, "ended with exit code 137 (OOMKilled)", true, false
	}), lostTells},
	{"a pod deleted", true, onPod(func(w *world, p *Pod) bool {
		// A Job makes no pod anew that has ended.
		if p.State != PodEnded {
			delete(w.pods, p.Name)
		}
		return p.State != PodEnded
	}), lostTells},
	{"a pod that hangs", true, onPod(func(w *world, p *Pod) bool { w.frozen[p.Name] = true; return true }), silentTells},
	{"a pod that cannot be scraped", true, onLoad(func(_ *world, p *Pod) { p.Live, p.Unreachable = nil, true }), silentTells},
	{"a node lost", true, onLoad(func(w *world, p *Pod) { p.DeleteBy, w.frozen[p.Name] = w.now, true }), append(silentTells, lostTells...)},
}

// TestEveryOrderOfTwoBlows hits a run twice, in every order of any two blows at any
// two moments, with each policy for a pod that is lost. Whatever comes of it, the
// run ends in time, for a reason that is true, stays ended, says of its keys what is
// so, and lets go of its object.
func TestEveryOrderOfTwoBlows(t *testing.T) {
	var mutex sync.Mutex
	reasons := map[string]bool{}
	t.Run("first", func(t *testing.T) {
		for first := range moments {
			t.Run(fmt.Sprint("at moment ", first), func(t *testing.T) {
				t.Parallel()
				found := ordersFrom(t, first)
				mutex.Lock()
				defer mutex.Unlock()
				maps.Copy(reasons, found)
			})
		}
	})
	for _, r := range []string{
		v1alpha1.ReasonCompleted, v1alpha1.ReasonPartlyCompleted, v1alpha1.ReasonStopped, v1alpha1.ReasonGuardStopped, v1alpha1.ReasonTimedOut,
		v1alpha1.ReasonJobDeleted, v1alpha1.ReasonPodFailed, v1alpha1.ReasonTLSFailed, v1alpha1.ReasonTargetNotFound,
		v1alpha1.ReasonPodsForbidden, v1alpha1.ReasonUnschedulable, v1alpha1.ReasonImageUnavailable, v1alpha1.ReasonPodsNotReady,
	} {
		if !reasons[r] {
			t.Errorf("wanted some runs to end as %s, found %v", r, slices.Sorted(maps.Keys(reasons)))
		}
	}
}

// ordersFrom tries all orders whose first blow falls at a moment, and returns how
// the runs ended.
func ordersFrom(t *testing.T, first moment) map[string]bool {
	t.Helper()
	reasons := map[string]bool{}
	for second := first; second < moments; second++ {
		for _, one := range blows {
			for _, other := range blows {
				plot := []turn{{first, one, first%2 > 0}, {second, other, (first+second)/2%2 > 0}}
				reasons[endOf(t, v1alpha1.PodLossFail, plot...)] = true
				if one.losesPod || other.losesPod {
					reasons[endOf(t, v1alpha1.PodLossContinue, plot...)] = true
				}
			}
		}
	}
	return reasons
}

// endOf returns how a run ends to which this happens; empty if it is deleted before.
func endOf(t *testing.T, policy v1alpha1.PodLossPolicy, plot ...turn) string {
	t.Helper()
	w := newWorld(t, 1)
	w.run = newRun(2)
	w.run.Spec.OnPodLost = policy
	// One run is in front at the addresses, another one on the cluster.
	w.ahead, w.rivals, w.strikes, w.plot, w.plotted = 2, 2, 0, plot, true
	for _, p := range plot {
		w.note("at moment %d: %s", p.moment, p.blow.name)
	}
	// Each blow can put the run off: in the queue, or by the operator's absence.
	bound := 12*heartbeat + 2*time.Minute + seconds(w.run.Spec.SchedulingTimeoutSeconds+3*w.run.Spec.TimeoutSeconds)
	w.until(false, w.now.Add(bound), func() bool { return w.finished() != "" || w.gone })
	reason := w.finished()
	w.checkEnd()
	if harms := func(t turn) bool { return !slices.Contains(harmless, t.blow.name) }; reason != v1alpha1.ReasonCompleted && !slices.ContainsFunc(plot, harms) {
		w.fail("wanted a run that nothing has harmed to complete, found %s", reason)
	}
	w.checkAftermath(40, false, reason)
	return reason
}
