package lifecycle

import (
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/benchmark"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// silent adds the status of a pod that did not report in its time.
func silent(name string) change {
	return func(o *Observed) {
		o.Run.Status.Pods = append(o.Run.Status.Pods, v1alpha1.PodStatus{Name: name, Partial: true}, v1alpha1.PodStatus{Name: "a"})
	}
}

func TestAfterTheEnd(t *testing.T) {
	completed := finished(v1alpha1.ReasonCompleted)
	ttl := func(n int32) change { return func(o *Observed) { o.Run.Spec.TTLSecondsAfterFinished = &n } }
	cleanup := func(c Cleanup) change { return func(o *Observed) { c.Exists = true; o.Cleanup = c } }
	clean := cleaned(metav1.ConditionTrue)
	named := func(o *Observed) { o.Run.Status.CleanupJob = &v1alpha1.JobReference{Name: "x"} }
	waiting := pod(1, func(p *Pod) { *p = Pod{Index: 1, Name: "b", State: PodWaiting} })
	tests := map[string]struct {
		seen        Observed
		at          time.Duration
		wantActs    string
		wantCleaned metav1.ConditionStatus
	}{
		"pods and object are released":   {scenario(done, completed, clean), 0, "Annotate a collected, Annotate b collected, RemoveFinalizer", ""},
		"pods of a stopped run":          {scenario(startSet(t0), finished(v1alpha1.ReasonStopped), clean, func(o *Observed) { o.Run.Status.Ending = &v1alpha1.Ending{} }), 0, "Annotate a stop a collected, Annotate b stop b collected, RemoveFinalizer", ""},
		"a pod that never started":       {scenario(done, completed, waiting), 0, "DeleteJob", metav1.ConditionTrue},
		"pods that outlive their run":    {scenario(startSet(t0), completed), releaseGrace, "DeleteJob", ""},
		"a pod that hangs":               {scenario(startSet(t0), finished(v1alpha1.ReasonTimedOut), silent("b")), 0, "DeleteJob", ""},
		"a pod of the run that reported": {scenario(startSet(t0), finished(v1alpha1.ReasonTimedOut), silent("c")), 0, "Annotate a collected, Annotate b collected", ""},
		"all ended":                      {scenario(done, ended, completed), 0, "", metav1.ConditionTrue},
		"keys left":                      {scenario(startSet(t0), ended, pod(0, func(p *Pod) { p.Started = true }), completed, named), 0, "CreateCleanup", ""},
		"keys left by a dead node's pod": {scenario(startSet(t0), completed, named), releaseGrace + time.Minute, "DeleteJob, CreateCleanup", ""},
		"keys left: first a name":        {scenario(startSet(t0), ended, completed), 0, "NameCleanup", ""},
		"deleted: a name at once":        {scenario(startSet(t0), completed, deleted(t0)), 0, "Annotate a collected, Annotate b collected, NameCleanup", ""},
		"deleted: without a name":        {scenario(startSet(t0), completed, deleted(t0)), deletionGrace, "RemoveFinalizer", ""},
		"cleanup works":                  {scenario(startSet(t0), ended, completed, cleanup(Cleanup{Seen: t0})), 0, "", ""},
		"cleanup done":                   {scenario(startSet(t0), ended, completed, cleanup(Cleanup{Succeeded: true})), 0, "", metav1.ConditionTrue},
		"cleanup failed":                 {scenario(startSet(t0), ended, completed, cleanup(Cleanup{Failed: "x"})), 0, "", metav1.ConditionFalse},
		"a pod still writes":             {scenario(startSet(t0), ended, completed, cleanup(Cleanup{Failed: "x", StillWrites: true})), 0, "DeleteCleanup, NameCleanup", metav1.ConditionUnknown},
		"for longer than it may":         {scenario(startSet(t0), ended, completed, cleanup(Cleanup{Failed: "x", StillWrites: true})), 2 * time.Hour, "", metav1.ConditionFalse},
		"failed, and gone":               {scenario(startSet(t0), ended, completed, cleaned(metav1.ConditionFalse)), 0, "", ""},
		"failed, deleted: once more":     {scenario(startSet(t0), ended, completed, cleaned(metav1.ConditionFalse), cleanup(Cleanup{Failed: "x", Seen: t0}), deleted(t0.Add(time.Second))), 2 * time.Second, "DeleteCleanup", ""},
		"deleted: another try":           {scenario(startSet(t0), ended, completed, cleaned(metav1.ConditionFalse), deleted(t0), named), 0, "CreateCleanup", ""},
		"deleted: that failed, too":      {scenario(startSet(t0), ended, completed, cleanup(Cleanup{Failed: "x", Seen: t0.Add(time.Second)}), deleted(t0)), 2 * time.Second, "DeleteCleanup, RemoveFinalizer", ""},
		"cleaned, cleanup is removed":    {scenario(startSet(t0), ended, completed, clean, cleanup(Cleanup{Succeeded: true})), 0, "DeleteCleanup, RemoveFinalizer", ""},
		"time to live not over":          {scenario(done, ended, completed, clean, ttl(10)), 9 * time.Second, "RemoveFinalizer", ""},
		"time to live over":              {scenario(done, ended, completed, clean, ttl(10)), 10 * time.Second, "RemoveFinalizer, DeleteRun", ""},
		"time to live over, keys left":   {scenario(startSet(t0), ended, completed, cleaned(metav1.ConditionFalse), ttl(10)), 10 * time.Second, "", ""},
		"deleted long ago, not done":     {scenario(running, deleted(t0)), deletionGrace, "RemoveFinalizer", ""},
		"deleted: cleanup goes on":       {scenario(startSet(t0), ended, completed, cleanup(Cleanup{Seen: t0}), deleted(t0)), deletionGrace, "RemoveFinalizer", ""},
		"deleted: cleanup just failed":   {scenario(startSet(t0), ended, completed, cleanup(Cleanup{Seen: t0, Failed: "x"}), deleted(t0)), deletionGrace, "DeleteCleanup, RemoveFinalizer", ""},
		"deleted: a pod is still there":  {scenario(startSet(t0), completed, deleted(t0), named), deletionGrace, "CreateCleanup, RemoveFinalizer", ""},
		"deleted: nothing was written":   {scenario(done, completed, deleted(t0)), deletionGrace, "RemoveFinalizer", ""},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			for i, p := range tc.seen.Pods {
				tc.seen.Pods[i].Started = p.State != PodWaiting
			}
			d := Decide(tc.seen, t0.Add(tc.at))
			var got metav1.ConditionStatus
			if d.Cleaned != nil {
				got = d.Cleaned.Status
			}
			if acts(d) != tc.wantActs || got != tc.wantCleaned {
				t.Errorf("wanted %q and Cleaned=%q, found %q and %q", tc.wantActs, tc.wantCleaned, acts(d), got)
			}
			if d.Finish != nil || d.Ending != nil || d.StartAt != nil {
				t.Errorf("wanted Finished to stay as it is, found %+v", d)
			}
		})
	}
}

// The first cleanup Job tells soon that a pod still writes. One that follows, or that will not be repeated, waits for that
// pod to end by itself.
func TestHowLongTheCleanupWaitsForAPod(t *testing.T) {
	completed := finished(v1alpha1.ReasonCompleted)
	limits := func(o *Observed) {
		o.Run.Spec.TimeoutSeconds, o.Run.Status.Admission = 600, &v1alpha1.Admission{At: metav1.NewMicroTime(t0)}
		o.Run.Spec.Load.RequestTimeoutSeconds = 5
	}
	named := func(o *Observed) { o.Run.Status.CleanupJob = &v1alpha1.JobReference{Name: "x"} }
	writes := func(o *Observed) {
		c := metav1.Condition{Type: v1alpha1.ConditionCleaned, Status: metav1.ConditionUnknown, Reason: v1alpha1.ReasonPodStillWrites}
		meta.SetStatusCondition(&o.Run.Status.Conditions, c)
	}
	day := func(o *Observed) { o.Run.Spec.TimeoutSeconds = 86_400 }
	tests := map[string]struct {
		seen Observed
		want time.Duration
	}{
		"first":                    {scenario(startSet(t0), ended, completed, named, limits), 0},
		"repeated":                 {scenario(startSet(t0), ended, completed, named, limits, writes), 670*time.Second - time.Minute},
		"repeated, with a limit":   {scenario(startSet(t0), ended, completed, named, limits, writes, day), maxPodTimeout},
		"of a deleted run":         {scenario(startSet(t0), ended, completed, named, limits, deleted(t0)), 670*time.Second - time.Minute},
		"after the pods' own time": {scenario(startSet(t0.Add(-time.Hour)), ended, completed, named, limits, deleted(t0), func(o *Observed) { o.Run.Status.Admission.At = metav1.NewMicroTime(t0.Add(-time.Hour)) }), 0},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			for i := range tc.seen.Pods {
				tc.seen.Pods[i].Started = true
			}
			d := Decide(tc.seen, t0.Add(time.Minute))
			last := d.Actions[len(d.Actions)-1]
			if last.Act != CreateCleanup || last.PodTimeout != tc.want {
				t.Errorf("wanted a cleanup Job that waits %v for a pod, found %+v", tc.want, d.Actions)
			}
		})
	}
}

// A command is advised only if it does what is needed: not while a pod writes, and not about keys of others. So it is when the
// object is released, too.
func TestTheCommandIsLeftOutWhereItDoesNotHelp(t *testing.T) {
	for name, c := range map[string]Cleanup{"a pod writes": {StillWrites: true}, "keys of others": {Spared: true}, "no luck": {}} {
		t.Run(name, func(t *testing.T) {
			c.Exists, c.Failed = true, "the reason"
			o := scenario(startSet(t0), ended, finished(v1alpha1.ReasonCompleted), pod(0, func(p *Pod) { p.Started = true }), func(o *Observed) { o.Cleanup = c })
			check := func(message string, ends bool) {
				t.Helper()
				hasCommand := strings.Contains(message, benchmark.Leftover(o.Run).Command[:20])
				if hasCommand != (name == "no luck") || !strings.Contains(message, c.Failed) || strings.Contains(message, "ends by itself") != ends {
					t.Errorf("found %q", message)
				}
			}
			check(Decide(o, t0).Cleaned.Message, c.StillWrites)
			last := Decide(o, t0.Add(2*time.Hour)).Cleaned
			check(last.Message, false)
			deleted(t0)(&o)
			check(Decide(o, t0.Add(deletionGrace)).Notes[0].Message, false)
			o.Cleanup = Cleanup{}
			meta.SetStatusCondition(&o.Run.Status.Conditions, metav1.Condition{Type: v1alpha1.ConditionCleaned, Status: last.Status, Message: last.Message})
			check(Decide(o, t0.Add(deletionGrace)).Notes[0].Message, false)
		})
	}
}

// TestGivingUpNamesTheKeys: the note must contain a shell command that deletes the remaining keys.
func TestGivingUpNamesTheKeys(t *testing.T) {
	o := scenario(startSet(t0), deleted(t0), func(o *Observed) { o.Run.Spec.Target.KeyPrefix = "it's/" })
	d := Decide(o, t0.Add(deletionGrace))
	if len(d.Notes) != 1 || !strings.Contains(d.Notes[0].Message, benchmark.Leftover(o.Run).Command) {
		t.Errorf("wanted a note with the command, found %+v", d.Notes)
	}
	cleaned(metav1.ConditionTrue)(&o)
	if d = Decide(o, t0.Add(deletionGrace)); len(d.Notes) != 0 {
		t.Errorf("wanted no note for a run that was cleaned, found %+v", d.Notes)
	}
}

func TestKeys(t *testing.T) {
	with := func(c results.Cleaning) func(*Pod) {
		return func(p *Pod) {
			*p = Pod{Name: p.Name, State: PodEnded, Started: true, Final: &results.Snapshot{Stage: results.StageDone, Cleaning: c}}
		}
	}
	state := func(s PodState, started bool) func(*Pod) {
		return func(p *Pod) { *p = Pod{Name: p.Name, State: s, Started: started} }
	}
	tests := map[string]struct {
		a, b func(*Pod)
		want string
	}{
		"both deleted":                  {with(results.CleaningKeysDeleted), with(results.CleaningKeysDeleted), "True KeysDeleted"},
		"one wrote":                     {with(results.CleaningNothingWritten), with(results.CleaningKeysDeleted), "True KeysDeleted"},
		"none wrote":                    {with(results.CleaningNothingWritten), with(results.CleaningNothingWritten), "True NothingWritten"},
		"one left":                      {with(results.CleaningKeysDeleted), with(results.CleaningKeysLeft), "Unknown KeysLeft"},
		"one never started":             {state(PodWaiting, false), with(results.CleaningKeysDeleted), "True KeysDeleted"},
		"none was made":                 {state(PodMissing, false), state(PodMissing, false), "True NothingWritten"},
		"one ended, no result":          {state(PodEnded, true), with(results.CleaningKeysDeleted), "Unknown KeysLeft"},
		"one evicted before it started": {state(PodEnded, false), with(results.CleaningKeysDeleted), "True KeysDeleted"},
		"one is gone":                   {state(PodGone, false), with(results.CleaningKeysDeleted), "Unknown KeysLeft"},
		"one still runs":                {state(PodRunning, true), with(results.CleaningKeysDeleted), "Unknown KeysLeft"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			k := keys(scenario(running, pod(0, tc.a), pod(1, tc.b)))
			if got := string(k.Status) + " " + k.Reason; got != tc.want {
				t.Errorf("wanted %s, found %s", tc.want, got)
			}
		})
	}
	scraped := func(p *Pod) {
		*p = Pod{Name: p.Name, State: PodEnded, Live: &results.Snapshot{Stage: results.StageMeasuring, Cleaning: results.CleaningKeysLeft}}
	}
	kept := func(p *Pod) { *p = Pod{Name: p.Name, State: PodEnded, Kept: results.StageMeasuring} }
	for name, seen := range map[string]func(*Pod){"a scrape": scraped, "status": kept, "a restart": state(PodWaiting, true)} {
		t.Run("only "+name+" shows that it started", func(t *testing.T) {
			if k := keys(scenario(running, pod(0, seen), pod(1, with(results.CleaningKeysDeleted)))); k.Status != metav1.ConditionUnknown {
				t.Errorf("wanted the state of the keys to be unknown, found %+v", k)
			}
		})
	}
	t.Run("status remembers", func(t *testing.T) {
		o := scenario(running, pod(0, state(PodGone, false)), pod(1, with(results.CleaningKeysDeleted)))
		o.Run.Status.Pods = []v1alpha1.PodStatus{{Name: "a", KeysDeleted: true}}
		if k := keys(o); k.Reason != v1alpha1.ReasonKeysDeleted {
			t.Errorf("wanted KeysDeleted, found %+v", k)
		}
	})
}

// A run that only observes leaves nothing, also if its pod is gone.
func TestNoKeysOfARunThatOnlyObserves(t *testing.T) {
	o := scenario(running, pod(0, func(p *Pod) { *p = Pod{Name: p.Name, State: PodGone} }))
	o.Run.Spec.Workload = spec.Workload{Type: spec.WorkloadObserve}
	if k := keys(o); k.Status != metav1.ConditionTrue || k.Reason != v1alpha1.ReasonNothingWritten {
		t.Errorf("found %+v", k)
	}
}

// TestKeysOfAPodThatMayYetStart: when the run ends, the deletion of its Job is only requested. A pod of a run that does
// not wait for others can still start and write.
func TestKeysOfAPodThatMayYetStart(t *testing.T) {
	starting := Pod{Name: "b", Node: "n", State: PodWaiting}
	noNode, noImage := starting, starting
	noNode.Node, noImage.Stuck = "", &Problem{v1alpha1.ReasonImageUnavailable, "no image"}
	tests := map[string]struct {
		pod        Pod
		concurrent v1alpha1.ConcurrentRuns
		want       metav1.ConditionStatus
	}{
		"allows others":   {starting, v1alpha1.ConcurrentRunsAllow, metav1.ConditionUnknown},
		"awaits its turn": {starting, v1alpha1.ConcurrentRunsQueue, metav1.ConditionTrue},
		"has no node":     {noNode, v1alpha1.ConcurrentRunsAllow, metav1.ConditionTrue},
		"has no image":    {noImage, v1alpha1.ConcurrentRunsAllow, metav1.ConditionTrue},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			o := scenario(done, pod(1, func(p *Pod) { *p = tc.pod }))
			o.Run.Spec.Target.ConcurrentRuns = tc.concurrent
			if k := keys(o); k.Status != tc.want {
				t.Errorf("wanted Cleaned=%s, found %+v", tc.want, k)
			}
		})
	}
}

func TestRefusedCleanup(t *testing.T) {
	p := Problem{v1alpha1.ReasonPodsForbidden, "quota"}
	seen := scenario(startSet(t0), ended, finished(v1alpha1.ReasonPodFailed))
	if d := Refuse(seen, p, t0); d.Finish != nil || d.Cleaned == nil || d.Cleaned.Status != metav1.ConditionFalse {
		t.Errorf("wanted Cleaned=False and nothing else, found %+v", d)
	}
	deleted(t0)(&seen)
	if d := Refuse(seen, p, t0.Add(time.Second)); acts(d) != "RemoveFinalizer" || len(d.Notes) != 1 {
		t.Errorf("wanted the object to be released with a note, found %+v", d)
	}
}
