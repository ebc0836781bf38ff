package lifecycle

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// world simulates a cluster with one run, as far as Decide sees it. It executes the actions and injects faults between
// them.
type world struct {
	t    *testing.T
	rand *rand.Rand
	now  time.Time
	run  *v1alpha1.EtcdBenchmark
	job  Job
	jobs int
	// cleanups counts the cleanup Jobs; cleanup is the current one.
	cleanup  Cleanup
	cleanups int
	pods     map[string]*Pod
	// clients are the real states of the pods, by name; store is the content of the target.
	clients map[string]*client
	store   store
	// injected are the faults with an effect before the reason was final. notes are the recorded notes.
	injected []fault
	notes    []Note
	// target: its objects exist; if not, they do not exist before targetBack.
	target     bool
	targetBack time.Time
	// ahead counts the steps until the run in front on the same addresses ends, rivals those until the target's lock is
	// free. held: the run has taken the lock.
	ahead, rivals int
	held          bool
	gone          bool
	// randomFaults is the number of remaining random faults.
	randomFaults int
	// frozen pods do nothing any more; started are the pods with a start, by index.
	frozen  map[string]bool
	started map[int]string
	// asked is since when the operator scrapes a pod; back is when the operator returned.
	asked map[string]time.Time
	back  time.Time
	// seen is what this operator process has seen.
	seen Seen
	// planned are the planned faults, in order; first is set from the current one.
	planned []plannedFault
	first   bool
	// onlyPlanned: there are only planned faults, so struck is complete.
	onlyPlanned bool
	// members are the run's own, and membersMade counts their Jobs.
	members     Members
	membersMade int
	// going: the members are being deleted.
	going bool
	log   []func() string
}

func newWorld(t *testing.T, seed uint64) *world {
	r := rand.New(rand.NewPCG(seed, 7))
	run := newRun(int32(1 + r.IntN(4)))
	if r.IntN(3) == 0 {
		run.Spec.OnPodLost = v1alpha1.PodLossContinue
	}
	start := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	return &world{t: t, rand: r, now: start, randomFaults: r.IntN(4), run: run, ahead: r.IntN(4), rivals: r.IntN(8) - 4, pods: map[string]*Pod{}, clients: map[string]*client{}, store: store{writers: map[int]bool{}}, frozen: map[string]bool{}, started: map[int]string{}, asked: map[string]time.Time{}}
}

func newRun(pods int32) *v1alpha1.EtcdBenchmark {
	run := &v1alpha1.EtcdBenchmark{ObjectMeta: metav1.ObjectMeta{Name: "run", Namespace: "ns", UID: "0123456789ab"}}
	run.Spec.Target.Datastore = spec.Etcd
	run.Spec.Load.Pods = pods
	run.Spec.SchedulingTimeoutSeconds = 60
	run.Spec.TimeoutSeconds = 200
	run.Spec.OnPodLost = v1alpha1.PodLossFail
	return run
}

func (w *world) note(format string, args ...any) {
	now := w.now
	w.log = append(w.log, func() string { return now.Format("04:05.000 ") + fmt.Sprintf(format, args...) })
}

func (w *world) fail(format string, args ...any) {
	w.t.Helper()
	for _, line := range w.log {
		w.t.Log(line())
	}
	w.t.Fatalf(format, args...)
}

func (w *world) observe() Observed {
	o := Observed{Run: w.run.DeepCopy(), Seen: w.sees(), Job: w.job, Cleanup: w.cleanup}
	o.Members, o.Caps = w.members, Caps{MemberImages: []ImagePattern{"e"}}
	o.Members.Gone = o.finished() && !w.members.Job.Exists && !w.going
	o.Members.Pods = slices.Clone(w.members.Pods)
	if w.target || o.members() != nil {
		o.Target.Endpoints = []string{"127.0.0.1:2379"}
	} else {
		o.Target.Missing = "nothing there"
	}
	o.Place = w.place()
	var found []Pod
	for _, name := range w.names() {
		if w.asked[name].IsZero() {
			w.asked[name] = w.now
		}
		found = append(found, *w.pods[name])
		found[len(found)-1].Asked = w.asked[name]
	}
	o.Pods, o.ExtraPods = AssignPods(o.Run, found)
	o.PodsLive = w.rand.IntN(2) == 0
	return o
}

// sees notes what the operator sees for the first time.
func (w *world) sees() Seen {
	now := w.seen.by(w.now)
	w.seen.Run = now.Run
	if w.run.Status.Ending != nil {
		w.seen.Ending = now.Ending
	}
	if w.finished() != "" {
		w.seen.End = now.End
	}
	if w.run.DeletionTimestamp != nil {
		w.seen.Deletion = now.Deletion
	}
	return w.seen
}

// place is the run's place in the simulated queue.
func (w *world) place() Place {
	if w.ahead > 0 && !allowsOthers(w.run) {
		return Place{Ahead: 1, Behind: "older", Holding: HoldingLoads}
	}
	return Place{}
}

func (w *world) names() []string {
	var names []string
	for name := range w.pods {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// step decides, checks the decision and executes it.
func (w *world) step() Decision {
	o := w.observe()
	hadStart := o.Run.Status.StartAt != nil
	d := Decide(o, w.now)
	w.note("%s/%v -> %s %q finish=%v actions=%v requeue=%v", o.stage(), o.finished(), d.Stage, d.Message, d.Finish, d.Actions, d.Requeue)
	if o.finished() && (d.Finish != nil || d.Ending != nil || d.StartAt != nil) {
		w.fail("a finished run was changed again: %+v", d)
	}
	if d.StartAt != nil && hadStart && o.countPods(Pod.carriesStart) > 0 {
		w.fail("a start was replaced although a pod carries it")
	}
	if d.Admission != nil && o.status().Admission == nil && o.Place.Ahead > 0 {
		w.fail("the run was admitted behind %s", o.Place.Behind)
	}
	w.notes = append(w.notes, d.Notes...)
	w.checkFinish(o, d)
	for _, a := range d.Actions {
		w.take(a)
	}
	w.keep(o, d)
	w.checkCleaned()
	return d
}

func (w *world) take(a Action) {
	switch a.Act {
	case AddFinalizer:
		if !slices.Contains(w.run.Finalizers, v1alpha1.Finalizer) {
			w.run.Finalizers = append(w.run.Finalizers, v1alpha1.Finalizer)
		}
	case CreateMembers:
		w.createMembers()
	case DeleteMembers:
		w.members.Job.Exists, w.going = false, true
	case CreateJob:
		w.createJob()
	case Annotate, Start:
		w.annotate(a)
	case DeleteJob:
		w.deleteJob()
	case NameCleanup:
		w.run.Status.CleanupJob = &v1alpha1.JobReference{Name: "cleanup"}
	case CreateCleanup:
		w.cleanups++
		if job := w.run.Status.CleanupJob; job == nil || job.UID != "" {
			w.fail("a cleanup Job was created under a name that status did not have")
		}
		w.run.Status.CleanupJob.UID = types.UID(fmt.Sprint("cleanup", w.cleanups))
		w.cleanup = Cleanup{Exists: true, Seen: w.now}
	case DeleteCleanup:
		w.cleanup = Cleanup{}
	case RemoveFinalizer:
		w.run.Finalizers = nil
		w.gone = w.run.DeletionTimestamp != nil
	case DeleteRun:
		w.gone = true
	}
}

func (w *world) createJob() {
	if w.run.Status.Admission == nil {
		w.fail("a load Job was created before the run was admitted")
	}
	if !membersReady(w.run) {
		w.fail("a load Job was created before the members were ready")
	}
	if w.jobs > 0 && !w.job.Exists {
		w.fail("a second load Job was created")
	}
	if !w.job.Exists {
		w.jobs++
		w.job = Job{Exists: true, UID: types.UID(fmt.Sprint("job", w.jobs)), Seen: w.now}
	}
	w.run.Status.Job = &v1alpha1.JobReference{Name: w.run.LoadJobName(), UID: w.job.UID}
}

func (w *world) annotate(a Action) {
	p := w.pods[a.Pod]
	if p == nil {
		return
	}
	if a.Annotations[plan.AnnotationAdmitted] != "" {
		w.checkAdmission(p)
		p.Admitted = true
	}
	if at := a.Annotations[plan.AnnotationStartAt]; at != "" {
		if w.run.Status.StartAt == nil || at != FormatStart(*w.run.Status.StartAt) {
			w.fail("pod %s was given a start that status does not hold", a.Pod)
		}
		if other := w.started[p.Index]; other != "" && other != p.Name {
			w.fail("pod %s got a start, but %s with the same index had one before", p.Name, other)
		}
		p.StartAt, w.started[p.Index] = at, p.Name
	}
	p.Stop = p.Stop || a.Annotations[plan.AnnotationStop] == "true"
	p.Collected = p.Collected || a.Annotations[plan.AnnotationCollected] == "true"
}

// checkAdmission: client pod 0 is admitted when all pods have connected, the others when the run holds the lock.
func (w *world) checkAdmission(p *Pod) {
	if p.Index != 0 && !w.held {
		w.fail("pod %s got permission to write while the run did not hold the lock", p.Name)
	}
	connected := map[int]bool{}
	for _, other := range w.pods {
		connected[other.Index] = connected[other.Index] || other.State == PodRunning
	}
	if p.Index == 0 && !w.held && len(connected) < int(w.run.Spec.Load.Pods) {
		w.fail("pod %s may take the lock, and only %d pods exist", p.Name, len(connected))
	}
}

// restart replaces the operator by one that has scraped no pod.
func (w *world) restart() {
	clear(w.asked)
	w.seen, w.cleanup.Seen = Seen{}, w.now
	for _, p := range w.pods {
		forget(p)
	}
}

// leave removes the operator for a while.
func (w *world) leave(d time.Duration) {
	w.now = w.now.Add(d)
	w.back = w.now
	w.restart()
}

// checkEnd: a run is finished at most a minute after its timeout, or after the operator's return if that is later.
func (w *world) checkEnd() {
	a, end := w.run.Status.Admission, w.run.Status.CompletionTime
	if a == nil || end == nil {
		return
	}
	from := a.At.Time
	if e := w.run.Status.Ephemeral; e != nil && e.ReadyAt != nil {
		from = latest(from, e.ReadyAt.Time)
	}
	bound := latest(from.Add(seconds(w.run.Spec.TimeoutSeconds)), w.back).Add(time.Minute)
	if end.After(bound) {
		w.fail("wanted the end by %s, found it at %s", bound.Format(time.TimeOnly), end.Format(time.TimeOnly))
	}
}

func (w *world) deleteJob() {
	w.job = Job{}
	for _, name := range w.names() {
		if p := w.pods[name]; p.State == PodRunning {
			w.terminate(p)
		} else {
			delete(w.pods, name)
		}
	}
}

// keep saves in status the minimum that the controller saves.
func (w *world) keep(o Observed, d Decision) {
	s := &w.run.Status
	if s.StartTime == nil {
		s.StartTime = &metav1.Time{Time: w.now}
	}
	s.Queue = d.Queue
	if d.Members != nil {
		s.Ephemeral = d.Members
	}
	if len(d.Endpoints) > 0 {
		s.Target = &v1alpha1.TargetStatus{Endpoints: d.Endpoints}
	}
	if d.Admission != nil {
		s.Admission = d.Admission
	}
	if d.StartAt != nil {
		s.StartAt = d.StartAt
	}
	if s.Ending == nil {
		s.Ending = d.Ending
	}
	if !o.finished() {
		w.keepPods(o)
	}
	w.keepConditions(o, d)
}

func (w *world) keepPods(o Observed) {
	w.run.Status.Pods = nil
	for _, p := range o.Pods {
		if p.State != PodMissing {
			deleted := p.isFinal() && p.Final.Cleaning == results.CleaningKeysDeleted
			w.run.Status.Pods = append(w.run.Status.Pods, v1alpha1.PodStatus{Index: int32(p.Index), Name: p.Name, Node: p.Node, Stage: string(p.stage()), KeysDeleted: deleted})
		}
	}
}

func (w *world) keepConditions(o Observed, d Decision) {
	set := func(kind string, status metav1.ConditionStatus, reason string) {
		meta.SetStatusCondition(&w.run.Status.Conditions, metav1.Condition{Type: kind, Status: status, Reason: reason, LastTransitionTime: metav1.NewTime(w.now)})
	}
	switch {
	case d.Finish != nil:
		w.run.Status.CompletionTime = &metav1.Time{Time: w.now}
		set(v1alpha1.ConditionFinished, metav1.ConditionTrue, d.Finish.Reason)
	case !o.finished():
		if later(o.stage(), d.Stage) != d.Stage {
			w.fail("the stage went back from %s to %s", o.stage(), d.Stage)
		}
		set(v1alpha1.ConditionFinished, metav1.ConditionFalse, d.Stage)
	}
	if d.Cleaned != nil {
		set(v1alpha1.ConditionCleaned, d.Cleaned.Status, d.Cleaned.Reason)
		w.note("Cleaned=%s: %s", d.Cleaned.Status, d.Cleaned.Message)
	}
}

func (w *world) finished() string {
	if c := meta.FindStatusCondition(w.run.Status.Conditions, v1alpha1.ConditionFinished); c != nil && c.Status == metav1.ConditionTrue {
		return c.Reason
	}
	return ""
}
