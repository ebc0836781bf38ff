package lifecycle

import (
	"fmt"
	"maps"
	"math/rand/v2"
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
		run.Status.Admission = &v1alpha1.Admission{At: at, ConfirmedAt: &at}
	}
}

// unconfirmed was admitted but may not write yet.
func unconfirmed(second int) func(*v1alpha1.EtcdBenchmark) {
	return func(run *v1alpha1.EtcdBenchmark) {
		admittedIn(second)(run)
		run.Status.Admission.ConfirmedAt = nil
	}
}

func inCluster(id string) func(*v1alpha1.EtcdBenchmark) {
	return func(run *v1alpha1.EtcdBenchmark) { run.Status.Target.ClusterID = id }
}

func over(cleaned metav1.ConditionStatus) func(*v1alpha1.EtcdBenchmark) {
	return func(run *v1alpha1.EtcdBenchmark) {
		run.Status.CompletionTime = &metav1.Time{Time: t0}
		run.Status.Conditions = []metav1.Condition{
			{Type: v1alpha1.ConditionFinished, Status: metav1.ConditionTrue}, {Type: v1alpha1.ConditionCleaned, Status: cleaned},
		}
	}
}

func TestPlaceOf(t *testing.T) {
	own := onTarget("own", 10, "a:1", "b:1")
	unresolved := onTarget("unresolved", 1)
	unresolved.Status.Target = nil
	beforeQueues := with(onTarget("old", 1, "a:1"), func(run *v1alpha1.EtcdBenchmark) { run.Status.Job = &v1alpha1.JobReference{} })
	tests := map[string]struct {
		run    v1alpha1.EtcdBenchmark
		others []v1alpha1.EtcdBenchmark
		want   Place
	}{
		"alone":                         {own, nil, Place{}},
		"one is running":                {own, []v1alpha1.EtcdBenchmark{with(onTarget("x", 20, "a:1"), admittedIn(20))}, Place{Behind: "ns/x", Position: 1, Holder: "ns/x", Holding: HoldingLoads}},
		"in other case":                 {own, []v1alpha1.EtcdBenchmark{with(onTarget("x", 20, "A:1"), admittedIn(20))}, Place{Behind: "ns/x", Position: 1, Holder: "ns/x", Holding: HoldingLoads}},
		"one without admission":         {own, []v1alpha1.EtcdBenchmark{beforeQueues}, Place{Behind: "ns/old", Position: 1, Holder: "ns/old", Holding: HoldingLoads}},
		"one was admitted":              {own, []v1alpha1.EtcdBenchmark{with(onTarget("x", 1, "a:1"), unconfirmed(1))}, Place{Behind: "ns/x", Position: 1, Holder: "ns/x", Holding: HoldingWaits}},
		"one runs elsewhere":            {own, []v1alpha1.EtcdBenchmark{with(onTarget("x", 1, "c:1"), admittedIn(1))}, Place{}},
		"one runs and allows it":        {own, []v1alpha1.EtcdBenchmark{with(onTarget("x", 1, "a:1"), admittedIn(1), allows)}, Place{Behind: "ns/x", Position: 1, Holder: "ns/x", Holding: HoldingLoads}},
		"an older one waits":            {own, []v1alpha1.EtcdBenchmark{onTarget("x", 5, "b:1")}, Place{Behind: "ns/x", Position: 2}},
		"a younger one waits":           {own, []v1alpha1.EtcdBenchmark{onTarget("x", 15, "b:1")}, Place{}},
		"of the same second, by name":   {own, []v1alpha1.EtcdBenchmark{onTarget("a", 10, "b:1"), onTarget("z", 10, "b:1")}, Place{Behind: "ns/a", Position: 2}},
		"an older one that allows it":   {own, []v1alpha1.EtcdBenchmark{with(onTarget("x", 5, "b:1"), allows)}, Place{}},
		"an older one without a target": {own, []v1alpha1.EtcdBenchmark{unresolved}, Place{}},
		"the last in front is named": {own, []v1alpha1.EtcdBenchmark{
			onTarget("x", 6, "b:1"), with(onTarget("y", 2, "a:1"), admittedIn(3)), onTarget("z", 5, "a:1"),
		}, Place{Behind: "ns/x", Position: 3, Holder: "ns/y", Holding: HoldingLoads}},
		"one is over":                   {own, []v1alpha1.EtcdBenchmark{with(onTarget("x", 1, "a:1"), admittedIn(1), over(metav1.ConditionTrue))}, Place{}},
		"one has left its keys":         {own, []v1alpha1.EtcdBenchmark{with(onTarget("x", 1, "a:1"), admittedIn(1), over(metav1.ConditionFalse))}, Place{}},
		"one deletes its keys":          {own, []v1alpha1.EtcdBenchmark{with(onTarget("x", 1, "a:1"), admittedIn(1), over(metav1.ConditionUnknown))}, Place{Behind: "ns/x", Position: 1, Holder: "ns/x", Holding: HoldingDeletes}},
		"it allows others":              {with(own, allows), []v1alpha1.EtcdBenchmark{with(onTarget("x", 1, "a:1"), admittedIn(1))}, Place{}},
		"itself":                        {own, []v1alpha1.EtcdBenchmark{own}, Place{}},
		"no id yet, alone":              {with(own, unconfirmed(10)), nil, Place{}},
		"no id yet, not alone":          {with(own, unconfirmed(10)), []v1alpha1.EtcdBenchmark{with(onTarget("x", 1, "c:1"), admittedIn(1), inCluster("1"))}, Place{Behind: "ns/x", Position: 1, Unknown: true}},
		"the other has no id":           {with(own, unconfirmed(10), inCluster("1")), []v1alpha1.EtcdBenchmark{with(onTarget("x", 1, "c:1"), admittedIn(1))}, Place{Behind: "ns/x", Position: 1, Unknown: true}},
		"the other is elsewhere":        {with(own, unconfirmed(10), inCluster("1")), []v1alpha1.EtcdBenchmark{with(onTarget("x", 1, "c:1"), admittedIn(1), inCluster("2"))}, Place{}},
		"the other is here":             {with(own, unconfirmed(10), inCluster("1")), []v1alpha1.EtcdBenchmark{with(onTarget("x", 1, "c:1"), admittedIn(1), inCluster("1"))}, Place{Behind: "ns/x", Position: 1, SameCluster: true}},
		"the other waits, unknown":      {with(own, unconfirmed(10), inCluster("1")), []v1alpha1.EtcdBenchmark{with(onTarget("x", 1, "c:1"), unconfirmed(1))}, Place{}},
		"one that allows it has no pod": {with(own, unconfirmed(10), inCluster("1")), []v1alpha1.EtcdBenchmark{with(onTarget("x", 1, "c:1"), unconfirmed(1), allows)}, Place{}},
		"one that allows it has pods":   {with(own, unconfirmed(10), inCluster("1")), []v1alpha1.EtcdBenchmark{with(onTarget("x", 1, "c:1"), admittedIn(1), allows)}, Place{Behind: "ns/x", Position: 1, Unknown: true}},
		"the other waits, here":         {with(own, unconfirmed(10), inCluster("1")), []v1alpha1.EtcdBenchmark{with(onTarget("x", 1, "c:1"), unconfirmed(1), inCluster("1"))}, Place{Behind: "ns/x", Position: 1, SameCluster: true}},
		"the other went first":          {with(own, unconfirmed(10), inCluster("1")), []v1alpha1.EtcdBenchmark{with(onTarget("x", 1, "c:1"), admittedIn(11), inCluster("1"))}, Place{Behind: "ns/x", Position: 1, SameCluster: true}},
		"the other came later":          {with(own, unconfirmed(10), inCluster("1")), []v1alpha1.EtcdBenchmark{with(onTarget("x", 1, "c:1"), unconfirmed(11), inCluster("1"))}, Place{}},
		"one here, one unknown": {with(own, unconfirmed(10), inCluster("1")), []v1alpha1.EtcdBenchmark{
			with(onTarget("u", 1, "c:1"), admittedIn(1)), with(onTarget("x", 1, "d:1"), admittedIn(2), inCluster("1")),
		}, Place{Behind: "ns/x", Position: 2, SameCluster: true}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, PlaceOf(&tc.run, tc.others, t0)); diff != "" {
				t.Errorf("place (-want +got):\n%s", diff)
			}
		})
	}
}

func TestACleaningRunBlocksForALimitedTime(t *testing.T) {
	run, other := onTarget("own", 10, "a:1"), with(onTarget("x", 1, "a:1"), admittedIn(1), over(metav1.ConditionUnknown))
	if got := PlaceOf(&run, []v1alpha1.EtcdBenchmark{other}, t0.Add(maxCleaningAfterEnd)); got.Behind != "" {
		t.Errorf("wanted it to be admitted after %v, found %+v", maxCleaningAfterEnd, got)
	}
}

func behind(p Place) change { return func(o *Observed) { o.Place = p } }

func unsure(o *Observed) {
	admitted(o)
	o.Run.Status.Admission.ConfirmedAt = nil
}

func waiting(o *Observed) {
	running(o)
	unsure(o)
	o.Run.Status.Target.ClusterID = "c0ffee"
	for i := range o.Pods {
		o.Pods[i].Ready, o.Pods[i].Turn, o.Pods[i].Live = false, false, &results.Snapshot{Stage: results.StageWaiting}
	}
}

// A waiting run reports its place in the queue, and no timeout counts.
func TestQueue(t *testing.T) {
	place := Place{Behind: "ns/x", Position: 3}
	later := t0.Add(1000 * time.Hour)
	tests := map[string]struct {
		seen   Observed
		stage  string
		queue  *v1alpha1.QueueStatus
		report string
	}{
		"by address":     {scenario(resolved, behind(place)), v1alpha1.StageQueued, &v1alpha1.QueueStatus{Position: 3, Behind: "ns/x"}, "ns/x"},
		"by cluster":     {scenario(waiting, behind(Place{Behind: "ns/x", Position: 1, SameCluster: true})), v1alpha1.StageQueued, &v1alpha1.QueueStatus{Position: 1, Behind: "ns/x", SameCluster: true}, "c0ffee"},
		"not known":      {scenario(waiting, behind(Place{Behind: "ns/x", Position: 1, Unknown: true})), v1alpha1.StagePreparing, &v1alpha1.QueueStatus{Position: 1, Behind: "ns/x"}, "does not know yet"},
		"not asked yet":  {scenario(running, unsure, behind(Place{Behind: "ns/x", Unknown: true}), pod(0, func(p *Pod) { p.State, p.Ready = PodWaiting, false })), v1alpha1.StagePreparing, nil, "ready to start"},
		"back to it":     {scenario(waiting, at(v1alpha1.StagePreparing), behind(Place{Behind: "ns/x", Position: 1, SameCluster: true})), v1alpha1.StageQueued, &v1alpha1.QueueStatus{Position: 1, Behind: "ns/x", SameCluster: true}, "written nothing"},
		"and on from it": {scenario(waiting, at(v1alpha1.StageQueued)), v1alpha1.StagePreparing, nil, "No other run"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			now := later
			if tc.stage == v1alpha1.StagePreparing {
				now = t0
			}
			tc.seen.Run.Status.Queue = tc.queue
			d := Decide(tc.seen, now)
			if d.Stage != tc.stage || !strings.Contains(d.Message, tc.report) || d.Ending != nil || len(d.Actions) > 0 || d.Requeue == 0 {
				t.Errorf("wanted stage %s, a message of %q and nothing done, found %+v", tc.stage, tc.report, d)
			}
			if diff := cmp.Diff(tc.queue, d.Queue); diff != "" {
				t.Errorf("queue (-want +got):\n%s", diff)
			}
		})
	}
}

// The message of a waiting run names the run in front, what it does, which run uses the target, and how to avoid
// waiting.
func TestTheRunInFrontIsReported(t *testing.T) {
	tests := map[string]struct {
		place           Place
		report, saysNot string
	}{
		"it is running":          {Place{Behind: "ns/x", Position: 1, Holder: "ns/x", Holding: HoldingLoads}, "is running", "also waits"},
		"it deletes":             {Place{Behind: "ns/x", Position: 1, Holder: "ns/x", Holding: HoldingDeletes}, "has not deleted its keys yet", "is running"},
		"it was admitted":        {Place{Behind: "ns/x", Position: 1, Holder: "ns/x", Holding: HoldingWaits}, "starts before this run, and has written nothing yet", "is running"},
		"it waits":               {Place{Behind: "ns/x", Position: 2}, "also waits", "is running"},
		"it waits for another":   {Place{Behind: "ns/x", Position: 2, Holder: "ns/y", Holding: HoldingLoads}, "Run ns/y has one too and is running", "delete"},
		"it waits for a cleanup": {Place{Behind: "ns/x", Position: 2, Holder: "ns/y", Holding: HoldingDeletes}, "has not deleted its keys yet", "is running"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got := Decide(scenario(resolved, behind(tc.place)), t0).Message
			for _, want := range []string{"ns/x", tc.report, "target.concurrentRuns: Allow"} {
				if !strings.Contains(got, want) {
					t.Errorf("wanted %q in the message, found %q", want, got)
				}
			}
			if strings.Contains(got, tc.saysNot) {
				t.Errorf("wanted no %q in the message, found %q", tc.saysNot, got)
			}
		})
	}
}

// at sets the stage in status.
func at(stage string) change {
	return func(o *Observed) {
		o.Run.Status.Conditions = append(o.Run.Status.Conditions, metav1.Condition{Type: v1alpha1.ConditionFinished, Status: metav1.ConditionFalse, Reason: stage})
	}
}

func TestTheConfirmationIsSavedBeforePodsGetIt(t *testing.T) {
	now := t0.Add(time.Minute)
	d := Decide(scenario(waiting, func(o *Observed) { o.Run.Status.Queue = &v1alpha1.QueueStatus{} }), now)
	if d.Admission == nil || d.Admission.ConfirmedAt == nil || !d.Admission.ConfirmedAt.Time.Equal(now) || !d.Admission.At.Time.Equal(now) || len(d.Actions) > 0 {
		t.Fatalf("wanted only the confirmation to be saved, found %+v", d)
	}
	o := scenario(waiting, func(o *Observed) { o.Run.Status.Admission = d.Admission }, pod(0, func(p *Pod) { p.Turn = true }))
	d = Decide(o, now)
	if len(d.Actions) != 1 || d.Actions[0].Pod != "b" || d.Actions[0].Annotations[plan.AnnotationTurn] != "true" {
		t.Errorf("wanted the annotation on the pod that lacks it, found %+v", d.Actions)
	}
}

// TestARunThatAllowsOthersIsConfirmedByItsPods: other runs wait for a run that allows others only when one of its pods,
// at any index, has started.
func TestARunThatAllowsOthersIsConfirmedByItsPods(t *testing.T) {
	allowing := func(o *Observed) { allows(o.Run) }
	d := Decide(scenario(resolved, allowing), t0)
	if d.Admission == nil || d.Admission.ConfirmedAt != nil {
		t.Fatalf("wanted it admitted at once, and not counted as loading its target, found %+v", d)
	}
	let := scenario(created, unsure, allowing, func(o *Observed) {
		o.Run.Status.Job, o.Job = &v1alpha1.JobReference{Name: o.Run.LoadJobName(), UID: "job"}, Job{Exists: true, UID: "job", Created: t0}
	})
	tests := map[string]struct {
		pod  Pod
		want bool
	}{
		"none":              {Pod{Index: 1, State: PodMissing}, false},
		"no node for it":    {Pod{Index: 1, State: PodWaiting, Stuck: &Problem{v1alpha1.ReasonUnschedulable, "no node"}, StuckSince: t0}, false},
		"it starts":         {Pod{Index: 1, Name: "b", Node: "n", State: PodWaiting}, false},
		"it runs":           {Pod{Index: 1, Name: "b", Node: "n", State: PodRunning, Started: true}, true},
		"it will run again": {Pod{Index: 1, Name: "b", Node: "n", State: PodWaiting, Started: true}, true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			seen := let
			seen.Pods = []Pod{let.Pods[0], tc.pod}
			d := Decide(seen, t0.Add(time.Second))
			if got := d.Admission != nil && d.Admission.ConfirmedAt != nil; got != tc.want || d.Ending != nil {
				t.Errorf("wanted it to count as loading its target: %v, found %+v", tc.want, d)
			}
		})
	}
}

// Timeouts count from when the run left the queue.
func TestTimeoutsDoNotCountTheQueue(t *testing.T) {
	left := t0.Add(10 * time.Hour)
	let := func(o *Observed) {
		o.Run.Status.Admission = &v1alpha1.Admission{At: metav1.NewMicroTime(left), ConfirmedAt: new(metav1.NewMicroTime(left))}
	}
	unlet := func(o *Observed) { o.Run.Status.Admission = &v1alpha1.Admission{At: metav1.NewMicroTime(left)} }
	queues := func(o *Observed) { o.Run.Status.Queue = &v1alpha1.QueueStatus{} }
	tests := map[string]struct {
		seen Observed
		at   time.Time
		want string
	}{
		"a long queue":              {scenario(startSet(t0), let), left.Add(199 * time.Second), ""},
		"and then a long run":       {scenario(startSet(t0), let), left.Add(200 * time.Second), v1alpha1.ReasonTimedOut},
		"a wait for a turn":         {scenario(waiting, unlet, queues), left.Add(1000 * time.Hour), ""},
		"no pod for a turn":         {scenario(created, unlet), left.Add(60 * time.Second), v1alpha1.ReasonPodsNotReady},
		"not ready after the turn":  {scenario(running, let, pod(1, func(p *Pod) { p.Ready = false })), left.Add(60 * time.Second), v1alpha1.ReasonPodsNotReady},
		"nearly ready after it":     {scenario(running, let, pod(1, func(p *Pod) { p.Ready = false })), left.Add(59 * time.Second), ""},
		"stopped while it waits":    {scenario(resolved, behind(Place{Behind: "x"}), func(o *Observed) { o.Run.Spec.Stop = true }), left, v1alpha1.ReasonStopped},
		"without an admission":      {scenario(startSet(t0), func(o *Observed) { o.Run.Status.Admission = nil }), t0.Add(200 * time.Second), v1alpha1.ReasonTimedOut},
		"a pod fails while waiting": {scenario(waiting, behind(Place{Behind: "x", SameCluster: true}), pod(1, fails(&results.Failure{Reason: results.FailureTLSFailed}))), left, v1alpha1.ReasonTLSFailed},
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

// crowd is a set of runs on some addresses, advanced in random order. Each run checks its place alone, as with the
// operator.
type crowd struct {
	t    *testing.T
	rand *rand.Rand
	now  time.Time
	runs []v1alpha1.EtcdBenchmark
	// clusters maps addresses to clusters.
	clusters map[string]string
	order    []string
	// stuck are runs whose pods never start; running are runs whose pods have started.
	stuck, running map[types.UID]bool
}

func newCrowd(t *testing.T, seed uint64) *crowd {
	c := &crowd{
		t: t, rand: rand.New(rand.NewPCG(seed, 9)), now: t0, stuck: map[types.UID]bool{}, running: map[types.UID]bool{},
		clusters: map[string]string{"a:1": "A", "b:1": "A", "c:1": "A", "d:1": "D"},
	}
	for i := range 2 + c.rand.IntN(5) {
		run := onTarget(fmt.Sprint("run-", i), c.rand.IntN(4), c.addresses()...)
		if c.rand.IntN(5) == 0 {
			allows(&run)
		}
		c.stuck[run.UID] = c.rand.IntN(6) == 0
		c.runs = append(c.runs, run)
	}
	return c
}

// addresses are some addresses of one cluster.
func (c *crowd) addresses() []string {
	if c.rand.IntN(4) == 0 {
		return []string{"d:1"}
	}
	all := []string{"a:1", "b:1", "c:1"}
	first := c.rand.IntN(len(all))
	return all[first : first+1+c.rand.IntN(len(all)-first)]
}

// step advances one random run by one step.
func (c *crowd) step() {
	run := &c.runs[c.rand.IntN(len(c.runs))]
	c.now = c.now.Add(time.Duration(1+c.rand.IntN(1000)) * time.Millisecond)
	c.live(run)
	switch {
	case isOver(run):
	case run.Status.Admission == nil, awaitsConfirmation(run):
		c.ask(run)
	case c.running[run.UID] && c.rand.IntN(3) == 0:
		over(metav1.ConditionTrue)(run)
	}
}

// live starts the run's pods, if they ever start, and lets them look at the target.
func (c *crowd) live(run *v1alpha1.EtcdBenchmark) {
	switch {
	case run.Status.Admission == nil || c.stuck[run.UID] || c.rand.IntN(2) == 0:
	case c.running[run.UID]:
		run.Status.Target.ClusterID = c.clusters[run.Status.Target.Endpoints[0]]
	default:
		c.running[run.UID] = true
	}
}

func (c *crowd) ask(run *v1alpha1.EtcdBenchmark) {
	pod := Pod{State: PodWaiting}
	if c.running[run.UID] {
		pod = Pod{State: PodRunning, Started: true}
	}
	o := Observed{Run: run, Place: PlaceOf(run, c.runs, c.now), Pods: []Pod{pod}}
	d := firstOf(o, c.now, decideQueue, decideConfirmation, func(Observed, time.Time) *Decision { return &Decision{} })
	if d.Admission == nil {
		return
	}
	first := run.Status.Admission == nil
	run.Status.Admission = d.Admission
	if first {
		c.order = append(c.order, run.Name)
		c.checkOrder(run)
	}
	if !awaitsConfirmation(run) {
		c.checkAlone(run)
	}
}

// checkAlone: no other run that may write loads the same cluster, unless this run allows it.
func (c *crowd) checkAlone(run *v1alpha1.EtcdBenchmark) {
	for i := range c.runs {
		other := &c.runs[i]
		writes := other.UID != run.UID && occupiesTarget(other, c.now) && mayWrite(other)
		same := c.clusters[other.Status.Target.Endpoints[0]] == c.clusters[run.Status.Target.Endpoints[0]]
		if writes && same && !allowsOthers(run) {
			c.t.Fatalf("%s and %s load one cluster at the same time", run.Name, other.Name)
		}
	}
}

// checkOrder: no waiting run for these addresses was created earlier.
func (c *crowd) checkOrder(run *v1alpha1.EtcdBenchmark) {
	for i := range c.runs {
		other := &c.runs[i]
		if waits(other) && sharesAddress(run, other) && createdBefore(other, run) && !allowsOthers(run) {
			c.t.Fatalf("%s was admitted before %s", run.Name, other.Name)
		}
	}
}

// keptByStuck are the runs that runs with stuck pods can block, directly or through other runs: only runs at their own
// addresses.
func (c *crowd) keptByStuck() map[types.UID]bool {
	kept := maps.Clone(c.stuck)
	for range c.runs {
		for i := range c.runs {
			for j := range c.runs {
				if kept[c.runs[j].UID] && !allowsOthers(&c.runs[i]) && sharesAddress(&c.runs[i], &c.runs[j]) {
					kept[c.runs[i].UID] = true
				}
			}
		}
	}
	return kept
}

// checkOver: every run has been admitted, except those that may be blocked.
func (c *crowd) checkOver(seed uint64, mayWait map[types.UID]bool) {
	c.t.Helper()
	for i := range c.runs {
		if run := &c.runs[i]; !isOver(run) && !mayWait[run.UID] {
			c.t.Fatalf("seed %d: %s was never admitted, of %v", seed, run.Name, c.order)
		}
	}
}

// TestOneRunPerTarget takes random sets of runs through their queues. A run shares its cluster only if it allows
// others, and every run is admitted, in order. A run whose pods never start blocks only runs at its own addresses,
// until it ends.
func TestOneRunPerTarget(t *testing.T) {
	for seed := range uint64(2000) {
		c := newCrowd(t, seed)
		for range 2000 {
			c.step()
		}
		c.checkOver(seed, c.keptByStuck())
		for i := range c.runs {
			if c.stuck[c.runs[i].UID] {
				over(metav1.ConditionTrue)(&c.runs[i])
			}
		}
		for range 2000 {
			c.step()
		}
		c.checkOver(seed, nil)
	}
}
