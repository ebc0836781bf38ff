package lifecycle

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// onTarget is a run, created so many seconds after t0, on these addresses.
func onTarget(name string, second int, addresses ...string) v1alpha1.EtcdBenchmark {
	run := newRun(1)
	run.Name, run.UID = name, types.UID(name)
	run.CreationTimestamp = metav1.NewTime(t0.Add(time.Duration(second) * time.Second))
	run.Spec.Target.ConcurrentRuns = v1alpha1.ConcurrentRunsQueue
	run.Status.Target = &v1alpha1.TargetStatus{Endpoints: addresses}
	return *run
}

func with(run v1alpha1.EtcdBenchmark, changes ...func(*v1alpha1.EtcdBenchmark)) v1alpha1.EtcdBenchmark {
	run = *run.DeepCopy()
	for _, c := range changes {
		c(&run)
	}
	return run
}

func allows(run *v1alpha1.EtcdBenchmark) {
	run.Spec.Target.ConcurrentRuns = v1alpha1.ConcurrentRunsAllow
}

func admittedIn(second int) func(*v1alpha1.EtcdBenchmark) {
	return func(run *v1alpha1.EtcdBenchmark) {
		at := metav1.NewMicroTime(t0.Add(time.Duration(second) * time.Second))
		run.Status.Admission = &v1alpha1.Admission{At: at, LockedAt: &at}
	}
}

func waitsFor(cause v1alpha1.QueueCause) func(*v1alpha1.EtcdBenchmark) {
	return func(run *v1alpha1.EtcdBenchmark) { run.Status.Queue = &v1alpha1.QueueStatus{WaitsFor: cause} }
}

// version sets the resourceVersion that the operator saw first.
func version(v string) func(*v1alpha1.EtcdBenchmark) {
	return func(run *v1alpha1.EtcdBenchmark) { run.Status.CreatedVersion = v }
}

func inNamespace(namespace string) func(*v1alpha1.EtcdBenchmark) {
	return func(run *v1alpha1.EtcdBenchmark) { run.Namespace = namespace }
}

func unresolved(run *v1alpha1.EtcdBenchmark) { run.Status.Target = nil }

func over(cleaned metav1.ConditionStatus) func(*v1alpha1.EtcdBenchmark) {
	return func(run *v1alpha1.EtcdBenchmark) {
		run.Status.CompletionTime = &metav1.Time{Time: t0}
		run.Status.Conditions = []metav1.Condition{
			{Type: v1alpha1.ConditionFinished, Status: metav1.ConditionTrue}, {Type: v1alpha1.ConditionCleaned, Status: cleaned},
		}
	}
}

func TestPlaceOf(t *testing.T) {
	own := with(onTarget("own", 10, "a:1", "b:1"), version("100"))
	withoutQueue := with(onTarget("old", 1, "a:1"), func(run *v1alpha1.EtcdBenchmark) { run.Status.Job = &v1alpha1.JobReference{} })
	admitted := with(onTarget("x", 20, "a:1"), admittedIn(20))
	tests := map[string]struct {
		run    v1alpha1.EtcdBenchmark
		others []v1alpha1.EtcdBenchmark
		want   Place
	}{
		"alone":                          {own, nil, Place{}},
		"one is running":                 {own, []v1alpha1.EtcdBenchmark{admitted}, Place{Ahead: 1, Behind: "x", Holding: HoldingLoads}},
		"of another namespace":           {own, []v1alpha1.EtcdBenchmark{with(admitted, inNamespace("other"))}, Place{Ahead: 1, Behind: "", Holding: HoldingLoads}},
		"one without admission":          {own, []v1alpha1.EtcdBenchmark{withoutQueue}, Place{Ahead: 1, Behind: "old", Holding: HoldingLoads}},
		"one runs and allows it":         {own, []v1alpha1.EtcdBenchmark{with(admitted, allows)}, Place{Ahead: 1, Behind: "x", Holding: HoldingLoads}},
		"an older one waits":             {own, []v1alpha1.EtcdBenchmark{onTarget("x", 5, "b:1")}, Place{Ahead: 1, Behind: "x", Holding: HoldingWaits}},
		"a younger one waits":            {own, []v1alpha1.EtcdBenchmark{onTarget("x", 15, "b:1")}, Place{}},
		"of the same second, a younger":  {own, []v1alpha1.EtcdBenchmark{with(onTarget("a", 10, "b:1"), version("101"))}, Place{}},
		"of the same second, an older":   {own, []v1alpha1.EtcdBenchmark{with(onTarget("z", 10, "b:1"), version("99"))}, Place{Ahead: 1, Behind: "z", Holding: HoldingWaits}},
		"an older one that allows it":    {own, []v1alpha1.EtcdBenchmark{with(onTarget("x", 5, "b:1"), allows)}, Place{}},
		"an older one without addresses": {own, []v1alpha1.EtcdBenchmark{with(onTarget("x", 5), unresolved)}, Place{Ahead: 1, Behind: "x", Holding: HoldingWaits}},
		"the last in front is named": {own, []v1alpha1.EtcdBenchmark{
			onTarget("x", 6, "b:1"), with(onTarget("y", 7, "a:1"), admittedIn(3)), onTarget("z", 5, "a:1"),
		}, Place{Ahead: 3, Behind: "x", Holding: HoldingWaits}},
		"one is over":           {own, []v1alpha1.EtcdBenchmark{with(admitted, over(metav1.ConditionTrue))}, Place{}},
		"one has left its keys": {own, []v1alpha1.EtcdBenchmark{with(admitted, over(metav1.ConditionFalse))}, Place{}},
		"one deletes its keys":  {own, []v1alpha1.EtcdBenchmark{with(admitted, over(metav1.ConditionUnknown))}, Place{Ahead: 1, Behind: "x", Holding: HoldingDeletes, FreeAt: t0.Add(seconds(own.Spec.SchedulingTimeoutSeconds))}},
		"itself":                {own, []v1alpha1.EtcdBenchmark{own}, Place{}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, PlaceOf(&tc.run, pointersTo(tc.others), t0)); diff != "" {
				t.Errorf("place (-want +got):\n%s", diff)
			}
		})
	}
}

func pointersTo(runs []v1alpha1.EtcdBenchmark) (out []*v1alpha1.EtcdBenchmark) {
	for i := range runs {
		out = append(out, &runs[i])
	}
	return out
}

func TestACleaningRunBlocksForALimitedTime(t *testing.T) {
	run, other := onTarget("own", 10, "a:1"), with(onTarget("x", 1, "a:1"), admittedIn(1), over(metav1.ConditionUnknown))
	limit := seconds(other.Spec.SchedulingTimeoutSeconds)
	for after, want := range map[time.Duration]int{limit - 1: 1, limit: 0} {
		if got := PlaceOf(&run, []*v1alpha1.EtcdBenchmark{&other}, t0.Add(after)); got.Ahead != want || got.Undeleted != 1-want {
			t.Errorf("%v after its end: wanted %d runs in front, found %+v", after, want, got)
		}
	}
	o := Observed{Run: &run, Place: Place{Undeleted: 1}}
	if d := decideQueue(o, t0); d == nil || d.Admission == nil || d.Admission.Undeleted != 1 {
		t.Errorf("wanted an admission that tells of one run with keys, found %+v", d)
	}
}

// TestAWaitingRunWakesWhenACleaningRunBlocksNoLonger: no event tells of that time.
func TestAWaitingRunWakesWhenACleaningRunBlocksNoLonger(t *testing.T) {
	o := scenario()
	o.Place = Place{Ahead: 1, Holding: HoldingDeletes, FreeAt: t0.Add(time.Minute)}
	if d := waitForAddresses(o, t0); d.Requeue != time.Minute {
		t.Errorf("wanted to check again after a minute, found %s", d.Requeue)
	}
	if d := waitForAddresses(o, t0.Add(time.Minute)); d.Requeue != time.Millisecond {
		t.Errorf("wanted to check again at once, found %s", d.Requeue)
	}
	o.Place.FreeAt = time.Time{}
	if d := waitForAddresses(o, t0); d.Requeue != queueHeartbeat+queueSpread {
		t.Errorf("wanted to check again after %s, found %s", queueHeartbeat+queueSpread, d.Requeue)
	}
	after := map[time.Duration]int{}
	for o.Place.Ahead = range 1000 {
		d := waitForAddresses(o, t0)
		if after[d.Requeue]++; after[d.Requeue] > 4 || d.Requeue >= 2*queueHeartbeat {
			t.Fatalf("wanted few of 1,000 runs to check at a time, each within %s, found one that is number %d to check after %s", 2*queueHeartbeat, after[d.Requeue], d.Requeue)
		}
	}
}

// Two runs queue for each other if they have an address in common, or lead to the same Service.
func TestAddresses(t *testing.T) {
	byService := func(name string) func(*v1alpha1.EtcdBenchmark) {
		return func(run *v1alpha1.EtcdBenchmark) { run.Spec.Target.Service = &v1alpha1.ServiceTarget{Name: name} }
	}
	own := with(onTarget("own", 1, "a:1", "b:1"), byService("etcd"))
	tests := map[string]struct {
		other v1alpha1.EtcdBenchmark
		want  bool
	}{
		"an address":                          {onTarget("x", 1, "b:1", "c:1"), true},
		"in other case":                       {onTarget("x", 1, "B:1"), true},
		"another address":                     {onTarget("x", 1, "c:1"), false},
		"the Service, not resolved yet":       {with(onTarget("x", 1), unresolved, byService("etcd")), true},
		"another Service":                     {with(onTarget("x", 1), unresolved, byService("other")), false},
		"a Service of that name, elsewhere":   {with(onTarget("x", 1), unresolved, byService("etcd"), inNamespace("other")), false},
		"addresses in spec, not resolved yet": {with(onTarget("x", 1), unresolved, func(run *v1alpha1.EtcdBenchmark) { run.Spec.Target.Endpoints = []string{"http://A:1"} }), true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			other := Addresses(&tc.other)
			if got := slices.ContainsFunc(Addresses(&own), func(a string) bool { return slices.Contains(other, a) }); got != tc.want {
				t.Errorf("they queue for each other: %v, wanted %v (%v)", got, tc.want, other)
			}
		})
	}
}

func behind(p Place) change { return func(o *Observed) { o.Place = p } }

// waiting is a run whose pods have connected. None of them has been admitted.
func waiting(o *Observed) {
	running(o)
	o.Run.Status.Admission.LockedAt = nil
	for i := range o.Pods {
		o.Pods[i].Ready, o.Pods[i].Admitted, o.Pods[i].Live = false, false, &results.Snapshot{Stage: results.StageWaiting}
	}
}

// podIn puts a pod into a stage.
func podIn(i int, stage results.Stage) change {
	return pod(i, func(p *Pod) { p.Live = &results.Snapshot{Stage: stage} })
}

// locking is a run that waits for the lock of its target.
func locking(o *Observed) {
	waiting(o)
	pod(0, func(p *Pod) { p.Admitted = true })(o)
	podIn(0, results.StageLocking)(o)
}

// full makes the namespace have as many runs as it may.
func full(o *Observed) { o.Caps, o.RunsBefore = Caps{RunsPerNamespace: 2}, 2 }

func queuedFor(q v1alpha1.QueueStatus) change { return func(o *Observed) { o.Run.Status.Queue = &q } }

// A waiting run says what it waits for, and no timeout counts.
func TestQueue(t *testing.T) {
	now, earlier := t0.Add(1000*time.Hour), metav1.NewTime(t0)
	tests := map[string]struct {
		seen   Observed
		queue  v1alpha1.QueueStatus
		report string
	}{
		"for addresses":          {scenario(resolved, behind(Place{Ahead: 3, Behind: "x", Holding: HoldingWaits})), v1alpha1.QueueStatus{WaitsFor: v1alpha1.QueueAddresses, Since: metav1.NewTime(now), Ahead: 3, Behind: "x"}, "Run x"},
		"of another namespace":   {scenario(resolved, behind(Place{Ahead: 1, Holding: HoldingLoads})), v1alpha1.QueueStatus{WaitsFor: v1alpha1.QueueAddresses, Since: metav1.NewTime(now), Ahead: 1}, "A run of another namespace"},
		"the runs in front move": {scenario(resolved, behind(Place{Ahead: 2, Behind: "y", Holding: HoldingWaits}), at(v1alpha1.StageQueued), queuedFor(v1alpha1.QueueStatus{WaitsFor: v1alpha1.QueueAddresses, Ahead: 3, Behind: "x"})), v1alpha1.QueueStatus{WaitsFor: v1alpha1.QueueAddresses, Ahead: 3, Behind: "x"}, messageAt},
		"for the limit":          {scenario(resolved, full), v1alpha1.QueueStatus{WaitsFor: v1alpha1.QueueLimit, Since: metav1.NewTime(now)}, "--max-runs-per-namespace"},
		"first for addresses":    {scenario(resolved, full, behind(Place{Ahead: 1, Holding: HoldingLoads})), v1alpha1.QueueStatus{WaitsFor: v1alpha1.QueueAddresses, Since: metav1.NewTime(now), Ahead: 1}, "A run of another namespace"},
		"then for the limit":     {scenario(resolved, full, queuedFor(v1alpha1.QueueStatus{WaitsFor: v1alpha1.QueueAddresses, Since: earlier, Ahead: 1})), v1alpha1.QueueStatus{WaitsFor: v1alpha1.QueueLimit, Since: earlier}, "--max-runs-per-namespace"},
		"for the lock":           {scenario(locking, at(v1alpha1.StagePreparing), queuedFor(v1alpha1.QueueStatus{WaitsFor: v1alpha1.QueueLock, Since: metav1.NewTime(now)})), v1alpha1.QueueStatus{WaitsFor: v1alpha1.QueueLock, Since: metav1.NewTime(now)}, "holds its lock"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			d := Decide(tc.seen, now)
			if d.Stage != v1alpha1.StageQueued || !strings.Contains(d.Message, tc.report) || d.Ending != nil || len(d.Actions) > 0 || d.Requeue == 0 {
				t.Errorf("wanted it to queue, a message of %q and nothing done, found %+v", tc.report, d)
			}
			if diff := cmp.Diff(&tc.queue, d.Queue); diff != "" {
				t.Errorf("queue (-want +got):\n%s", diff)
			}
		})
	}
}

// at sets the stage in status.
func at(stage string) change {
	return func(o *Observed) {
		o.Run.Status.Conditions = append(o.Run.Status.Conditions, metav1.Condition{Type: v1alpha1.ConditionFinished, Status: metav1.ConditionFalse, Reason: stage, Message: messageAt})
	}
}

const messageAt = "the message in status"

// Client pod 0 is admitted when all pods have connected, and the others when it holds the lock.
func TestPodsAreAdmitted(t *testing.T) {
	unreachable := func(p *Pod) { p.Live, p.Unreachable = nil, true }
	tests := map[string]struct {
		seen Observed
		want []string
	}{
		"all have connected":              {scenario(waiting), []string{"a"}},
		"one has not connected":           {scenario(waiting, podIn(1, results.StageConnecting)), nil},
		"one does not run":                {scenario(waiting, pod(1, func(p *Pod) { p.State, p.Live = PodWaiting, nil })), nil},
		"one cannot be scraped":           {scenario(waiting, pod(1, unreachable)), []string{"a"}},
		"the first waits for the lock":    {scenario(locking), nil},
		"the first holds the lock":        {scenario(waiting, lockedSince(t0), pod(0, func(p *Pod) { p.Admitted = true }), podIn(0, results.StageClaiming)), []string{"b"}},
		"the first is ready":              {scenario(waiting, lockedSince(t0), pod(0, func(p *Pod) { p.Admitted, p.Ready, p.Live = true, true, nil })), []string{"b"}},
		"the first failed":                {scenario(waiting, pod(0, func(p *Pod) { p.Admitted = true }), podIn(0, results.StageDone)), nil},
		"it loads a target beside others": {scenario(waiting, func(o *Observed) { allows(o.Run) }), nil},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, a := range Decide(tc.seen, t0).Actions {
				if a.Annotations[plan.AnnotationAdmitted] == "true" {
					got = append(got, a.Pod)
				}
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("admitted pods (-want +got):\n%s", diff)
			}
		})
	}
}

func lockedSince(at time.Time) change {
	return func(o *Observed) { o.Run.Status.Admission.LockedAt = new(metav1.NewMicroTime(at)) }
}

// Status says that the run holds the lock before any other pod may write. The timeouts of a run that waited for it start
// again.
func TestTheLockIsSavedBeforeOtherPodsMayWrite(t *testing.T) {
	now := t0.Add(time.Minute)
	for name, tc := range map[string]struct {
		queue *v1alpha1.QueueStatus
		at    time.Time
	}{
		"at once":      {nil, t0},
		"after a wait": {&v1alpha1.QueueStatus{WaitsFor: v1alpha1.QueueLock, Since: metav1.NewTime(t0)}, now},
	} {
		d := Decide(scenario(locking, podIn(0, results.StageClaiming), func(o *Observed) { o.Run.Status.Queue = tc.queue }), now)
		if d.Admission == nil || d.Admission.LockedAt == nil || !d.Admission.LockedAt.Time.Equal(now) || !d.Admission.At.Time.Equal(tc.at) || len(d.Actions) > 0 || d.Queue != nil {
			t.Errorf("%s: wanted only the lock to be saved, found %+v", name, d)
		}
	}
}

// Timeouts count from when the run left the queue.
func TestTimeoutsDoNotCountTheQueue(t *testing.T) {
	left := t0.Add(10 * time.Hour)
	let := func(o *Observed) {
		o.Run.Status.Admission = &v1alpha1.Admission{At: metav1.NewMicroTime(left), LockedAt: new(metav1.NewMicroTime(left))}
	}
	forLock := v1alpha1.QueueStatus{WaitsFor: v1alpha1.QueueLock, Since: metav1.NewTime(left)}
	unlet := func(o *Observed) { o.Run.Status.Admission = &v1alpha1.Admission{At: metav1.NewMicroTime(left)} }
	tests := map[string]struct {
		seen Observed
		at   time.Time
		want string
	}{
		"a long queue":              {scenario(startSet(t0), let), left.Add(199 * time.Second), ""},
		"and then a long run":       {scenario(startSet(t0), let), left.Add(200 * time.Second), v1alpha1.ReasonTimedOut},
		"a wait for addresses":      {scenario(resolved, behind(Place{Ahead: 1}), queuedFor(v1alpha1.QueueStatus{WaitsFor: v1alpha1.QueueAddresses})), left.Add(1000 * time.Hour), ""},
		"a wait for the lock":       {scenario(locking, unlet, queuedFor(forLock)), left.Add(259 * time.Second), ""},
		"a pod that hangs there":    {scenario(locking, unlet, queuedFor(forLock)), left.Add(260 * time.Second), v1alpha1.ReasonTimedOut},
		"too long for the lock":     {scenario(locking, unlet, pod(0, fails(&results.Failure{Reason: results.FailureTargetBusy}))), left, v1alpha1.ReasonTargetBusy},
		"no pod for the lock":       {scenario(created, unlet), left.Add(60 * time.Second), v1alpha1.ReasonPodsNotReady},
		"not ready after it":        {scenario(running, let, pod(1, func(p *Pod) { p.Ready = false })), left.Add(60 * time.Second), v1alpha1.ReasonPodsNotReady},
		"nearly ready after it":     {scenario(running, let, pod(1, func(p *Pod) { p.Ready = false })), left.Add(59 * time.Second), ""},
		"stopped while it waits":    {scenario(resolved, behind(Place{Ahead: 1}), func(o *Observed) { o.Run.Spec.Stop = true }), left, v1alpha1.ReasonStopped},
		"without an admission":      {scenario(startSet(t0), func(o *Observed) { o.Run.Status.Admission = nil }), t0.Add(200 * time.Second), v1alpha1.ReasonTimedOut},
		"a pod fails while waiting": {scenario(locking, pod(1, fails(&results.Failure{Reason: results.FailureTLSFailed}))), left, v1alpha1.ReasonTLSFailed},
		"the lock is taken":         {scenario(startSet(t0), let, pod(1, fails(&results.Failure{Reason: results.FailureTargetTaken}))), left, v1alpha1.ReasonTargetTaken},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got := ""
			if d := Decide(tc.seen, tc.at); d.Ending != nil {
				got = d.Ending.Reason
			}
			if got != tc.want {
				t.Errorf("wanted it to end as %q, found %q", tc.want, got)
			}
		})
	}
}
