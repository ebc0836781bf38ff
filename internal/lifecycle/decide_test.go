package lifecycle

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
	"github.com/etcdbench/etcd-benchmark-operator/internal/runtest"
)

var t0 = time.Date(2026, 1, 2, 3, 0, 0, 0, time.UTC)

// change modifies a scenario.
type change func(*Observed)

// scenario is a run of two pods with a start time of t0 and some changes.
func scenario(changes ...change) Observed {
	run := newRun(2)
	run.Finalizers = []string{v1alpha1.Finalizer}
	run.Status.StartTime = &metav1.Time{Time: t0}
	o := Observed{Run: run, Seen: Seen{Run: t0}}
	o.Pods, _ = AssignPods(run, nil)
	for _, c := range changes {
		c(&o)
	}
	return o
}

func resolved(o *Observed) {
	o.Run.Status.Target = &v1alpha1.TargetStatus{Endpoints: []string{"127.0.0.1:2379"}}
}

func admitted(o *Observed) {
	resolved(o)
	o.Run.Status.Admission = &v1alpha1.Admission{At: metav1.NewMicroTime(t0), LockedAt: new(metav1.NewMicroTime(t0))}
}

func created(o *Observed) {
	admitted(o)
	o.Run.Status.Job = &v1alpha1.JobReference{Name: o.Run.LoadJobName(), UID: "job"}
	o.Job = Job{Exists: true, UID: "job", Seen: t0}
}

func running(o *Observed) {
	created(o)
	for i, name := range []string{"a", "b"} {
		o.Pods[i] = Pod{Index: i, Name: name, Node: "n", State: PodRunning, Started: true, Ready: true, Admitted: true}
	}
}

func startAt(at time.Time) change {
	return func(o *Observed) {
		running(o)
		o.Run.Status.StartAt = &metav1.MicroTime{Time: at}
	}
}

func startSet(at time.Time) change {
	return func(o *Observed) {
		startAt(at)(o)
		for i := range o.Pods {
			o.Pods[i].StartAt = FormatStart(metav1.NewMicroTime(at))
		}
	}
}

func pod(i int, f func(*Pod)) change { return func(o *Observed) { f(&o.Pods[i]) } }

func done(o *Observed) {
	startSet(t0)(o)
	for i := range o.Pods {
		o.Pods[i].Choose(&results.Snapshot{Stage: results.StageDone, Cleaning: results.CleaningKeysDeleted}, nil)
	}
}

func finished(reason string) change {
	return func(o *Observed) {
		o.Run.Status.CompletionTime, o.Seen.End = &metav1.Time{Time: t0}, t0
		o.Run.Status.Conditions = append(o.Run.Status.Conditions, metav1.Condition{Type: v1alpha1.ConditionFinished, Status: metav1.ConditionTrue, Reason: reason})
	}
}

func cleaned(status metav1.ConditionStatus) change {
	return func(o *Observed) {
		o.Run.Status.Conditions = append(o.Run.Status.Conditions, metav1.Condition{Type: v1alpha1.ConditionCleaned, Status: status})
	}
}

func deleted(at time.Time) change {
	return func(o *Observed) { o.Run.DeletionTimestamp, o.Seen.Deletion = &metav1.Time{Time: at}, at }
}

func ended(o *Observed) {
	for i := range o.Pods {
		o.Pods[i].State, o.Pods[i].Exit = PodEnded, "ended with exit code 137 (OOMKilled)"
	}
}

func stuck(reason string, since time.Time) change {
	return func(o *Observed) {
		created(o)
		o.Pods[1] = Pod{Index: 1, Name: "b", State: PodWaiting, Stuck: &Problem{reason, "because"}, StuckSeen: since}
	}
}

func fails(f *results.Failure) func(*Pod) {
	return func(p *Pod) { p.Live = &results.Snapshot{Stage: results.StageConnecting, Failure: f} }
}

func acts(d Decision) string {
	var out []string
	for _, a := range d.Actions {
		name := string(a.Act)
		for _, mark := range []string{plan.AnnotationStartAt, plan.AnnotationStop, plan.AnnotationCollected} {
			if a.Annotations[mark] != "" {
				name += " " + a.Pod + " " + strings.TrimPrefix(mark, "etcdbench.dev/")
			}
		}
		out = append(out, name)
	}
	return strings.Join(out, ", ")
}

// TestStages follows a run without faults.
func TestStages(t *testing.T) {
	after := t0.Add(10 * time.Second)
	tests := map[string]struct {
		seen      Observed
		wantStage string
		wantActs  string
	}{
		"target not there":           {scenario(func(o *Observed) { o.Target.Missing = "no Service" }), v1alpha1.StagePending, ""},
		"target there":               {scenario(func(o *Observed) { o.Target.Endpoints = []string{"a:1"} }), v1alpha1.StagePending, ""},
		"target kept":                {scenario(resolved), v1alpha1.StagePreparing, ""},
		"its turn":                   {scenario(admitted), v1alpha1.StagePreparing, "AddFinalizer, ApplyPlan, CreateJob"},
		"no pod yet":                 {scenario(created), v1alpha1.StagePreparing, ""},
		"one pod not ready":          {scenario(running, pod(1, func(p *Pod) { p.Ready = false })), v1alpha1.StagePreparing, ""},
		"ready by scrape":            {scenario(running, pod(1, func(p *Pod) { p.Ready, p.Live = false, &results.Snapshot{Stage: results.StageReady} })), v1alpha1.StageArmed, ""},
		"all ready":                  {scenario(running), v1alpha1.StageArmed, ""},
		"start kept":                 {scenario(startAt(after.Add(time.Second))), v1alpha1.StageArmed, "Start a start-at, Start b start-at"},
		"start to come, list live":   {scenario(startAt(after.Add(time.Second)), func(o *Observed) { o.PodsLive = true }), v1alpha1.StageArmed, "Start a start-at, Start b start-at"},
		"one pod has it, start past": {scenario(startSet(t0), pod(1, func(p *Pod) { p.StartAt = "" }), func(o *Observed) { o.PodsLive = true }), v1alpha1.StageArmed, "Start b start-at"},
		"all have it, start to come": {scenario(startSet(after.Add(time.Second))), v1alpha1.StageArmed, ""},
		"started":                    {scenario(startSet(t0)), v1alpha1.StageRunning, ""},
		"one has measured":           {scenario(startSet(t0), pod(0, func(p *Pod) { p.Live = &results.Snapshot{Stage: results.StageCleaning} })), v1alpha1.StageRunning, ""},
		"one done, one cleans":       {scenario(done, pod(0, func(p *Pod) { p.Final, p.Live = nil, &results.Snapshot{Stage: results.StageCleaning} })), v1alpha1.StageCollecting, ""},
		"an extra pod":               {scenario(startSet(t0), func(o *Observed) { o.ExtraPods = []Pod{{Name: "x", State: PodRunning}} }), v1alpha1.StageRunning, "Annotate x stop x collected"},
		"a pod that is unreachable":  {scenario(startSet(t0), pod(1, func(p *Pod) { p.Unreachable = true })), v1alpha1.StageRunning, "Annotate b collected"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			d := Decide(tc.seen, after)
			if d.Stage != tc.wantStage || acts(d) != tc.wantActs || d.Finish != nil || d.Ending != nil {
				t.Errorf("wanted stage %s and actions %q, found %+v", tc.wantStage, tc.wantActs, d)
			}
			if d.Requeue == 0 || d.Requeue > heartbeat {
				t.Errorf("wanted to be asked again within %s, found %s", heartbeat, d.Requeue)
			}
		})
	}
}

func TestStartIsGivenAnew(t *testing.T) {
	now := t0.Add(10 * time.Second)
	live := func(o *Observed) { o.PodsLive = true }
	tests := map[string]struct {
		seen Observed
		// want is how far ahead the new start is, 0 if there is none.
		want time.Duration
	}{
		"never given":                     {scenario(running), 1020 * time.Millisecond},
		"past, no pod has it":             {scenario(startAt(t0), live), 11_020 * time.Millisecond},
		"missed by a second":              {scenario(startAt(now.Add(-time.Second)), live), 3020 * time.Millisecond},
		"past, and the list may be stale": {scenario(startAt(t0)), 0},
		"past, one pod has it":            {scenario(startSet(t0), pod(0, func(p *Pod) { p.StartAt = "" }), live), 0},
		"to come":                         {scenario(startAt(now.Add(time.Minute)), live), 0},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			d := Decide(tc.seen, now)
			if got := d.StartAt != nil; got != (tc.want > 0) {
				t.Fatalf("wanted a new start: %v, found %v", tc.want > 0, d.StartAt)
			}
			if tc.want > 0 && d.StartAt.Sub(now) != tc.want {
				t.Errorf("wanted the start %s ahead, found %s", tc.want, d.StartAt.Sub(now))
			}
		})
	}
}

// TestEndings: each reason ends a run at its time and not before.
func TestEndings(t *testing.T) {
	tls := &results.Failure{Reason: results.FailureTLSFailed, Message: "wrong CA"}
	tests := map[string]struct {
		seen       Observed
		at         time.Duration
		wantReason string
		// notBefore: a second earlier, the run does not end.
		notBefore bool
	}{
		"stop before anything":      {scenario(func(o *Observed) { o.Run.Spec.Stop = true }), 0, v1alpha1.ReasonStopped, false},
		"deleted":                   {scenario(running, deleted(t0)), 0, v1alpha1.ReasonStopped, false},
		"target never came":         {scenario(func(o *Observed) { o.Target.Missing = "no" }), targetGrace, v1alpha1.ReasonTargetNotFound, true},
		"target never became ready": {scenario(func(o *Observed) { o.Target = Target{Missing: "no", Starting: 1} }), 60 * time.Second, v1alpha1.ReasonTargetNotFound, true},
		"job gone":                  {scenario(running, func(o *Observed) { o.Job = Job{} }), 0, v1alpha1.ReasonJobDeleted, false},
		"another job of that name":  {scenario(running, func(o *Observed) { o.Job.UID = "other" }), 0, v1alpha1.ReasonJobDeleted, false},
		"started without a job":     {scenario(startSet(t0), func(o *Observed) { o.Run.Status.Job = nil }), 0, v1alpha1.ReasonJobDeleted, false},
		"a pod reports":             {scenario(running, pod(1, fails(tls))), 0, v1alpha1.ReasonTLSFailed, false},
		"a pod reports nonsense":    {scenario(running, pod(1, fails(&results.Failure{Reason: "Completed"}))), 0, v1alpha1.ReasonPodFailed, false},
		"the more specific report":  {scenario(running, pod(0, fails(&results.Failure{Reason: results.FailurePodFailed})), pod(1, fails(tls))), 0, v1alpha1.ReasonTLSFailed, false},
		"no image":                  {scenario(stuck(v1alpha1.ReasonImageUnavailable, t0)), imageGrace, v1alpha1.ReasonImageUnavailable, true},
		"no room":                   {scenario(stuck(v1alpha1.ReasonUnschedulable, t0)), 60 * time.Second, v1alpha1.ReasonUnschedulable, true},
		"never ready":               {scenario(running, pod(0, func(p *Pod) { p.Ready = false })), 60 * time.Second, v1alpha1.ReasonPodsNotReady, true},
		"refused":                   {scenario(created, func(o *Observed) { o.Job.Refused, o.Job.RefusalSeen = "quota", t0 }), refusalGrace, v1alpha1.ReasonPodsForbidden, true},
		"time over":                 {scenario(startSet(t0)), 200 * time.Second, v1alpha1.ReasonTimedOut, true},
		"a pod gone":                {scenario(startSet(t0), pod(1, func(p *Pod) { p.State = PodGone })), 0, v1alpha1.ReasonPodFailed, false},
		"a pod ended, no message":   {scenario(startSet(t0), ended), 0, v1alpha1.ReasonPodFailed, false},
		"ended before the start":    {scenario(running, done, ended, func(o *Observed) { o.Run.Status.StartAt = nil }), 0, v1alpha1.ReasonPodFailed, false},
		"on a node that is lost":    {scenario(startSet(t0), pod(1, func(p *Pod) { p.DeleteBy = t0 })), abandonedAfter, v1alpha1.ReasonPodFailed, true},
		"evicted":                   {scenario(done, pod(1, func(p *Pod) { p.Final = &results.Snapshot{Stage: results.StageDone, Stopped: true} })), 0, v1alpha1.ReasonPodFailed, false},
		"an objective is missed":    {scenario(startSet(t0), missing(v1alpha1.ObjectiveMissedStop)), 0, v1alpha1.ReasonMissedEarly, false},
		"ended amid the load":       {scenario(done, pod(1, func(p *Pod) { p.Final = &results.Snapshot{Stage: results.StageMeasuring} })), 0, v1alpha1.ReasonPodFailed, false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			d := Decide(tc.seen, t0.Add(tc.at))
			if d.Ending == nil || d.Ending.Reason != tc.wantReason || d.Ending.Message == "" {
				t.Errorf("wanted the run to be ended as %s, found %+v", tc.wantReason, d.Ending)
			}
			if early := Decide(tc.seen, t0.Add(tc.at-time.Second)); tc.notBefore && early.Ending != nil {
				t.Errorf("wanted no end a second before, found %+v", early.Ending)
			}
		})
	}
}

// missing has an objective that pod 0 has missed already.
func missing(policy v1alpha1.ObjectiveMissedPolicy) change {
	return func(o *Observed) {
		o.Run.Spec.OnObjectiveMissed = policy
		o.Run.Spec.Objectives = []v1alpha1.Objective{runtest.MaxLatency(spec.StatisticP99, 10)}
		o.Run.Spec.Load.Rate, o.Run.Spec.Load.Requests, o.Run.Spec.Load.DurationSeconds = &spec.Rate{PerSecond: 100}, nil, new(int32(10))
		o.Pods[0].Live = runtest.Measured(0, 100)
		o.Pods[0].Live.Stage = results.StageMeasuring
	}
}

func TestAMissedObjectiveEndsTheRunOnlyIfAsked(t *testing.T) {
	for name, o := range map[string]Observed{
		"not asked":       scenario(startSet(t0), missing(v1alpha1.ObjectiveMissedContinue)),
		"all is measured": scenario(startSet(t0), missing(v1alpha1.ObjectiveMissedStop), done),
	} {
		if d := Decide(o, t0); d.Ending != nil && d.Ending.Reason == v1alpha1.ReasonMissedEarly {
			t.Errorf("%s: found %+v", name, d.Ending)
		}
	}
}

func TestEndingWaitsForReports(t *testing.T) {
	both := func(o *Observed) { cutShort(&o.Pods[0]); cutShort(&o.Pods[1]) }
	tests := map[string]struct {
		seen     Observed
		at       time.Duration
		wantEnd  bool
		wantActs string
	}{
		"reason not saved yet": {scenario(startSet(t0), stopped), 0, false, ""},
		"two live":             {scenario(startSet(t0), stopKept), 0, false, "Annotate a stop, Annotate b stop"},
		"two live, both asked": {scenario(startSet(t0), stopKept, pod(0, func(p *Pod) { p.Stop = true }), pod(1, func(p *Pod) { p.Stop = true })), 0, false, ""},
		"one reported":         {scenario(startSet(t0), stopKept, pod(0, func(p *Pod) { p.Final = &results.Snapshot{} })), 0, false, "Annotate a stop, Annotate b stop"},
		"both reported":        {scenario(startSet(t0), stopKept, both), 0, true, ""},
		"one, one not started": {scenario(startSet(t0), stopKept, both, pod(1, func(p *Pod) { *p = Pod{Index: 1, State: PodWaiting} })), 0, true, ""},
		"none, in time":        {scenario(startSet(t0), stopKept), stopGrace - 1, false, "Annotate a stop, Annotate b stop"},
		"none, too late":       {scenario(startSet(t0), stopKept), stopGrace, true, ""},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			d := Decide(tc.seen, t0.Add(tc.at))
			if got := d.Finish != nil; got != tc.wantEnd || acts(d) != tc.wantActs {
				t.Errorf("wanted the end: %v, and actions %q; found %+v", tc.wantEnd, tc.wantActs, d)
			}
			if d.Finish != nil && d.Finish.Reason != v1alpha1.ReasonStopped {
				t.Errorf("wanted Stopped, found %+v", d.Finish)
			}
		})
	}
}

// TestFinishedAMinuteAfterTheTimeout: silent pods delay the end by at most a minute after the timeout, independent of
// when the ending began.
func TestFinishedAMinuteAfterTheTimeout(t *testing.T) {
	over := timesOut(scenario(startSet(t0)))
	for _, reason := range []string{v1alpha1.ReasonTimedOut, v1alpha1.ReasonStopped, v1alpha1.ReasonGuardStopped, v1alpha1.ReasonPodFailed} {
		for _, before := range []time.Duration{0, time.Second, 30 * time.Second, time.Minute} {
			since := func(o *Observed) {
				o.Run.Status.Ending, o.Seen.Ending = &v1alpha1.Ending{Reason: reason, Message: "m"}, over.Add(-before)
			}
			o := scenario(startSet(t0), since)
			if d := Decide(o, over.Add(-before)); d.Finish != nil {
				t.Errorf("%s %s before the timeout: wanted the pods to get time, found %+v", reason, before, d.Finish)
			}
			if d := Decide(o, over.Add(time.Minute)); d.Finish == nil || d.Finish.Reason != reason {
				t.Errorf("%s %s before the timeout: wanted the end a minute after it, found %+v", reason, before, d)
			}
		}
	}
}

// TestTimeOverWhileKeysAreDeleted: a run with complete numbers has not timed out.
func TestTimeOverWhileKeysAreDeleted(t *testing.T) {
	inStage := func(s results.Snapshot) change {
		return pod(1, func(p *Pod) {
			*p = Pod{Index: 1, Name: "b", State: PodRunning, Started: true, StartAt: p.StartAt}
			p.Choose(&s, nil)
		})
	}
	gone := pod(1, func(p *Pod) {
		p.State = PodGone
		p.Choose(p.Live, nil)
	})
	tests := map[string]struct {
		seen       Observed
		at         time.Duration
		wantFinish string
		wantEnding string
	}{
		"deletes keys, in time":     {scenario(done, inStage(results.Snapshot{Stage: results.StageCleaning})), 199 * time.Second, "", ""},
		"deletes keys":              {scenario(done, inStage(results.Snapshot{Stage: results.StageCleaning})), 200 * time.Second, v1alpha1.ReasonCompleted, ""},
		"drains":                    {scenario(done, inStage(results.Snapshot{Stage: results.StageDraining})), 200 * time.Second, "", v1alpha1.ReasonTimedOut},
		"was stopped":               {scenario(done, inStage(results.Snapshot{Stage: results.StageCleaning, Stopped: true})), 200 * time.Second, "", v1alpha1.ReasonTimedOut},
		"deleted keys when it died": {scenario(done, inStage(results.Snapshot{Stage: results.StageCleaning}), gone), 200 * time.Second, v1alpha1.ReasonCompleted, ""},
		"drained when it died":      {scenario(done, inStage(results.Snapshot{Stage: results.StageDraining}), gone), 200 * time.Second, v1alpha1.ReasonPodFailed, v1alpha1.ReasonPodFailed},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			d := Decide(tc.seen, t0.Add(tc.at))
			var finish, ending string
			if d.Finish != nil {
				finish = d.Finish.Reason
			}
			if d.Ending != nil {
				ending = d.Ending.Reason
			}
			if finish != tc.wantFinish || ending != tc.wantEnding {
				t.Errorf("wanted to finish as %q and to be ended as %q, found %q and %q", tc.wantFinish, tc.wantEnding, finish, ending)
			}
			if d.Cleaned != nil && d.Cleaned.Status != metav1.ConditionUnknown {
				t.Errorf("wanted the keys not to be taken for deleted, found %+v", d.Cleaned)
			}
		})
	}
}

func TestCompleted(t *testing.T) {
	stopped := scenario(done, func(o *Observed) { o.Run.Spec.Stop = true })
	late := Decide(stopped, t0.Add(time.Hour))
	if late.Finish == nil || late.Finish.Reason != v1alpha1.ReasonCompleted {
		t.Errorf("wanted a run that all pods have done to be Completed independent of later events, found %+v", late.Finish)
	}
	want := &Cleaned{metav1.ConditionTrue, v1alpha1.ReasonKeysDeleted, "Every client pod reported that its keys are deleted."}
	if diff := cmp.Diff(want, late.Cleaned); diff != "" {
		t.Error(diff)
	}
}

// The end waits until kubelets have been read, at most until the timeout, and no stop changes that.
func TestTheEndWaitsForKubelets(t *testing.T) {
	pending := scenario(done, func(o *Observed) { o.Run.Spec.Stop, o.Kubelets.Pending = true, true })
	if d := Decide(pending, t0.Add(time.Second)); d.Finish != nil || d.Ending != nil || d.Stage != v1alpha1.StageCollecting || d.Requeue == 0 {
		t.Errorf("wanted to wait in Collecting, found %+v", d)
	}
	if d := Decide(pending, timesOut(pending)); d.Finish == nil || d.Finish.Reason != v1alpha1.ReasonCompleted {
		t.Errorf("wanted Completed at the timeout, found %+v", d)
	}
}

func TestWhatIsKnownFromKubelets(t *testing.T) {
	known := map[string]v1alpha1.KubeletFigures{"a:1": {SampledMicroseconds: 1}}
	for what, tc := range map[string]struct {
		of   Kubelets
		want string
	}{
		"no cluster":   {Kubelets{}, ""},
		"off":          {Kubelets{Unknown: "off"}, "off"},
		"not yet":      {Kubelets{Pending: true}, "the run ended before"},
		"another pod":  {Kubelets{Members: map[string]v1alpha1.KubeletFigures{}}, "no pod of the target has the address a:1"},
		"known":        {Kubelets{Members: known}, ""},
		"known, ended": {Kubelets{Members: known, Pending: true}, ""},
	} {
		var m v1alpha1.MemberSummary
		if set := tc.of.of("a:1"); set != nil {
			set(&m)
		}
		got := m.Kubelet
		switch isKnown := tc.of.Members["a:1"].SampledMicroseconds > 0; {
		case tc.want == "" && !isKnown && got != nil, isKnown && (got == nil || got.Unknown != ""):
			t.Errorf("%s: found %+v", what, got)
		case tc.want != "" && (got == nil || !strings.HasPrefix(got.Unknown, tc.want)):
			t.Errorf("%s: wanted %q, found %+v", what, tc.want, got)
		}
	}
}
