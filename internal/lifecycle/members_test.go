package lifecycle

import (
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
)

// startsMembers gives the run members of its own.
func (w *world) startsMembers() {
	w.run.Spec.Target.Ephemeral = &v1alpha1.EphemeralTarget{Image: "e", Replicas: int32(1 + w.rand.IntN(3)), StartTimeoutSeconds: 60, KeepSeconds: int32(w.rand.IntN(2) * 30)}
	w.members.Pods = make([]Pod, w.run.Spec.Target.Ephemeral.Replicas)
	for i := range w.members.Pods {
		w.members.Pods[i] = Pod{Index: i, State: PodMissing}
	}
}

func (w *world) membersTime() time.Duration {
	if e := w.run.Spec.Target.Ephemeral; e != nil {
		return seconds(e.StartTimeoutSeconds) + heartbeat
	}
	return 0
}

func (w *world) createMembers() {
	if w.run.Status.Admission == nil || w.membersMade > 0 {
		w.fail("members were created before the admission, or twice")
	}
	w.membersMade++
	w.members.Job = Job{Exists: true, UID: "members", Seen: w.now}
	w.run.Status.Ephemeral = &v1alpha1.EphemeralStatus{Job: v1alpha1.JobReference{Name: w.run.MembersName(), UID: "members"}}
}

// growMembers starts and deletes members. Their keys go with them.
func (w *world) growMembers(hostile bool) {
	if w.going && w.rand.IntN(3) == 0 {
		w.going = false
		w.store.sweep()
		w.store.gone = true
	}
	if !w.members.Job.Exists {
		return
	}
	for i := range w.members.Pods {
		p := &w.members.Pods[i]
		switch {
		case w.rand.IntN(3) == 0:
		case hostile && w.rand.IntN(60) == 0:
			p.Restarts, p.Words = p.Restarts+1, "ended with exit code 1 (Error): no"
		case p.State == PodMissing:
			*p = Pod{Index: i, Name: fmt.Sprint("member-", i), Node: "n", State: PodWaiting}
		case p.State == PodWaiting:
			p.State = PodRunning
		default:
			p.Ready = true
		}
	}
}

// members gives a run three members: this many are ready.
func members(ready int) change {
	return func(o *Observed) {
		admitted(o)
		o.Run.Spec.Target.Ephemeral = &v1alpha1.EphemeralTarget{Replicas: 3, StartTimeoutSeconds: 60}
		o.Run.Status.Ephemeral = &v1alpha1.EphemeralStatus{Job: v1alpha1.JobReference{Name: "m", UID: "members"}}
		o.Members.Job = Job{Exists: true, UID: "members", Seen: t0}
		for i := range 3 {
			o.Members.Pods = append(o.Members.Pods, Pod{Index: i, Name: fmt.Sprint("m-", i), Node: fmt.Sprint("node-", i), State: PodRunning, Ready: i < ready})
		}
	}
}

func member(i int, f func(*Pod)) change { return func(o *Observed) { f(&o.Members.Pods[i]) } }

func membersWereReady(o *Observed) {
	members(3)(o)
	o.Run.Status.Ephemeral.ReadyAt = new(metav1.NewMicroTime(t0))
	for i := range 3 {
		o.Run.Status.Ephemeral.Pods = append(o.Run.Status.Ephemeral.Pods, v1alpha1.MemberPod{Name: fmt.Sprint("m-", i)})
	}
}

func TestMembersOfARun(t *testing.T) {
	after := t0.Add(30 * time.Second)
	none := func(o *Observed) { o.Run.Status.Ephemeral, o.Members.Job = nil, Job{} }
	another := func(p *Pod) { p.Name = "another" }
	for name, tc := range map[string]struct {
		seen Observed
		at   time.Time
		// wantStage is the stage, or how the run ends; wantText is in the message.
		wantStage, wantActs, wantText string
	}{
		"not there":    {scenario(members(0), none), after, v1alpha1.StageStarting, "AddFinalizer, CreateMembers", "3"},
		"two of three": {scenario(members(2)), after, v1alpha1.StageStarting, "", "2 of 3 members of the run are ready; member 2 (m-2) runs and is not ready yet"},
		"all":          {scenario(members(3)), after, v1alpha1.StageStarting, "", "All members"},
		"were ready":   {scenario(membersWereReady), after, v1alpha1.StagePreparing, "AddFinalizer, ApplyPlan, CreateJob", ""},
		"one is late":  {scenario(members(2)), t0.Add(61 * time.Second), v1alpha1.ReasonMembersNotReady, "", "startTimeoutSeconds (60): member 2 (m-2)"},
		"no image": {scenario(members(2), member(2, func(p *Pod) {
			p.State, p.Stuck, p.StuckSeen = PodWaiting, &Problem{v1alpha1.ReasonImageUnavailable, "no such image"}, t0
		})), after, v1alpha1.ReasonImageUnavailable, "", "no such image"},
		"no room":              {scenario(members(2), member(2, func(p *Pod) { p.State, p.Stuck = PodWaiting, &Problem{v1alpha1.ReasonUnschedulable, "0/3 nodes"} })), t0.Add(61 * time.Second), v1alpha1.ReasonUnschedulable, "", "0/3 nodes"},
		"room may come":        {scenario(members(2), member(2, func(p *Pod) { p.State, p.Stuck = PodWaiting, &Problem{v1alpha1.ReasonUnschedulable, "0/3 nodes"} })), after, v1alpha1.StageStarting, "", "0/3 nodes"},
		"a volume that waits":  {scenario(members(2), member(2, func(p *Pod) { p.State, p.Warned = PodWaiting, "no provisioner" })), after, v1alpha1.StageStarting, "", "waits: no provisioner"},
		"it ends again":        {scenario(members(2), member(2, func(p *Pod) { p.Restarts, p.Words = 3, "ended with exit code 1 (Error): unknown flag" })), after, v1alpha1.ReasonMembersNotReady, "", "unknown flag (3 times)"},
		"it may recover":       {scenario(members(2), member(2, func(p *Pod) { p.Restarts, p.Words = 1, "ended with exit code 1 (Error): no such host" })), after, v1alpha1.StageStarting, "", "no such host"},
		"refused":              {scenario(members(0), func(o *Observed) { o.Members.Job.Refused, o.Members.Job.RefusalSeen = "exceeded quota", t0 }), after, v1alpha1.ReasonPodsForbidden, "", "exceeded quota"},
		"deleted by others":    {scenario(members(2), func(o *Observed) { o.Members.Job.Exists = false }), after, v1alpha1.ReasonJobDeleted, "", "the run's members was deleted"},
		"volumes that stay":    {scenario(members(0), none, func(o *Observed) { o.Members.Volumes = "The class keeps volumes" }), after, v1alpha1.ReasonMembersNotReady, "", "keeps volumes"},
		"most lose their data": {scenario(membersWereReady, created, member(0, another), member(2, another)), after, v1alpha1.ReasonTargetLost, "", "the pods of 2 were deleted"},
		"one loses its data":   {scenario(membersWereReady, created, member(0, another)), after, v1alpha1.StagePreparing, "", ""},
		"stopped":              {scenario(members(2), func(o *Observed) { o.Run.Spec.Stop = true }), after, v1alpha1.ReasonStopped, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			d := Decide(tc.seen, tc.at)
			stage, message := d.Stage, d.Message
			if d.Finish != nil {
				stage, message = d.Finish.Reason, d.Finish.Message
			}
			if stage != tc.wantStage || acts(d) != tc.wantActs || !strings.Contains(message, tc.wantText) {
				t.Errorf("found %s, %q and %q; wanted %s, %q and %q", stage, acts(d), message, tc.wantStage, tc.wantActs, tc.wantText)
			}
		})
	}
}

// The time-out of the run begins when its members are ready.
func TestTheStartOfMembersDoesNotCountAsTheRun(t *testing.T) {
	late := scenario(membersWereReady, func(o *Observed) {
		o.Run.Status.Ephemeral.ReadyAt = new(metav1.NewMicroTime(t0.Add(190 * time.Second)))
		created(o)
		o.Job.Seen = t0.Add(190 * time.Second)
	})
	if d := Decide(late, t0.Add(205*time.Second)); d.Finish != nil {
		t.Errorf("the run ended as %+v, 15 s after its members were ready", d.Finish)
	}
}

// cleanedBy is the reason of Cleaned that a decision sets, with its status if that is False.
func cleanedBy(d Decision) string {
	switch {
	case d.Cleaned == nil:
		return ""
	case d.Cleaned.Status == metav1.ConditionFalse:
		return d.Cleaned.Reason + " False"
	}
	return d.Cleaned.Reason
}

func TestMembersAfterTheRun(t *testing.T) {
	keep := func(o *Observed) { o.Run.Spec.Target.Ephemeral.KeepSeconds = 100 }
	gone := func(o *Observed) { o.Members.Job, o.Members.Gone = Job{}, true }
	going := func(o *Observed) { o.Members.Job = Job{} }
	for name, tc := range map[string]struct {
		seen                 Observed
		after                time.Duration
		wantActs, wantReason string
	}{
		"there":               {scenario(membersWereReady, finished(v1alpha1.ReasonCompleted)), 0, "DeleteMembers", ""},
		"a node that hangs":   {scenario(membersWereReady, going, finished(v1alpha1.ReasonCompleted)), membersGoneBy, "", v1alpha1.ReasonMembersLeft + " False"},
		"kept for long":       {scenario(membersWereReady, keep, finished(v1alpha1.ReasonCompleted)), membersGoneBy, "DeleteMembers", ""},
		"kept":                {scenario(membersWereReady, keep, finished(v1alpha1.ReasonCompleted)), 0, "", v1alpha1.ReasonMembersLeft},
		"kept and deleted":    {scenario(membersWereReady, keep, finished(v1alpha1.ReasonCompleted), deleted(t0)), 0, "DeleteMembers", ""},
		"being deleted":       {scenario(membersWereReady, going, finished(v1alpha1.ReasonCompleted)), 0, "", ""},
		"gone":                {scenario(membersWereReady, gone, finished(v1alpha1.ReasonCompleted)), 0, "", v1alpha1.ReasonMembersDeleted},
		"never there":         {scenario(membersWereReady, gone, func(o *Observed) { o.Run.Status.Ephemeral = nil }, finished(v1alpha1.ReasonStopped)), 0, "", v1alpha1.ReasonNothingWritten},
		"there, for too long": {scenario(membersWereReady, going, finished(v1alpha1.ReasonCompleted), deleted(t0.Add(-3*time.Minute))), 0, "RemoveFinalizer", ""},
	} {
		t.Run(name, func(t *testing.T) {
			d := Decide(tc.seen, t0.Add(max(tc.after, time.Second)))
			if reason := cleanedBy(d); acts(d) != tc.wantActs || reason != tc.wantReason {
				t.Errorf("found %q and Cleaned %q, wanted %q and %q", acts(d), reason, tc.wantActs, tc.wantReason)
			}
		})
	}
}

// A wrong flag makes etcd print its help, whose end explains nothing.
func TestHowAMemberEnded(t *testing.T) {
	for name, tc := range map[string]struct {
		code      int32
		log, want string
	}{
		"a wrong flag": {2, "Usage:\n etcd [flags]", "spec.target.ephemeral.settings"},
		"a panic":      {2, "panic: no\ngoroutine 1 [running]", "goroutine 1"},
		"an error":     {1, "no space left on device", "exit code 1 (Error): no space left"},
		"killed":       {137, "", "exit code 137 (Error)"},
	} {
		ended := &corev1.ContainerStateTerminated{ExitCode: tc.code, Reason: "Error", Message: tc.log}
		got := howEnded(corev1.ContainerStatus{Name: MemberContainerName, LastTerminationState: corev1.ContainerState{Terminated: ended}})
		if !strings.Contains(got, tc.want) {
			t.Errorf("%s: found %q, wanted %q", name, got, tc.want)
		}
	}
}

// Status says which members were lost while the run went on, and does not forget it.
func TestMembersThatAreLost(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(*Pod)
		want   string
	}{
		"none":      {func(*Pod) {}, ""},
		"replaced":  {func(p *Pod) { p.Name = "another" }, "was deleted"},
		"missing":   {func(p *Pod) { *p = Pod{Index: 1, State: PodMissing} }, "was deleted"},
		"ended":     {func(p *Pod) { p.State, p.Exit = PodEnded, "was ended by the cluster: Evicted" }, "Evicted"},
		"restarted": {func(p *Pod) { p.Restarts, p.Words = 1, "ended with exit code 137 (OOMKilled)" }, "OOMKilled"},
	} {
		t.Run(name, func(t *testing.T) {
			o := scenario(membersWereReady, member(1, tc.change))
			keepMembers(o.Run, o, Decision{})
			got := o.Run.Status.Ephemeral.Pods[1].Lost
			if (got == "") != (tc.want == "") || !strings.Contains(got, tc.want) {
				t.Errorf("found %q, wanted %q", got, tc.want)
			}
			o.Members.Pods[1] = Pod{Index: 1, Name: "m-1", State: PodRunning}
			if keepMembers(o.Run, o, Decision{}); o.Run.Status.Ephemeral.Pods[1].Lost != got {
				t.Errorf("the loss %q became %q", got, o.Run.Status.Ephemeral.Pods[1].Lost)
			}
		})
	}
}

// Runs with members of their own wait for each other: they share nodes. The lock of a target has no meaning for them.
func TestRunsWithMembersQueue(t *testing.T) {
	first, second := scenario(membersWereReady).Run, scenario(members(0)).Run
	first.UID, second.UID = "a", "b"
	second.Status = v1alpha1.EtcdBenchmarkStatus{}
	shared := 0
	for _, a := range Addresses(first) {
		for _, b := range Addresses(second) {
			if a == b {
				shared++
			}
		}
	}
	place := PlaceOf(second, []*v1alpha1.EtcdBenchmark{first}, t0)
	if shared == 0 || place.Ahead != 1 {
		t.Errorf("found %d addresses in common, and place %+v; wanted the second run to wait", shared, place)
	}
	o := scenario(membersWereReady, running)
	o.Run.Status.Admission.LockedAt = nil
	o.Pods[0].Ready = false
	if d := Decide(o, t0.Add(time.Second)); d.Queue != nil || strings.Contains(acts(d), "Annotate") {
		t.Errorf("found %+v and %q, wanted no lock and no admission of pods", d.Queue, acts(d))
	}
}
