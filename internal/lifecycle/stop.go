package lifecycle

import (
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
)

// checkStop ends a run that people want to end, unless it was over by itself
// before anybody could tell its pods: how it ended is then for the pods to say.
func checkStop(o Observed, now time.Time) *Problem {
	switch {
	case o.deleting():
		return &Problem{v1alpha1.ReasonStopped, "The EtcdBenchmark was deleted before the run had completed."}
	case o.outranStop():
		return nil
	}
	return checkLateStop(o, now)
}

// checkLateStop ends a run that nothing else has ended, whether or not its pods
// could hear of the stop.
func checkLateStop(o Observed, _ time.Time) *Problem {
	if !o.spec().Stop {
		return nil
	}
	return &Problem{v1alpha1.ReasonStopped, "The run was stopped before it had completed."}
}

// endsForGood says that status holds why the run ends, and that this stands. A
// stop does not until the pods have told whether it has cut their load short: it
// may have come when that was over, and the operator away.
func (o Observed) endsForGood() bool {
	e := o.status().Ending
	return e != nil && e.Reason != v1alpha1.ReasonStopped
}

// outranStop says that the load was over, well or badly, before a stop could reach
// a pod. A deletion reaches them by other ways, too.
func (o Observed) outranStop() bool {
	return !o.endsForGood() && !o.deleting() && o.everyPod(Pod.outranStop)
}

// outranStop is true only of a pod of which nothing more is to be expected. Its
// annotation says whether it was told; by itself that has not ended what failed,
// or was done, before.
func (p Pod) outranStop() bool {
	switch {
	case p.isFinal():
		return !p.Stop || p.Final.Failure != nil || p.Final.Fired != nil || p.HasWholeResult()
	case p.State == PodEnded, p.State == PodGone:
		return !p.Stop
	}
	return false
}

// stopped says that a stop has cut the run short. Without it, pods are told to stop
// waiting for one that died.
func (o Observed) stopped() bool {
	return o.status().Ending != nil && o.countPods(Pod.obeyedStop) > 0
}

// obeyedStop says that the run's own stop has ended the pod's load, or may have.
func (p Pod) obeyedStop() bool { return p.Stop && p.isSettled() && !p.outranStop() }

// cleansUntil is how long a run of which no number is missing waits for its pods
// to delete their keys: to its time-out, or until those that were told to stop must
// have reported.
func cleansUntil(o Observed) time.Time {
	if e := o.status().Ending; e != nil {
		return reportedBy(o, *e)
	}
	return timesOut(o)
}

// stopNote is what is said of a stop that has ended nothing.
func stopNote(o Observed) string {
	if o.status().Ending == nil {
		return ""
	}
	return " The stop came when the load was over."
}
