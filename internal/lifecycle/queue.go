package lifecycle

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
)

// Runs of one operator that have an address in common start in the order of their creation. Whether two runs load one
// store at different addresses, or from different operators, only the store can tell: it has a lock, which client pod 0
// takes once all pods have connected.

// Place is a run's place in the queue of its addresses.
type Place struct {
	// Ahead is how many runs are in front; 0 if this run may start.
	Ahead int
	// Behind is the name of the run that is next to this one in the queue, and Holding is what it does. Behind is empty
	// if that run is in another namespace, because no tenant may learn the names of another's runs.
	Behind  string
	Holding Holding
	// FreeAt is when the first of the runs in front that delete their keys blocks no longer; zero if none deletes keys. No
	// event tells of that time.
	FreeAt time.Time
	// Undeleted is how many finished runs may still have keys and block no longer.
	Undeleted int
}

// Holding is the activity of a run in front, worded for a message.
type Holding string

// The values of Holding.
const (
	HoldingLoads   Holding = "is running"
	HoldingWaits   Holding = "waits, too"
	HoldingDeletes Holding = "has not deleted its keys yet"
)

// queueHeartbeat is how often a waiting run checks its place if no event arrives. The end of a run in front is an event,
// and Place.FreeAt is known, so this only bounds the delay after a lost event: a thousand waiting runs cost almost nothing.
// Each run in front adds queueSpread, up to another queueHeartbeat, so that runs that were created together check at different
// times.
const (
	queueHeartbeat = 5 * time.Minute
	queueSpread    = time.Second
)

// AwaitsPlace reports, from the run's status, whether the run still waits for runs at its addresses.
func AwaitsPlace(run *v1alpha1.EtcdBenchmark) bool { return isResolved(run) && waits(run) }

// waits reports whether a run is in the queue of its addresses, or will be when its target is resolved.
func waits(run *v1alpha1.EtcdBenchmark) bool {
	return !run.HasFinished() && !allowsOthers(run) && !isAdmitted(run)
}

func isAdmitted(run *v1alpha1.EtcdBenchmark) bool {
	return run.Status.Admission != nil || run.Status.Job != nil
}

func allowsOthers(run *v1alpha1.EtcdBenchmark) bool {
	return run.Spec.Target.ConcurrentRuns == v1alpha1.ConcurrentRunsAllow || run.OnlyObserves()
}

// usesLock reports whether the pods of a run write only when it holds the lock of its target. A target of its own needs none.
func usesLock(run *v1alpha1.EtcdBenchmark) bool {
	return !allowsOthers(run) && !run.Spec.Target.IsOwn()
}

// isResolved reports whether status has the target. A disk has no addresses.
func isResolved(run *v1alpha1.EtcdBenchmark) bool {
	return run.Status.Target != nil && (len(run.Status.Target.Endpoints) > 0 || run.Spec.Target.Disk != nil)
}

func (o Observed) waitsFor(cause v1alpha1.QueueCause) bool { return queuesFor(o.Run, cause) }

func queuesFor(run *v1alpha1.EtcdBenchmark, cause v1alpha1.QueueCause) bool {
	return run.Status.Queue != nil && run.Status.Queue.WaitsFor == cause
}

// InQueue reports whether other runs may have to wait for this one: it has not ended, or its keys may not be deleted
// yet. A run that waits for the limit of its namespace delays no other run.
func InQueue(run *v1alpha1.EtcdBenchmark) bool {
	return !run.OnlyObserves() && !run.HasFinished() && !WaitsForLimit(run) || isDeletingKeys(run)
}

func isDeletingKeys(run *v1alpha1.EtcdBenchmark) bool {
	cleaned := meta.FindStatusCondition(run.Status.Conditions, v1alpha1.ConditionCleaned)
	return cleaned != nil && cleaned.Status == metav1.ConditionUnknown
}

// Addresses are what two runs must have in common to queue for each other: the target's addresses, and, while they are
// not known, the object that leads to them.
func Addresses(run *v1alpha1.EtcdBenchmark) []string {
	var out []string
	if isResolved(run) {
		for _, endpoint := range run.Status.Target.Endpoints {
			out = append(out, strings.ToLower(endpoint))
		}
		return append(out, targetObject(run)...)
	}
	for _, endpoint := range v1alpha1.HostPorts(run.Spec.Target.Endpoints) {
		out = append(out, strings.ToLower(endpoint))
	}
	return append(out, targetObject(run)...)
}

// ownTarget is what runs with members or disks of their own have in common: these share the nodes of the cluster. No address is
// like it.
const ownTarget = "target of the run"

// targetObject identifies the Service or the selected pods of a run's target.
func targetObject(run *v1alpha1.EtcdBenchmark) []string {
	t := run.Spec.Target
	if t.IsOwn() {
		return []string{ownTarget}
	}
	if t.Service == nil && t.Pods == nil {
		return nil
	}
	// These types have nothing that JSON cannot encode.
	object, _ := json.Marshal([]any{run.Namespace, t.Service, t.Pods})
	return []string{string(object)}
}

// PlaceOf returns the place of a waiting run among the runs that have an address in common with it. They may be out of
// date: two runs that start at once then wait for the lock of the target.
func PlaceOf(run *v1alpha1.EtcdBenchmark, others []*v1alpha1.EtcdBenchmark, now time.Time) (p Place) {
	var next *v1alpha1.EtcdBenchmark
	for _, other := range others {
		if other.UID == run.UID {
			continue
		}
		if !isInFront(other, run, now) {
			if other.HasFinished() && isDeletingKeys(other) {
				p.Undeleted++
			}
			continue
		}
		p.Ahead++
		if other.HasFinished() {
			p.FreeAt = earliest(p.FreeAt, blocksUntil(other))
		}
		if next == nil || isNearer(other, next) {
			next = other
		}
	}
	if next != nil {
		p.Holding = activityOf(next)
		if next.Namespace == run.Namespace {
			p.Behind = next.Name
		}
	}
	return p
}

func isInFront(other, run *v1alpha1.EtcdBenchmark, now time.Time) bool {
	return occupiesTarget(other, now) || waits(other) && createdBefore(other, run)
}

// isNearer reports whether a run is nearer to the end of the queue: runs that wait are behind those that load.
func isNearer(a, b *v1alpha1.EtcdBenchmark) bool {
	if waits(a) != waits(b) {
		return waits(a)
	}
	return createdBefore(b, a)
}

// FirstWaiting returns the run that is in front of all others that wait for runs at their addresses; nil if none waits.
func FirstWaiting(runs []*v1alpha1.EtcdBenchmark) *v1alpha1.EtcdBenchmark {
	return oldest(runs, AwaitsPlace)
}

// FirstForLimit returns the run that is in front of all others that wait for the limit of their namespace; nil if none waits.
func FirstForLimit(runs []*v1alpha1.EtcdBenchmark) *v1alpha1.EtcdBenchmark {
	return oldest(runs, WaitsForLimit)
}

func oldest(runs []*v1alpha1.EtcdBenchmark, among func(*v1alpha1.EtcdBenchmark) bool) (first *v1alpha1.EtcdBenchmark) {
	for _, run := range runs {
		if among(run) && (first == nil || createdBefore(run, first)) {
			first = run
		}
	}
	return first
}

// occupiesTarget reports whether a run loads its target, is about to, or has not deleted its keys yet. A cleanup Job
// that has not ended within spec.schedulingTimeoutSeconds blocks no other run; if it runs, it holds the lock.
func occupiesTarget(run *v1alpha1.EtcdBenchmark, now time.Time) bool {
	switch {
	case !isAdmitted(run):
		return false
	case !run.HasFinished():
		return true
	}
	return isDeletingKeys(run) && now.Before(blocksUntil(run))
}

// blocksUntil is when a run that deletes its keys blocks no other run any longer.
func blocksUntil(run *v1alpha1.EtcdBenchmark) time.Time {
	return run.Status.CompletionTime.Add(seconds(run.Spec.SchedulingTimeoutSeconds))
}

// earliest ignores a time that is zero.
func earliest(a, b time.Time) time.Time {
	if a.IsZero() || b.Before(a) {
		return b
	}
	return a
}

func activityOf(run *v1alpha1.EtcdBenchmark) Holding {
	switch {
	case run.HasFinished():
		return HoldingDeletes
	case waits(run):
		return HoldingWaits
	}
	return HoldingLoads
}

// createdBefore is a total order of all runs. Creation times are in seconds; the versions of the API server's objects
// grow with every write.
func createdBefore(a, b *v1alpha1.EtcdBenchmark) bool {
	return cmp.Or(
		a.CreationTimestamp.Compare(b.CreationTimestamp.Time),
		compareVersions(createdVersion(a), createdVersion(b)),
		cmp.Compare(a.UID, b.UID),
	) < 0
}

// createdVersion is the current version of a run that the operator has not handled yet.
func createdVersion(run *v1alpha1.EtcdBenchmark) string {
	return cmp.Or(run.Status.CreatedVersion, run.ResourceVersion)
}

// compareVersions compares decimal numbers without leading zeros, of any length.
func compareVersions(a, b string) int {
	return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b))
}

// decideQueue admits a run when no other run is in front of it, and the limit of its namespace allows one more. Status
// holds the admission before any object is created.
func decideQueue(o Observed, now time.Time) *Decision {
	limit := o.Caps.RunsPerNamespace
	switch {
	case isAdmitted(o.Run):
		return nil
	case o.Place.Ahead > 0:
		return waitForAddresses(o, now)
	case limit > 0 && o.RunsBefore >= limit:
		return queueFor(o, v1alpha1.QueueStatus{WaitsFor: v1alpha1.QueueLimit}, now, fmt.Sprintf(
			"The namespace already runs the maximum number of runs, %d (--max-runs-per-namespace). In front when this run began to wait: %d. It starts when enough of them have ended.", limit, o.RunsBefore))
	}
	stage := v1alpha1.StagePreparing
	if o.members() != nil {
		stage = v1alpha1.StageStarting
	}
	return &Decision{
		Stage: stage, Message: "No run with a target address in common holds up this run.",
		Admission: &v1alpha1.Admission{At: microTime(now), Undeleted: int32(o.Place.Undeleted)}, Requeue: time.Millisecond,
	}
}

func waitForAddresses(o Observed, now time.Time) *Decision {
	d := queueFor(o, v1alpha1.QueueStatus{WaitsFor: v1alpha1.QueueAddresses, Ahead: int32(o.Place.Ahead), Behind: o.Place.Behind}, now, fmt.Sprintf(
		"%s. %d in front when this run began to wait. To start without waiting, create the run with spec.target.concurrentRuns: Allow.", inFront(o), o.Place.Ahead))
	if !o.Place.FreeAt.IsZero() {
		d.wake(o.Place.FreeAt, now)
	}
	return d
}

// queueFor writes status when a wait begins, and not when the runs in front move: with many waiting runs, that would be
// as many writes for each run that ends.
func queueFor(o Observed, wait v1alpha1.QueueStatus, now time.Time, message string) *Decision {
	d := &Decision{Stage: v1alpha1.StageQueued, Queue: o.status().Queue, Message: o.message()}
	if !o.waitsFor(wait.WaitsFor) {
		wait.Since = metav1.NewTime(now.Truncate(time.Second))
		if d.Queue != nil {
			wait.Since = d.Queue.Since
		}
		d.Queue, d.Message = &wait, message
	}
	d.wake(now.Add(queueHeartbeat+time.Duration(o.Place.Ahead)*queueSpread%queueHeartbeat), now)
	return d
}

// inFront describes the run in front.
func inFront(o Observed) string {
	run, shares := "A run of another namespace", "has a target address in common with this run"
	if o.Place.Behind != "" {
		run = "Run " + o.Place.Behind
	}
	if o.spec().Target.IsOwn() {
		shares = "uses nodes for members or disks of its own, as this run"
	}
	return fmt.Sprintf("%s %s, and %s", run, shares, o.Place.Holding)
}

// decideLock follows client pod 0, which takes the lock of the target.
func decideLock(o Observed, now time.Time) *Decision {
	a := o.status().Admission
	switch {
	case a == nil || a.LockedAt != nil || !usesLock(o.Run) || o.status().StartAt != nil:
		return nil
	case o.Pods[0].holdsLock():
		return locked(o, now)
	case o.Pods[0].isLocking():
		return waitForLock(o, now)
	}
	return nil
}

// locked restarts the timeout of a run that had to wait for the lock.
func locked(o Observed, now time.Time) *Decision {
	a := *o.status().Admission
	a.LockedAt = new(microTime(now))
	if o.status().Queue != nil {
		a.At = *a.LockedAt
	}
	return &Decision{Stage: v1alpha1.StagePreparing, Message: "This run holds the lock of the target.", Admission: &a, Requeue: time.Millisecond}
}

func waitForLock(o Observed, now time.Time) *Decision {
	d := &Decision{
		Stage: v1alpha1.StageQueued, Queue: o.status().Queue,
		Message: "Another run loads the target and holds its lock: at other addresses, of another operator, or with run --local. This run has written nothing.",
	}
	if d.Queue == nil {
		d.Queue = &v1alpha1.QueueStatus{WaitsFor: v1alpha1.QueueLock, Since: metav1.NewTime(now.Truncate(time.Second))}
	}
	d.wake(nextCheck(o, now), now)
	return d
}

// admitPods admits client pod 0 when all pods have connected, so that a run whose pods never come keeps no other run
// waiting. It admits the other pods when client pod 0 holds the lock.
func admitPods(o Observed) (out []Action) {
	if o.status().Admission == nil || !usesLock(o.Run) {
		return nil
	}
	connected, locked := o.everyPod(Pod.hasConnected), o.Pods[0].holdsLock()
	for i, p := range o.Pods {
		if p.State == PodRunning && !p.Admitted && (locked || i == 0 && connected) {
			out = append(out, Action{Act: Annotate, Pod: p.Name, Annotations: map[string]string{plan.AnnotationAdmitted: "true"}})
		}
	}
	return out
}

func microTime(t time.Time) metav1.MicroTime {
	return metav1.NewMicroTime(t.Truncate(time.Microsecond))
}
