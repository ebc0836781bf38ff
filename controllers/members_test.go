package controllers

import (
	"slices"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/lifecycle"
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

func withMembers(changes ...func(*v1alpha1.EphemeralTarget)) func(*v1alpha1.EtcdBenchmark) {
	t := &v1alpha1.EphemeralTarget{Replicas: 3, Image: "example.org/etcd:v3"}
	for _, change := range changes {
		change(t)
	}
	return targets(v1alpha1.Target{Ephemeral: t})
}

// claim gives each member a volume of a storage class.
func claim(class string) func(*v1alpha1.EphemeralTarget) {
	return func(t *v1alpha1.EphemeralTarget) {
		t.Storage = &v1alpha1.MemberStorage{VolumeClaim: &v1alpha1.MemberVolumeClaim{StorageClassName: &class}}
		t.Storage.VolumeClaim.Size.Set(1 << 30)
	}
}

// membersJob waits until status names the Job of the members.
func (s *harness) membersJob() *batchv1.Job {
	s.t.Helper()
	s.await("the members' Job in status", func() bool { return s.status().Ephemeral != nil })
	return &s.jobs(v1alpha1.ComponentMember)[0]
}

// startMembers plays the Job controller and the kubelet.
func (s *harness) startMembers(job *batchv1.Job) (members []*fakePod) {
	s.t.Helper()
	for i := range int(*job.Spec.Completions) {
		m := s.makePod(job, i)
		m.kubelet(func(status *corev1.PodStatus) {
			status.Phase = corev1.PodRunning
			// The image of the sampler cannot be pulled.
			status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionFalse}}
			status.ContainerStatuses = []corev1.ContainerStatus{{
				Name: "sampler", State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ImagePullBackOff"}},
			}, {
				Name: lifecycle.MemberContainerName, Ready: true, ImageID: "example.org/etcd@sha256:1", State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.Now()}},
			}}
		})
		members = append(members, m)
	}
	return members
}

// collectMembers plays the garbage collector: the Job is gone when its pods are.
func (s *harness) collectMembers(members []*fakePod) {
	s.t.Helper()
	s.await("the deletion of the members' Job", func() bool {
		jobs := s.jobs(v1alpha1.ComponentMember)
		return len(jobs) == 1 && jobs[0].DeletionTimestamp != nil && slices.Contains(jobs[0].Finalizers, metav1.FinalizerDeleteDependents)
	})
	if got := s.condition(v1alpha1.ConditionCleaned); got != "Unknown/"+v1alpha1.ReasonMembersLeft {
		s.t.Errorf("found Cleaned %s while the members are there", got)
	}
	for _, m := range members {
		m.vanishes()
	}
	job := &s.jobs(v1alpha1.ComponentMember)[0]
	before := job.DeepCopy()
	job.Finalizers = nil
	s.must(s.api.Patch(s.t.Context(), job, client.MergeFrom(before)))
}

// TestARunWithMembersOfItsOwn: they come before the client pods and go after them, over restarts of the operator.
func TestARunWithMembersOfItsOwn(t *testing.T) {
	s := newHarness(t, withMembers())
	job := s.membersJob()
	s.awaitStage(v1alpha1.StageStarting)
	service := &corev1.Service{}
	s.await("the Service of the members", func() bool {
		return s.api.Get(t.Context(), client.ObjectKeyFromObject(job), service) == nil
	})
	if service.Spec.ClusterIP != corev1.ClusterIPNone || !service.Spec.PublishNotReadyAddresses || !metav1.IsControlledBy(service, job) || !metav1.IsControlledBy(job, s.run) {
		t.Errorf("wanted a headless Service of the run's members, found %+v", service)
	}
	s.restart()
	if jobs := s.jobs(v1alpha1.ComponentLoad); len(jobs) > 0 {
		t.Error("the client pods did not wait for the members")
	}
	members := s.startMembers(job)
	s.playPreparing()
	s.checkOwnMembers(job)
	s.playReady()
	s.playRunning()
	members[1].vanishes()
	neighbour := members[0].pod.DeepCopy()
	neighbour.ObjectMeta = metav1.ObjectMeta{Namespace: s.run.Namespace, Name: "of-another-run", Labels: map[string]string{v1alpha1.LabelManagedBy: v1alpha1.ManagedBy, v1alpha1.LabelRunUID: "another"}}
	s.must(s.api.Create(t.Context(), neighbour))
	(&fakePod{harness: s, pod: neighbour}).kubelet(func(status *corev1.PodStatus) { status.Phase = corev1.PodRunning })
	s.restart()
	s.await("the neighbour in status", func() bool { return s.status().Ephemeral.NodesShared })
	s.await("the loss of a member in status", func() bool { return strings.Contains(s.status().Ephemeral.Pods[1].Lost, "deleted") })
	s.playCleaning()
	for _, a := range s.pods {
		a.reports(results.StageDone, measured, func(r *results.Snapshot) { r.Cleaning = results.CleaningKeysLeft })
	}
	s.awaitFinished(v1alpha1.ReasonCompleted)
	s.collectMembers([]*fakePod{members[0], members[2]})
	s.awaitCondition(v1alpha1.ConditionCleaned, "True/"+v1alpha1.ReasonMembersDeleted)
	s.await("the finalizer to go", func() bool { return !s.hasFinalizer() })
	if len(s.jobs(v1alpha1.ComponentCleanup)) > 0 {
		t.Error("a cleanup Job was created for keys that are gone with the members")
	}
}

func (s *harness) checkOwnMembers(job *batchv1.Job) {
	s.t.Helper()
	configMap := &corev1.ConfigMap{}
	s.must(s.api.Get(s.t.Context(), client.ObjectKey{Namespace: s.run.Namespace, Name: s.run.PlanName()}, configMap))
	p, err := plan.Decode([]byte(configMap.Data[plan.File]))
	s.must(err)
	if want := job.Name + "-0." + job.Name + "." + s.run.Namespace + ".svc:2379"; !p.Ephemeral || p.Lock != nil || len(p.Target.Endpoints) != 3 || p.Target.Endpoints[0] != want {
		s.t.Errorf("wanted a plan for three members, the first at %s, without a lock; found %+v", want, p)
	}
	e, target := s.status().Ephemeral, s.status().Target
	if e.ReadyAt == nil || len(e.Pods) != 3 || e.Pods[0].ImageID != "example.org/etcd@sha256:1" || !slices.Equal(target.Nodes, []string{"node"}) {
		s.t.Errorf("wanted the members and their node in status, found %+v and %+v", e, target)
	}
}

// A run that is deleted while its members start leaves none.
func TestDeletionWhileMembersStart(t *testing.T) {
	s := newHarness(t, withMembers())
	job := s.membersJob()
	members := s.startMembers(job)[:0]
	s.must(s.api.Delete(t.Context(), s.run))
	s.await("the deletion of the members' Job", func() bool { return s.jobs(v1alpha1.ComponentMember)[0].DeletionTimestamp != nil })
	s.collectMembers(members)
	s.await("the run to be gone", func() bool {
		return client.IgnoreNotFound(s.api.Get(t.Context(), client.ObjectKeyFromObject(s.run), &v1alpha1.EtcdBenchmark{})) == nil &&
			s.api.Get(t.Context(), client.ObjectKeyFromObject(s.run), &v1alpha1.EtcdBenchmark{}) != nil
	})
}

// Members that cannot start end the run, with the reason.
func TestMembersThatDoNotStart(t *testing.T) {
	keep, remove := corev1.PersistentVolumeReclaimRetain, corev1.PersistentVolumeReclaimDelete
	for name, policy := range map[string]*corev1.PersistentVolumeReclaimPolicy{"keeps": &keep, "removes": &remove} {
		class := &storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: name}, Provisioner: "example.org/none", ReclaimPolicy: policy}
		if err := client.IgnoreAlreadyExists(cluster.api.Create(t.Context(), class)); err != nil {
			t.Fatal(err)
		}
	}
	s := newHarness(t)
	for name, tc := range map[string]struct {
		change         func(*v1alpha1.EphemeralTarget)
		reason, report string
	}{
		"image":  {func(t *v1alpha1.EphemeralTarget) { t.Image = "example.org/other:v3" }, v1alpha1.ReasonLimitExceeded, "--member-images"},
		"keeps":  {claim("keeps"), v1alpha1.ReasonMembersNotReady, "reclaimPolicy Retain"},
		"absent": {claim("absent"), v1alpha1.ReasonMembersNotReady, "does not exist"},
	} {
		run := s.join(name, withMembers(tc.change), func(run *v1alpha1.EtcdBenchmark) { run.Spec.Target.ConcurrentRuns = v1alpha1.ConcurrentRunsAllow })
		run.awaitFinished(tc.reason)
		run.checkMessage(tc.report)
		if n := len(run.jobs(v1alpha1.ComponentMember)); n > 0 {
			t.Errorf("%s: found %d Jobs of members", name, n)
		}
	}
	volume := s.join("volume", withMembers(claim("removes")))
	spec := volume.membersJob().Spec.Template.Spec
	if v := spec.Volumes[0].Ephemeral; v == nil || *v.VolumeClaimTemplate.Spec.StorageClassName != "removes" {
		t.Errorf("wanted a volume of the pod, found %+v", spec.Volumes)
	}
}

// A Job or Service of somebody else is not taken for that of the members.
func TestAForeignJobIsNotTheMembers(t *testing.T) {
	s := newHarness(t)
	s.end()
	run := s.join("members", withMembers())
	foreign := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: run.run.Namespace, Name: run.run.MembersName()}, Spec: corev1.ServiceSpec{ExternalName: "a.example", Type: corev1.ServiceTypeExternalName}}
	s.must(s.api.Create(t.Context(), foreign))
	s.restart()
	run.awaitFinished(v1alpha1.ReasonPodsForbidden)
	run.checkMessage("does not belong to this run")
	run.collectMembers(nil)
	run.awaitCondition(v1alpha1.ConditionCleaned, "True/"+v1alpha1.ReasonNothingWritten)
}
