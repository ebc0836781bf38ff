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

// decideOverdue lets go of a deleted object whose time to clean is over,
// whatever else is the case.
func decideOverdue(o Observed, now time.Time) *Decision {
	if !o.deleting() || now.Before(letGoBy(o)) {
		return nil
	}
	d := &Decision{Message: "The EtcdBenchmark was deleted."}
	giveUp(o, d)
	return d
}

// decideAftermath is what is left to do for a run that has finished: free its
// pods, see its keys deleted, let go of it, and delete it when its time is over.
func decideAftermath(o Observed, now time.Time) *Decision {
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
		d.wake(letGoBy(o), now)
	}
	return d
}

// release lets the pods end. Their results are in status, so nothing is lost if
// one must be deleted.
func release(o Observed, d *Decision, now time.Time) {
	if !o.Job.Exists {
		return
	}
	for _, p := range o.allPods() {
		switch p.State {
		case PodMissing, PodWaiting:
			// The Job controller would go on trying.
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

// overdueAt is when a pod that still runs is deleted. One that was given its time
// to report, and did not, gets no more: it hangs, and its keys can only go when
// it is gone.
func overdueAt(o Observed, p Pod) time.Time {
	finished := o.status().CompletionTime.Time
	silent := func(s v1alpha1.PodStatus) bool { return s.Name == p.Name && s.Partial }
	if slices.ContainsFunc(o.status().Pods, silent) {
		return finished
	}
	return finished.Add(releaseGrace)
}

// clean sees to it that no key is left. The cleanup Job starts only once no pod
// lives that could write, or delete, any more.
func clean(o Observed, d *Decision, now time.Time) {
	known := keys(o)
	switch {
	case known.Status == metav1.ConditionTrue:
		d.Cleaned = &known
	case stillWrites(o, now):
		d.wake(now.Add(heartbeat), now)
	case !o.Cleanup.Exists:
		startCleanup(o, d)
	case o.Cleanup.Deleting:
		d.wake(now.Add(time.Second), now)
	case o.Cleanup.Succeeded:
		d.Cleaned = &Cleaned{metav1.ConditionTrue, v1alpha1.ReasonKeysDeleted, "The cleanup Job deleted the keys that the client pods had left."}
	case o.Cleanup.Failed != "":
		failedCleanup(o, d)
	default:
		d.wake(now.Add(heartbeat), now)
	}
}

// stillWrites says whether a pod may yet write or delete keys. One that outlives
// its deletion by a minute is on a node that answers nobody, and its own
// time-out has ended its load.
func stillWrites(o Observed, now time.Time) bool {
	lives := func(p Pod) bool { return p.State == PodRunning || p.State == PodWaiting }
	lastWord := o.status().CompletionTime.Add(releaseGrace + time.Minute)
	return now.Before(lastWord) && slices.ContainsFunc(o.allPods(), lives)
}

// startCleanup tries once after the run and, if that failed, once more when the
// object is deleted: the target may be back.
func startCleanup(o Observed, d *Decision) {
	if o.status().Target == nil || !o.deleting() && failedBefore(o) {
		return
	}
	d.do(CreateCleanup)
}

func failedCleanup(o Observed, d *Decision) {
	switch {
	case o.deleting() && !o.Cleanup.Created.After(o.Run.DeletionTimestamp.Time):
		d.do(DeleteCleanup)
	case o.deleting():
		giveUp(o, d)
	default:
		d.Cleaned = &Cleaned{metav1.ConditionFalse, v1alpha1.ReasonKeysLeft, fmt.Sprintf(
			"The cleanup Job %s failed: %s. To delete the keys by hand: %s", o.Run.CleanupJobName(), o.Cleanup.Failed, benchmark.RemovalCommand(o.Run))}
	}
}

// refuseCleanup: what the API server does not take once, it does not take again.
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

// giveUp lets go of a deleted object and says what it leaves behind.
func giveUp(o Observed, d *Decision) {
	if !holds(o) {
		return
	}
	if !o.cleaned() {
		d.Notes = append(d.Notes, Note{v1alpha1.ReasonKeysLeft, fmt.Sprintf(
			"Keys may be left under the prefix %s. To delete them: %s", o.Run.KeyPrefix(), benchmark.RemovalCommand(o.Run))})
	}
	letGo(o, d)
}

// retire lets go of a run whose keys are gone, and deletes it in due time.
func retire(o Observed, d *Decision, now time.Time) {
	letGo(o, d)
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

// letGo has the finalizer go last, for the object may vanish with it.
func letGo(o Observed, d *Decision) {
	if o.Cleanup.Exists && !o.Cleanup.Deleting {
		d.do(DeleteCleanup)
	}
	if holds(o) {
		d.do(RemoveFinalizer)
	}
}

func holds(o Observed) bool { return slices.Contains(o.Run.Finalizers, v1alpha1.Finalizer) }

func letGoBy(o Observed) time.Time { return o.Run.DeletionTimestamp.Add(deletionGrace) }

// keys says whether keys of the run are left, as far as the pods tell.
func keys(o Observed) Cleaned {
	deleted := deletedBefore(o.Run)
	written := false
	for _, p := range o.allPods() {
		switch {
		case !mayHaveWritten(o.Run, p):
		case deleted[p.Name], p.isFinal() && p.Final.Cleaning == results.CleaningKeysDeleted:
			written = true
		case !p.isFinal() || p.Final.Cleaning != results.CleaningNothingWritten:
			return Cleaned{metav1.ConditionUnknown, v1alpha1.ReasonKeysLeft, p.String() + " did not report its keys deleted."}
		}
	}
	if written {
		return Cleaned{metav1.ConditionTrue, v1alpha1.ReasonKeysDeleted, "Every client pod reported its keys deleted."}
	}
	return Cleaned{metav1.ConditionTrue, v1alpha1.ReasonNothingWritten, "The run wrote nothing to the target."}
}

// mayHaveWritten is of a pod that waits yet, too: its deletion is only asked for,
// and its container may start before. But pods that await a turn write nothing
// without one, and it is given to those only that run.
func mayHaveWritten(run *v1alpha1.EtcdBenchmark, p Pod) bool {
	ran := p.Started || p.stage() != ""
	switch p.State {
	case PodMissing:
		return false
	case PodWaiting:
		return ran || allowsOthers(run) && p.Node != "" && p.Stuck == nil
	case PodEnded:
		return ran
	}
	return true
}

// deletedBefore names the pods that reported their keys deleted, as status
// keeps it when their own words are gone.
func deletedBefore(run *v1alpha1.EtcdBenchmark) map[string]bool {
	out := map[string]bool{}
	for _, p := range run.Status.Pods {
		out[p.Name] = p.KeysDeleted
	}
	return out
}
