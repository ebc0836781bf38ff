package lifecycle

import (
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
)

// checkStop ends a run on request, unless all its pods had ended before the stop reached them. Then the pods' reports
// say how it ended.
func checkStop(o Observed, now time.Time) *Problem {
	switch {
	case o.deleting():
		return &Problem{v1alpha1.ReasonStopped, "The EtcdBenchmark was deleted before the run had completed."}
	case o.endedBeforeStop():
		return nil
	}
	return checkLateStop(o, now)
}

// checkLateStop ends a run that no other check has ended, whether or not the stop reached its pods.
func checkLateStop(o Observed, _ time.Time) *Problem {
	if !o.spec().Stop {
		return nil
	}
	return &Problem{v1alpha1.ReasonStopped, "The run was stopped before it had completed."}
}

// endingIsFinal reports whether the reason in status is final. A stop is not final until the pods have reported whether
// it has cut their load short: it may have come after the load had ended, while the operator was away.
func (o Observed) endingIsFinal() bool {
	e := o.status().Ending
	return e != nil && e.Reason != v1alpha1.ReasonStopped
}

// endedBeforeStop reports whether the load had ended, with or without success, before a stop could reach a pod. A
// deletion reaches the pods in other ways too.
func (o Observed) endedBeforeStop() bool {
	return !o.endingIsFinal() && !o.deleting() && o.everyPod(Pod.endedBeforeStop)
}

// endedBeforeStop is true only for a pod without further results to come. Its annotation says whether it was asked to
// stop; a stop does not end a pod that had already failed or finished.
func (p Pod) endedBeforeStop() bool {
	switch {
	case p.isFinal():
		return !p.Stop || p.Final.Failure != nil || p.Final.Fired != nil || p.HasWholeResult()
	case p.State == PodEnded, p.State == PodGone:
		return !p.Stop
	}
	return false
}

// stopped reports whether a stop has cut the run short. A waiting pod is also asked to stop when another pod died; that
// alone does not count.
func (o Observed) stopped() bool {
	return o.status().Ending != nil && o.countPods(Pod.endedByStop) > 0
}

// endedByStop reports whether the stop of the run has, or may have, ended the pod's load.
func (p Pod) endedByStop() bool { return p.Stop && p.isSettled() && !p.endedBeforeStop() }

// cleansUntil is how long a run with complete numbers waits for the deletion of its keys: until its timeout, or until
// the report deadline after a stop.
func cleansUntil(o Observed) time.Time {
	if e := o.status().Ending; e != nil {
		return reportedBy(o, *e)
	}
	return timesOut(o)
}

// stopNote is the note on a stop that had no effect.
func stopNote(o Observed) string {
	if o.status().Ending == nil {
		return ""
	}
	return " The stop came after the load had ended."
}
