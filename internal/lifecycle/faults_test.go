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

// moment is a point in the course of a run. Without faults, a run passes the moments in this order.
type moment int

const (
	momentPending moment = iota
	momentQueued
	// momentCreated: the Job exists, without pods.
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
	// momentOver is after the end of the run, for any reason.
	momentOver
	moments
)

// has reports whether the moment has come.
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

// fault is an event that disturbs a run. It has no effect if the run is in a state in which it cannot occur.
type fault struct {
	name string
	// losesPod: the effect depends on spec.onPodLost.
	losesPod bool
	// inject reports whether it had an effect.
	inject func(*world) bool
	// mayEndAs are the reasons, other than Completed, with which the run may end because of it.
	mayEndAs []string
}

// harmless faults end no run.
var harmless = []string{"other runs in front", "a restarted operator"}

// plannedFault is a fault at a moment, or after the end if that moment never comes. It affects the last pod, or client
// pod 0 if first is set.
type plannedFault struct {
	moment moment
	fault  fault
	first  bool
}

// injectPlanned injects the faults that are due.
func (w *world) injectPlanned() {
	for len(w.planned) > 0 && (w.has(w.planned[0].moment) || w.finished() != "") {
		w.note("%s", w.planned[0].fault.name)
		w.first = w.planned[0].first
		// A fault after the end, or after the reason is final, is not the cause.
		certain := w.finished() != "" || Observed{Run: w.run}.endingIsFinal()
		if b := w.planned[0].fault; b.inject(w) && !certain {
			w.injected = append(w.injected, b)
		}
		w.planned = w.planned[1:]
	}
}

// onPod affects the chosen pod, if it exists.
func onPod(inject func(*world, *Pod) bool) func(*world) bool {
	return func(w *world) bool {
		names := w.names()
		if w.first {
			slices.Reverse(names)
		}
		return len(names) > 0 && inject(w, w.pods[names[len(names)-1]])
	}
}

// onWaiting affects a pod whose container has not started.
func onWaiting(problem Problem) func(*world) bool {
	return func(w *world) bool {
		for _, name := range w.names() {
			if p := w.pods[name]; p.State == PodWaiting {
				p.Stuck, p.StuckSeen, w.frozen[name] = &problem, w.now, true
				return true
			}
		}
		return false
	}
}

// onLoad affects a pod whose container is running and has no final result.
func onLoad(inject func(*world, *Pod)) func(*world) bool {
	return onPod(func(w *world, p *Pod) bool {
		hits := p.State == PodRunning && p.Final == nil
		if hits {
			inject(w, p)
		}
		return hits
	})
}

// always has an effect in every state.
func always(inject func(*world)) func(*world) bool {
	return func(w *world) bool { inject(w); return true }
}

// The possible reasons after a lost pod and after a silent pod.
var (
	lostReasons   = []string{v1alpha1.ReasonPodFailed, v1alpha1.ReasonPartlyCompleted}
	silentReasons = []string{v1alpha1.ReasonPodsNotReady, v1alpha1.ReasonTimedOut}
)

var faults = []fault{
	{"stopped", false, always(func(w *world) { w.run.Spec.Stop = true }), []string{v1alpha1.ReasonStopped}},
	{"the object deleted", false, always(func(w *world) {
		if w.run.DeletionTimestamp == nil {
			w.run.DeletionTimestamp = &metav1.Time{Time: w.now}
			w.gone = w.run.Finalizers == nil
		}
	}), []string{v1alpha1.ReasonStopped}},
	{"the Job deleted", false, func(w *world) bool { defer w.deleteJob(); return w.job.Exists }, []string{v1alpha1.ReasonJobDeleted}},
	{"pods refused", false, always(func(w *world) { w.job.Refused, w.job.RefusalSeen = "exceeded quota", w.now }), []string{v1alpha1.ReasonPodsForbidden}},
	{"the target gone", false, always(func(w *world) { w.target, w.targetBack = false, w.now.Add(2*targetGrace) }), []string{v1alpha1.ReasonTargetNotFound}},
	{"other runs in front", false, always(func(w *world) { w.ahead, w.rivals = w.ahead+3, w.rivals+3 }), nil},
	{"the operator away until the timeout", false, always(func(w *world) { w.leave(seconds(w.run.Spec.TimeoutSeconds)) }), silentReasons},
	{"pods that time out by their own timers", false, always((*world).timer), silentReasons},
	{"a restarted operator", false, always((*world).restart), nil},
	{"an image missing", false, onWaiting(Problem{v1alpha1.ReasonImageUnavailable, "no image"}), []string{v1alpha1.ReasonImageUnavailable}},
	{"no node for a pod", false, onWaiting(Problem{v1alpha1.ReasonUnschedulable, "no node"}), []string{v1alpha1.ReasonUnschedulable}},
	{"a pod that fails", false, onLoad((*world).breaks), []string{v1alpha1.ReasonTLSFailed}},
	{"a guard that fires", false, onLoad((*world).fire), []string{v1alpha1.ReasonGuardStopped}},
	{"a pod that crashes", true, onLoad(func(_ *world, p *Pod) {
		p.State, p.Exit, p.Exited, p.Ready = PodEnded, "ended with exit code 137 (OOMKilled)", true, false
	}), lostReasons},
	{"a pod deleted", true, onPod(func(w *world, p *Pod) bool {
		// A Job does not replace a pod that has ended.
		if p.State != PodEnded {
			delete(w.pods, p.Name)
		}
		return p.State != PodEnded
	}), lostReasons},
	{"a pod that hangs", true, onPod(func(w *world, p *Pod) bool { w.frozen[p.Name] = true; return true }), silentReasons},
	{"a pod that cannot be scraped", true, onLoad(func(_ *world, p *Pod) { p.Live, p.Unreachable = nil, true }), silentReasons},
	{"a node lost", true, onLoad(func(w *world, p *Pod) { p.DeleteBy, w.frozen[p.Name] = w.now, true }), append(silentReasons, lostReasons...)},
}

// TestEveryOrderOfTwoFaults injects two faults at any two moments, in every order and with each policy for lost pods.
// The run must end in time, for a true reason, stay finished, report the right state of its keys, and release its
// object.
func TestEveryOrderOfTwoFaults(t *testing.T) {
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

// ordersFrom tries all orders whose first fault is at this moment, and returns the reasons of the ends.
func ordersFrom(t *testing.T, first moment) map[string]bool {
	t.Helper()
	reasons := map[string]bool{}
	for second := first; second < moments; second++ {
		for _, one := range faults {
			for _, other := range faults {
				planned := []plannedFault{{first, one, first%2 > 0}, {second, other, (first+second)/2%2 > 0}}
				reasons[endOf(t, v1alpha1.PodLossFail, planned...)] = true
				if one.losesPod || other.losesPod {
					reasons[endOf(t, v1alpha1.PodLossContinue, planned...)] = true
				}
			}
		}
	}
	return reasons
}

// endOf returns the reason with which the run ends; empty if it was deleted before.
func endOf(t *testing.T, policy v1alpha1.PodLossPolicy, planned ...plannedFault) string {
	t.Helper()
	w := newWorld(t, 1)
	w.run = newRun(2)
	w.run.Spec.OnPodLost = policy
	// One run is in front at the addresses, another one holds the lock.
	w.ahead, w.rivals, w.randomFaults, w.planned, w.onlyPlanned = 2, 2, 0, planned, true
	for _, p := range planned {
		w.note("at moment %d: %s", p.moment, p.fault.name)
	}
	// Each fault can delay the run: in the queue, or because the operator is away.
	bound := 12*heartbeat + 8*(queueHeartbeat+2*queueSpread) + 2*time.Minute + seconds(w.run.Spec.SchedulingTimeoutSeconds+3*w.run.Spec.TimeoutSeconds)
	w.until(false, w.now.Add(bound), func() bool { return w.finished() != "" || w.gone })
	reason := w.finished()
	w.checkEnd()
	if isHarmful := func(t plannedFault) bool { return !slices.Contains(harmless, t.fault.name) }; reason != v1alpha1.ReasonCompleted && !slices.ContainsFunc(planned, isHarmful) {
		w.fail("wanted a run without harmful faults to complete, found %s", reason)
	}
	w.checkAfterEnd(40, false, reason)
	return reason
}
