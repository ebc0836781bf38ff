package lifecycle

import (
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/benchmark"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// decideOverdue removes the finalizer of a deleted object whose time to clean is over, in any state of the run.
func decideOverdue(o Observed, now time.Time) *Decision {
	if !o.deleting() || now.Before(releaseObjectBy(o)) {
		return nil
	}
	d := &Decision{Message: "The EtcdBenchmark was deleted."}
	letGo(o, d, now)
	return d
}

// letGo removes the finalizer of a deleted object whose keys are not deleted yet. A cleanup Job that works goes on. If
// there is none, because a pod was still there, it is created now: it waits for that pod itself.
func letGo(o Observed, d *Decision, now time.Time) {
	startsNow := o.finished() && o.isCleanupNamed() && !o.Cleanup.Exists && keys(o).Status != metav1.ConditionTrue
	if !startsNow && !o.Cleanup.isWorking() {
		giveUp(o, d)
		return
	}
	if startsNow {
		createCleanup(o, d, now)
	}
	if hasFinalizer(o) {
		d.Notes = append(d.Notes, Note{v1alpha1.ReasonKeysLeft, fmt.Sprintf(
			"The object is deleted before the keys under the prefix %s are. A cleanup Job goes on: an event on it will have the result.", o.Run.KeyPrefix())})
		d.do(RemoveFinalizer)
	}
}

// decideAfterEnd handles a finished run: it releases the pods, has the keys deleted, removes the finalizer, and
// deletes the object when its TTL has expired.
func decideAfterEnd(o Observed, now time.Time) *Decision {
	if !o.finished() {
		return nil
	}
	d := &Decision{}
	release(o, d, now)
	if o.cleaned() {
		retire(o, d, now)
		return d
	}
	clean(o, d, now)
	if o.deleting() {
		d.wake(releaseObjectBy(o), now)
	}
	return d
}

// release lets the pods end. Their results are in status, so a pod can be deleted without a loss.
func release(o Observed, d *Decision, now time.Time) {
	if !o.Job.Exists {
		return
	}
	for _, p := range o.allPods() {
		switch p.State {
		case PodMissing, PodWaiting:
			// The Job controller would keep trying to start it.
			d.Actions = []Action{{Act: DeleteJob}}
			return
		case PodRunning:
			overdue := overdueAt(o, p)
			if !now.Before(overdue) {
				d.Actions = []Action{{Act: DeleteJob}}
				return
			}
			d.Actions = appendMarks(d.Actions, p, o.status().Ending != nil, true)
			d.wake(overdue, now)
		}
	}
}

// overdueAt is when a running pod is deleted. A pod that did not report in its time is deleted at once: it hangs, and
// its keys can only be deleted after it has ended.
func overdueAt(o Observed, p Pod) time.Time {
	silent := func(s v1alpha1.PodStatus) bool { return s.Name == p.Name && s.Partial }
	if slices.ContainsFunc(o.status().Pods, silent) {
		return o.Seen.End
	}
	return o.Seen.End.Add(releaseGrace)
}

// clean has the remaining keys deleted. The cleanup Job starts only when no pod is alive that could still write or
// delete keys.
func clean(o Observed, d *Decision, now time.Time) {
	known := keys(o)
	switch {
	case known.Status == metav1.ConditionTrue:
		d.Cleaned = &known
	case o.members() != nil:
		deleteMembers(o, d, now)
	case mayCleanUp(o) && !o.isCleanupNamed() && (o.deleting() || !stillWrites(o, now)):
		d.do(NameCleanup)
	case stillWrites(o, now):
		d.wake(now.Add(heartbeat), now)
	case mayCleanUp(o):
		createCleanup(o, d, now)
	case !o.Cleanup.Exists:
	case o.Cleanup.Deleting:
		d.wake(now.Add(time.Second), now)
	case o.Cleanup.StillWrites && now.Before(writesUntil(o)):
		d.Cleaned = &Cleaned{metav1.ConditionUnknown, v1alpha1.ReasonPodStillWrites,
			o.Cleanup.Failed + ". It ends by itself when spec.timeoutSeconds have passed; to end it sooner, end its process on its node."}
		d.do(DeleteCleanup, NameCleanup)
	case o.Cleanup.Succeeded:
		d.Cleaned = &Cleaned{metav1.ConditionTrue, v1alpha1.ReasonKeysDeleted, "The cleanup Job deleted the keys that the client pods had left."}
	case o.Cleanup.Failed != "":
		failedCleanup(o, d)
	default:
		d.wake(now.Add(heartbeat), now)
	}
}

// stillWrites reports whether a pod may still write or delete keys. A pod that is still there a minute after its
// deletion is on a node that does not answer. The cleanup Job sees whether that pod shows that it lives.
func stillWrites(o Observed, now time.Time) bool {
	lives := func(p Pod) bool { return p.State == PodRunning || p.State == PodWaiting }
	assumedEnd := o.Seen.End.Add(releaseGrace + time.Minute)
	return now.Before(assumedEnd) && slices.ContainsFunc(o.allPods(), lives)
}

// mayCleanUp: a cleanup Job is created once after the run. If that Job failed, a second one follows when the object is
// deleted, because the target may be available again.
func mayCleanUp(o Observed) bool {
	return !o.Cleanup.Exists && o.status().Target != nil && (o.deleting() || !failedBefore(o))
}

// maxPodTimeout bounds how long one cleanup Job waits for a pod.
const maxPodTimeout = time.Hour

// createCleanup creates a cleanup Job. The first one fails at once if a client pod still shows that it lives, so that
// status says so soon. One that follows, or that will not be repeated, waits for that pod to end.
func createCleanup(o Observed, d *Decision, now time.Time) {
	a := Action{Act: CreateCleanup}
	known := meta.FindStatusCondition(o.status().Conditions, v1alpha1.ConditionCleaned)
	if o.deleting() || known != nil && known.Reason == v1alpha1.ReasonPodStillWrites {
		a.PodTimeout = min(max(writesUntil(o).Sub(now), 0), maxPodTimeout)
	}
	d.Actions = append(d.Actions, a)
}

// writesUntil is when the client pods have ended their load at the latest: each ends it spec.timeoutSeconds after it was
// admitted, and then waits for responses.
func writesUntil(o Observed) time.Time {
	from := timesOut(o)
	if a := o.status().Admission; a != nil && a.LockedAt != nil {
		from = latest(from, a.LockedAt.Add(seconds(o.spec().TimeoutSeconds)))
	}
	return from.Add(time.Minute + 2*o.Run.Resolved().Load.RequestTimeout())
}

func failedCleanup(o Observed, d *Decision) {
	switch {
	case o.deleting() && !o.Cleanup.Seen.After(o.Seen.Deletion):
		d.do(DeleteCleanup)
	case o.deleting():
		giveUp(o, d)
	default:
		d.Cleaned = &Cleaned{metav1.ConditionFalse, v1alpha1.ReasonKeysLeft, o.Cleanup.WhyKeysLeft(o.Run.KeyPrefix(), benchmark.Leftover(o.Run))}
	}
}

// refuseCleanup does not retry: the API server would refuse the same Job again.
func refuseCleanup(o Observed, message string) Decision {
	d := Decision{Stage: o.stage()}
	if o.deleting() {
		giveUp(o, &d)
		return d
	}
	o.Cleanup.Failed = message
	failedCleanup(o, &d)
	return d
}

func failedBefore(o Observed) bool {
	return meta.IsStatusConditionFalse(o.status().Conditions, v1alpha1.ConditionCleaned)
}

// giveUp removes the finalizer of a deleted object and records an event if keys may be left.
func giveUp(o Observed, d *Decision) {
	if !hasFinalizer(o) {
		return
	}
	if !o.cleaned() {
		left := WhyKeysLeft(o.Run)
		if o.Cleanup.Failed != "" {
			left = o.Cleanup.WhyKeysLeft(o.Run.KeyPrefix(), benchmark.Leftover(o.Run))
		}
		d.Notes = append(d.Notes, Note{v1alpha1.ReasonKeysLeft, left})
	}
	releaseObject(o, d)
}

// retire removes the finalizer of a run whose keys are deleted, and deletes the object after its TTL.
func retire(o Observed, d *Decision, now time.Time) {
	releaseObject(o, d)
	ttl := o.spec().TTLSecondsAfterFinished
	if ttl == nil || o.deleting() {
		return
	}
	expires := o.status().CompletionTime.Add(seconds(*ttl))
	if !now.Before(expires) {
		d.do(DeleteRun)
		return
	}
	d.wake(expires, now)
}

// releaseObject removes the finalizer last, because the object may be gone after that.
func releaseObject(o Observed, d *Decision) {
	if o.Cleanup.Exists && !o.Cleanup.Deleting {
		d.do(DeleteCleanup)
	}
	if hasFinalizer(o) {
		d.do(RemoveFinalizer)
	}
}

func hasFinalizer(o Observed) bool { return slices.Contains(o.Run.Finalizers, v1alpha1.Finalizer) }

func releaseObjectBy(o Observed) time.Time { return o.Seen.Deletion.Add(deletionGrace) }

// keys reports whether keys of the run are left, according to the pods.
func keys(o Observed) Cleaned {
	if o.members() != nil {
		return membersLeft(o)
	}
	if o.spec().Target.Disk != nil {
		return Cleaned{metav1.ConditionTrue, v1alpha1.ReasonKeysDeleted, "The run has no keys. The files of its logs have no names, and are gone with the client pods."}
	}
	if o.Run.OnlyObserves() {
		return Cleaned{metav1.ConditionTrue, v1alpha1.ReasonNothingWritten, "The run only looked at the target."}
	}
	deleted := deletedBefore(o.Run)
	written := false
	for _, p := range o.allPods() {
		switch {
		case !mayHaveWritten(o.Run, p):
		case deleted[p.Name], p.isFinal() && p.Final.Cleaning == results.CleaningKeysDeleted:
			written = true
		case !p.isFinal() || p.Final.Cleaning != results.CleaningNothingWritten:
			return Cleaned{metav1.ConditionUnknown, v1alpha1.ReasonKeysLeft, p.String() + " did not report that its keys are deleted."}
		}
	}
	if written {
		return Cleaned{metav1.ConditionTrue, v1alpha1.ReasonKeysDeleted, "Every client pod reported that its keys are deleted."}
	}
	return Cleaned{metav1.ConditionTrue, v1alpha1.ReasonNothingWritten, "The run wrote nothing to the target."}
}

// mayHaveWritten includes a pod that is still waiting to start: its deletion is requested, but its container may start
// before the deletion. A pod that needs permission to write has not written, because only running pods get the
// permission.
func mayHaveWritten(run *v1alpha1.EtcdBenchmark, p Pod) bool {
	ran := p.Started || p.stage() != ""
	switch p.State {
	case PodMissing:
		return false
	case PodWaiting:
		return ran || !usesLock(run) && p.Node != "" && p.Stuck == nil
	case PodEnded:
		return ran
	}
	return true
}

// deletedBefore names the pods whose keys are deleted according to status. It covers pods whose own report is no longer
// available.
func deletedBefore(run *v1alpha1.EtcdBenchmark) map[string]bool {
	out := map[string]bool{}
	for _, p := range run.Status.Pods {
		out[p.Name] = p.KeysDeleted
	}
	return out
}
