//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
)

// memberImage is an image of etcd that hack/cluster provides.
const memberImage = "gcr.io/etcd-development/etcd:v3.7.3"

// newOwn is a small run on members of its own.
func newOwn(ns, name string, requests int64, changes ...func(*v1alpha1.EtcdBenchmark)) *v1alpha1.EtcdBenchmark {
	b := newPutIn(ns, suite.side, name, requests)
	b.Spec.Load.Pods = 1
	b.Spec.Target = v1alpha1.Target{ConcurrentRuns: v1alpha1.ConcurrentRunsAllow, Ephemeral: &v1alpha1.EphemeralTarget{Replicas: 3, Image: memberImage}}
	for _, change := range changes {
		change(b)
	}
	return b
}

func ephemeral(change func(*v1alpha1.EphemeralTarget)) func(*v1alpha1.EtcdBenchmark) {
	return func(b *v1alpha1.EtcdBenchmark) { change(b.Spec.Target.Ephemeral) }
}

// onVolumes gives each member a volume of a class.
func onVolumes(class string) func(*v1alpha1.EtcdBenchmark) {
	return ephemeral(func(e *v1alpha1.EphemeralTarget) {
		e.Storage = &v1alpha1.MemberStorage{VolumeClaim: &v1alpha1.MemberVolumeClaim{StorageClassName: &class, Size: resource.MustParse("1Gi")}}
	})
}

// atRate makes the run last long enough for a fault.
func atRate(b *v1alpha1.EtcdBenchmark) { b.Spec.Load.Rate = &spec.Rate{PerSecond: 100} }

// checkMembers runs benchmarks on members of their own: to the end, with faults, and while the operator is replaced. None
// leaves anything.
func checkMembers(t *testing.T) {
	startProvisioner(t)
	// Members and client pods of too many runs would wait for each other's processors.
	places := make(chan struct{}, 3)
	t.Run("group", func(t *testing.T) {
		for name, check := range map[string]func(*testing.T, string){
			"volumes": checkMembersOnVolumes, "trouble": checkMembersInTrouble, "losses": checkMembersLost,
			"restart": checkMembersRestart, "deletion": checkMembersDeletion, "suite": checkMembersOfSuite, "disks": checkDisks,
		} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				places <- struct{}{}
				defer func() { <-places }()
				checkMembersIn(t, "members-"+name, check)
			})
		}
	})
	// Runs of the group that wait for none would be in front of those that wait.
	t.Run("queue", func(t *testing.T) { checkMembersIn(t, "members-queue", checkMembersQueue) })
	eventually(t, goneWithin, "all volumes to be gone", func(ctx context.Context) error {
		var volumes corev1.PersistentVolumeList
		if err := suite.client.List(ctx, &volumes); err != nil || len(volumes.Items) > 0 {
			return fmt.Errorf("%d volumes are left (%w)", len(volumes.Items), err)
		}
		return nil
	})
}

// checkMembersIn checks in a namespace of its own.
func checkMembersIn(t *testing.T, name string, check func(*testing.T, string)) {
	t.Helper()
	ns := namespace(t, name)
	check(t, ns)
	requireNoMembers(t, ns)
}

// requireNoMembers requires that no pod, Service or claim of members is left in a namespace.
func requireNoMembers(t *testing.T, ns string) {
	t.Helper()
	eventually(t, goneWithin, "all members to be gone", func(ctx context.Context) error {
		for _, list := range []client.ObjectList{&corev1.PodList{}, &batchv1.JobList{}, &corev1.ServiceList{}} {
			if err := suite.client.List(ctx, list, client.InNamespace(ns), client.MatchingLabels{v1alpha1.LabelComponent: v1alpha1.ComponentMember}); err != nil || meta.LenList(list) > 0 {
				return fmt.Errorf("%d objects of %T are left (%w)", meta.LenList(list), list, err)
			}
		}
		var claims corev1.PersistentVolumeClaimList
		if err := suite.client.List(ctx, &claims, client.InNamespace(ns)); err != nil || len(claims.Items) > 0 {
			return fmt.Errorf("%d claims are left (%w)", len(claims.Items), err)
		}
		return nil
	})
}

// awaitMembersGone waits for the end of a run and of its members. When status says that they are gone, no claim is left.
func awaitMembersGone(t *testing.T, b *v1alpha1.EtcdBenchmark) *v1alpha1.EtcdBenchmark {
	t.Helper()
	eventually(t, finishWithin, "the members of "+b.Name+" to be gone", func(ctx context.Context) error {
		found, err := get(ctx, b)
		if err != nil {
			return err
		}
		b = found
		if c := meta.FindStatusCondition(b.Status.Conditions, v1alpha1.ConditionCleaned); c == nil || c.Status != metav1.ConditionTrue {
			return fmt.Errorf("found the conditions %+v", b.Status.Conditions)
		}
		return nil
	})
	var claims corev1.PersistentVolumeClaimList
	err := suite.client.List(suite.ctx, &claims, client.InNamespace(b.Namespace))
	for _, c := range claims.Items {
		if strings.HasPrefix(c.Name, b.MembersName()) {
			t.Errorf("Cleaned is True, and the claim %s is there (%v)", c.Name, err)
		}
	}
	return b
}

func checkMembersOnVolumes(t *testing.T, ns string) {
	b := awaitMembersGone(t, create(t, newOwn(ns, "volumes", 500, onVolumes(classDeletes))))
	requireCompleted(t, b)
	requireMeasured(t, b, 500)
	for _, m := range b.Status.Summary.Members {
		if m.StorageWrittenBytes == nil || *m.StorageWrittenBytes <= 0 || m.StorageReadBytes == nil || m.PodReceivedBytes == nil || *m.PodReceivedBytes <= 0 {
			t.Errorf("wanted what the sampler of %s has measured, found %+v", m.Name, m)
		}
	}
	if len(b.Status.Target.Members) != 3 || len(b.Status.Ephemeral.Pods) != 3 || b.Status.Ephemeral.Pods[0].ImageID == "" || len(b.Status.Target.Nodes) != 1 {
		t.Errorf("wanted three members with their images and nodes, found %+v and %+v", b.Status.Target, b.Status.Ephemeral)
	}
}

// checkMembersInTrouble: each run ends with the reason, in the words of the pod or its event.
func checkMembersInTrouble(t *testing.T, ns string) {
	soon := ephemeral(func(e *v1alpha1.EphemeralTarget) { e.StartTimeoutSeconds = 10 })
	for name, tc := range map[string]struct {
		changes         []func(*v1alpha1.EtcdBenchmark)
		reason, message string
	}{
		"image":     {[]func(*v1alpha1.EtcdBenchmark){ephemeral(func(e *v1alpha1.EphemeralTarget) { e.Image = "gcr.io/etcd-development/etcd:none" })}, v1alpha1.ReasonImageUnavailable, "gcr.io/etcd-development/etcd:none"},
		"elsewhere": {[]func(*v1alpha1.EtcdBenchmark){ephemeral(func(e *v1alpha1.EphemeralTarget) { e.Image = "example.org/etcd:v3" })}, v1alpha1.ReasonLimitExceeded, "--member-images"},
		"flag":      {[]func(*v1alpha1.EtcdBenchmark){ephemeral(func(e *v1alpha1.EphemeralTarget) { e.Settings = map[string]v1alpha1.MemberSetting{"no-such-flag": "1"} })}, v1alpha1.ReasonMembersNotReady, "spec.target.ephemeral.settings"},
		"keeps":     {[]func(*v1alpha1.EtcdBenchmark){onVolumes(classKeeps)}, v1alpha1.ReasonMembersNotReady, "reclaimPolicy Retain"},
		"pending":   {[]func(*v1alpha1.EtcdBenchmark){onVolumes(classPending), soon}, v1alpha1.ReasonUnschedulable, "PersistentVolumeClaims"},
		"no-room": {[]func(*v1alpha1.EtcdBenchmark){soon, ephemeral(func(e *v1alpha1.EphemeralTarget) {
			e.Placement = &v1alpha1.MemberPlacement{NodeSelector: map[string]string{"e2e.etcdbench.dev/none": "none"}}
		})}, v1alpha1.ReasonUnschedulable, "node"},
	} {
		t.Run(name, func(t *testing.T) {
			b := awaitMembersGone(t, create(t, newOwn(ns, name, 500, tc.changes...)))
			requireReason(t, b, tc.reason)
			if c := meta.FindStatusCondition(b.Status.Conditions, v1alpha1.ConditionFinished); !strings.Contains(c.Message, tc.message) {
				t.Errorf("wanted a message with %q, found %q", tc.message, c.Message)
			}
		})
	}
}

// memberPods are the pods of a run's members.
func memberPods(t *testing.T, b *v1alpha1.EtcdBenchmark) []corev1.Pod {
	t.Helper()
	var pods corev1.PodList
	err := suite.client.List(suite.ctx, &pods, client.InNamespace(b.Namespace), client.MatchingLabels{v1alpha1.LabelRunUID: string(b.UID), v1alpha1.LabelComponent: v1alpha1.ComponentMember})
	if err != nil {
		t.Fatal(err)
	}
	return pods.Items
}

// checkMembersLost: a run continues without a member, and says that it was lost.
func checkMembersLost(t *testing.T, ns string) {
	for name, lose := range map[string]func(*testing.T, corev1.Pod){
		"killed": func(t *testing.T, p corev1.Pod) {
			pid, err := processOf(p.UID, "etcd")
			if err == nil {
				err = syscall.Kill(pid, syscall.SIGKILL)
			}
			if err != nil {
				t.Error(err)
			}
		},
		"deleted": func(t *testing.T, p corev1.Pod) {
			if err := suite.client.Delete(suite.ctx, &p); err != nil {
				t.Error(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := awaitMeasuring(t, create(t, newOwn(ns, name, 1000, atRate)))
			lose(t, memberPods(t, b)[1])
			b = awaitMembersGone(t, b)
			requireReason(t, b, v1alpha1.ReasonCompleted)
			if s := b.Status.Summary; s == nil || len(s.Concerns) == 0 || s.Concerns[0] != v1alpha1.ReasonMembersLost {
				t.Errorf("wanted the concern %s, found %+v", v1alpha1.ReasonMembersLost, s)
			}
		})
	}
}

// checkMembersRestart replaces the operator in each stage.
func checkMembersRestart(t *testing.T, ns string) {
	late := newOwn(ns, "starting", 500, ephemeral(func(e *v1alpha1.EphemeralTarget) {
		e.Placement = &v1alpha1.MemberPlacement{NodeSelector: map[string]string{ns: "go"}}
	}))
	awaitStage(t, create(t, late), v1alpha1.StageStarting)
	kept := newOwn(ns, "kept", 100, ephemeral(func(e *v1alpha1.EphemeralTarget) { e.KeepSeconds = 5 }))
	runs := []*v1alpha1.EtcdBenchmark{late, create(t, kept), awaitMeasuring(t, create(t, newOwn(ns, "running", 1000, atRate)))}
	replaceOperator(t)
	labelNodes(t, ns, "go")
	for _, b := range runs {
		b = awaitMembersGone(t, b)
		requireCompleted(t, b)
		requireMeasured(t, b, *b.Spec.Load.Requests)
	}
}

// checkMembersDeletion deletes a run, and the namespace of another, while their members start and run.
func checkMembersDeletion(t *testing.T, ns string) {
	starting, running := newOwn(ns, "starting", 500), newOwn(ns, "running", 3000, atRate)
	awaitStage(t, create(t, starting), v1alpha1.StageStarting)
	awaitMeasuring(t, create(t, running))
	for _, b := range []*v1alpha1.EtcdBenchmark{starting, running} {
		if err := suite.client.Delete(suite.ctx, b); err != nil {
			t.Fatal(err)
		}
		eventually(t, goneWithin, b.Name+" to be gone", func(ctx context.Context) error { return deleted(ctx, b) })
	}
	other := namespace(t, "members-namespace")
	b := newOwn(other, "starting", 500)
	awaitStage(t, create(t, b), v1alpha1.StageStarting)
	deleteItsNamespace(t, victim{run: b})
}

// checkMembersQueue: runs with members of their own wait for each other, until the members of the first are gone.
func checkMembersQueue(t *testing.T, ns string) {
	queued := func(b *v1alpha1.EtcdBenchmark) { b.Spec.Target.ConcurrentRuns = v1alpha1.ConcurrentRunsQueue }
	first := create(t, newOwn(ns, "first", 500, queued, atRate))
	awaitStage(t, first, v1alpha1.StageStarting)
	second := create(t, newOwn(ns, "second", 200, queued))
	eventually(t, time.Minute, "the second run to wait", func(ctx context.Context) error {
		found, err := get(ctx, second)
		if err != nil || found.Status.Queue == nil || found.Status.Queue.WaitsFor != v1alpha1.QueueAddresses {
			return fmt.Errorf("found %+v (%w)", found.Status.Queue, err)
		}
		return nil
	})
	first, second = awaitMembersGone(t, first), awaitMembersGone(t, second)
	requireCompleted(t, first)
	requireCompleted(t, second)
	gone := meta.FindStatusCondition(first.Status.Conditions, v1alpha1.ConditionCleaned).LastTransitionTime
	if at := second.Status.Admission.At; at.Time.Before(gone.Time) {
		t.Errorf("the second run was admitted at %s, and the members of the first were gone at %s", at, gone)
	}
}

// checkMembersOfSuite compares two settings of etcd, and deletes another suite while members start.
func checkMembersOfSuite(t *testing.T, ns string) {
	run := newOwn(ns, "", 300, func(b *v1alpha1.EtcdBenchmark) { b.Spec.Target.ConcurrentRuns = "" })
	single, other := *run.Spec.Target.DeepCopy(), *run.Spec.Target.DeepCopy()
	single.Ephemeral.Replicas = 1
	other.Ephemeral.Replicas, other.Ephemeral.Settings = 1, map[string]v1alpha1.MemberSetting{"snapshot-count": "1000"}
	s := &v1alpha1.EtcdBenchmarkSuite{
		ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "settings"},
		Spec: v1alpha1.EtcdBenchmarkSuiteSpec{
			Targets:   []v1alpha1.SuiteTarget{{Name: "default", Target: single}, {Name: "snapshots", Target: other}},
			Workloads: []v1alpha1.SuiteWorkload{{Name: "put", Workload: run.Spec.Workload}},
			Loads:     []v1alpha1.SuiteLoad{{Name: "c8", Load: run.Spec.Load}},
		},
	}
	again := s.DeepCopy()
	again.Name = "deleted"
	if err := suite.client.Create(suite.ctx, s); err != nil {
		t.Fatal(err)
	}
	awaitSuiteEnd(t, s)
	if len(s.Status.Results) != 2 || s.Status.Results[0].Cleaned != metav1.ConditionTrue {
		t.Errorf("wanted two results without members left, found %+v", s.Status.Results)
	}
	if err := suite.client.Create(suite.ctx, again); err != nil {
		t.Fatal(err)
	}
	awaitSuite(t, again, "its first run", func() error {
		if again.Status.Current == "" {
			return fmt.Errorf("no run is current")
		}
		return nil
	})
	if err := suite.client.Delete(suite.ctx, again); err != nil {
		t.Fatal(err)
	}
}
