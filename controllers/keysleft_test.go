package controllers

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/controllers/internal/resources"
	"github.com/etcdbench/etcd-benchmark-operator/internal/benchmark"
	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
)

// playCleanupPods ends pods of the cleanup Job, one after the other, with these termination messages.
func (s *harness) playCleanupPods(words ...string) {
	s.t.Helper()
	job := s.cleanupJob()
	for i, reported := range words {
		a := s.makePod(job, i)
		a.kubelet(func(status *corev1.PodStatus) {
			status.Phase = corev1.PodFailed
			status.ContainerStatuses = []corev1.ContainerStatus{{Name: "loadgen", State: corev1.ContainerState{
				Terminated: &corev1.ContainerStateTerminated{ExitCode: 1, Message: reported, StartedAt: metav1.Now()},
			}}}
		})
		s.awaitNextSecond()
	}
}

// cleanupJob waits until status names a cleanup Job that has not ended.
func (s *harness) cleanupJob() (found *batchv1.Job) {
	s.t.Helper()
	s.await("a cleanup Job in status", func() bool {
		known := s.status().CleanupJob
		for _, job := range s.jobs(v1alpha1.ComponentCleanup) {
			if known != nil && job.UID == known.UID && failureOf(&job) == "" && job.DeletionTimestamp == nil {
				found = &job
				return true
			}
		}
		return false
	})
	return found
}

// leftover is the command for the keys that the run has left.
func (s *harness) leftover() string {
	run := s.run.DeepCopy()
	run.Status = s.status()
	return benchmark.Leftover(run).Command
}

// endJob plays the Job controller.
func (s *harness) endJob(job *batchv1.Job, status batchv1.JobStatus) {
	s.t.Helper()
	before := job.DeepCopy()
	job.Status = status
	s.must(s.api.Status().Patch(s.t.Context(), job, client.MergeFrom(before)))
}

// endWithKeys ends the run, whose pods were killed.
func (s *harness) endWithKeys() {
	s.t.Helper()
	s.playPreparing()
	s.playReady()
	s.playRunning()
	for _, a := range s.pods {
		a.exits(137, nil)
	}
	s.awaitFinished(v1alpha1.ReasonPodFailed)
}

// A Job of others is not taken for the cleanup Job, whatever its name and labels, and it is not deleted.
func TestAForeignJobIsNotTheCleanupJob(t *testing.T) {
	s := newHarness(t)
	s.playPreparing()
	foreign := &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.run.Namespace, Name: s.run.CleanupJobPrefix() + "abcde", Labels: resources.Labels(s.run, v1alpha1.ComponentCleanup)},
		Spec:       s.loadJob().DeepCopy().Spec,
	}
	unlabelled := foreign.DeepCopy()
	unlabelled.Name, unlabelled.Labels = strings.TrimSuffix(s.run.CleanupJobPrefix(), "-"), nil
	for _, job := range []*batchv1.Job{foreign, unlabelled} {
		job.Spec.Selector, job.Spec.Template.Labels = nil, nil
		s.must(s.api.Create(t.Context(), job))
	}
	s.endJob(foreign, batchv1.JobStatus{Succeeded: 1})
	s.playReady()
	s.playRunning()
	for _, a := range s.pods {
		a.exits(137, nil)
	}
	s.awaitFinished(v1alpha1.ReasonPodFailed)
	own := s.cleanupJob()
	if own.UID == foreign.UID || own.UID == unlabelled.UID {
		t.Fatalf("status names the Job %s", own.Name)
	}
	if got := s.condition(v1alpha1.ConditionCleaned); strings.HasPrefix(got, "True") {
		t.Errorf("found Cleaned=%s before the cleanup Job has ended", got)
	}
	s.endJob(own, failedCleanup)
	s.awaitCondition(v1alpha1.ConditionCleaned, "False/"+v1alpha1.ReasonKeysLeft)
	s.must(s.api.Delete(t.Context(), s.run))
	s.endJob(s.cleanupJob(), batchv1.JobStatus{Succeeded: 1})
	s.awaitGone()
	for _, job := range []*batchv1.Job{foreign, unlabelled} {
		if err := s.api.Get(t.Context(), client.ObjectKeyFromObject(job), job); err != nil || job.DeletionTimestamp != nil {
			t.Errorf("the foreign Job %s was deleted: %v", job.Name, err)
		}
	}
}

// A Job that others create in place of the cleanup Job, under its name, is not believed.
func TestAForeignJobInPlaceOfTheCleanupJob(t *testing.T) {
	s := newHarness(t)
	s.endWithKeys()
	own := s.cleanupJob()
	foreign := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: own.Namespace, Name: own.Name, Labels: own.Labels}, Spec: *own.Spec.DeepCopy()}
	foreign.Spec.Selector, foreign.Spec.Template.Labels = nil, nil
	s.end()
	s.stop = nil
	s.must(s.api.Delete(t.Context(), own, client.PropagationPolicy(metav1.DeletePropagationBackground)))
	s.must(s.api.Create(t.Context(), foreign))
	s.endJob(foreign, batchv1.JobStatus{Succeeded: 1})
	s.restart()
	next := s.cleanupJob()
	if got := s.condition(v1alpha1.ConditionCleaned); next.UID == foreign.UID || strings.HasPrefix(got, "True") {
		t.Errorf("found Cleaned=%s by the Job of others", got)
	}
}

// squatter creates a Job of others with the name of each of the first cleanup Jobs, just before the operator creates that.
type squatter struct {
	client.Client
	left, created *atomic.Int32
}

func (c squatter) Create(ctx context.Context, o client.Object, options ...client.CreateOption) error {
	if job, ok := o.(*batchv1.Job); ok && job.Labels[v1alpha1.LabelComponent] == v1alpha1.ComponentCleanup {
		c.created.Add(1)
		if c.left.Add(-1) >= 0 {
			foreign := job.DeepCopy()
			if err := c.Client.Create(ctx, foreign); err != nil {
				return err
			}
			before := foreign.DeepCopy()
			foreign.Status.Succeeded = 1
			if err := c.Client.Status().Patch(ctx, foreign, client.MergeFrom(before)); err != nil {
				return err
			}
		}
	}
	return c.Client.Create(ctx, o, options...)
}

// A Job that has the name before the operator creates it is not believed either, and does not end the cleanup. A run that is
// being deleted is released.
func TestAForeignJobUnderTheNameOfTheCleanupJob(t *testing.T) {
	s := newHarness(t)
	s.playPreparing()
	left, created := &atomic.Int32{}, &atomic.Int32{}
	left.Store(2)
	s.restart(func(r *EtcdBenchmarkReconciler) { r.Client = squatter{r.Client, left, created} })
	s.playReady()
	s.playRunning()
	for _, a := range s.pods {
		a.exits(137, nil)
	}
	s.awaitFinished(v1alpha1.ReasonPodFailed)
	own := s.cleanupJob()
	if own.Status.Succeeded != 0 || created.Load() != 3 || strings.HasPrefix(s.condition(v1alpha1.ConditionCleaned), "True") {
		t.Errorf("after %d creations, status names %s with %+v", created.Load(), own.Name, own.Status)
	}
	s.endJob(own, failedCleanup)
	s.awaitCondition(v1alpha1.ConditionCleaned, "False/"+v1alpha1.ReasonKeysLeft)
	left.Store(1)
	s.must(s.api.Delete(t.Context(), s.run))
	s.awaitGone()
}

// While a lost pod still writes, it is not known whether keys are left, and the cleanup is repeated.
func TestACleanupJobThatFindsALivePodIsRepeated(t *testing.T) {
	s := newHarness(t)
	s.endWithKeys()
	s.playCleanupPods(load.ErrStillWrites("etcdbench/1/.pod/000001").Error())
	first := s.cleanupJob()
	s.endJob(first, failedCleanup)
	s.awaitCondition(v1alpha1.ConditionCleaned, "Unknown/"+v1alpha1.ReasonPodStillWrites)
	if c := meta.FindStatusCondition(s.status().Conditions, v1alpha1.ConditionCleaned); !strings.Contains(c.Message, "000001") || !strings.Contains(c.Message, "ends by itself") || strings.Contains(c.Message, "kubectl") {
		t.Errorf("found the message %q", c.Message)
	}
	second := s.cleanupJob()
	if args := second.Spec.Template.Spec.Containers[0].Args; second.UID == first.UID || strings.Contains(args[len(args)-1], "=0s") {
		t.Errorf("wanted another Job that waits for the pod, found %v", args)
	}
	s.endJob(second, batchv1.JobStatus{Succeeded: 1})
	s.awaitCondition(v1alpha1.ConditionCleaned, "True/"+v1alpha1.ReasonKeysDeleted)
	s.await("all cleanup Jobs to be removed", func() bool { return len(s.jobs(v1alpha1.ComponentCleanup)) == 0 })
}

// A cleanup Job that works outlives its run, and its result is an event.
func TestACleanupJobOutlivesItsRun(t *testing.T) {
	for name, tc := range map[string]struct {
		status batchv1.JobStatus
		reason string
	}{
		"succeeds": {batchv1.JobStatus{Succeeded: 1}, v1alpha1.ReasonKeysDeleted},
		"fails":    {failedCleanup, v1alpha1.ReasonKeysLeft},
	} {
		t.Run(name, func(t *testing.T) {
			s := newHarness(t)
			s.endWithKeys()
			job, command := s.cleanupJob(), s.leftover()
			s.must(s.api.Delete(t.Context(), s.run))
			s.must(s.api.Get(t.Context(), client.ObjectKeyFromObject(s.run), s.run))
			s.await("the operator to see the deletion", func() bool { return s.status().ObservedGeneration == s.run.Generation })
			s.later(3 * time.Minute)
			s.awaitGone()
			s.must(s.api.Get(t.Context(), client.ObjectKeyFromObject(job), job))
			if job.DeletionTimestamp != nil {
				t.Fatal("the cleanup Job is deleted with its run")
			}
			s.endJob(job, tc.status)
			s.await("an event with the result", func() bool {
				list := &corev1.EventList{}
				s.must(s.api.List(t.Context(), list, client.InNamespace(job.Namespace), client.MatchingFields{"involvedObject.uid": string(job.UID)}))
				if len(list.Items) == 0 {
					return false
				}
				e := list.Items[0]
				if e.Reason != tc.reason || strings.Contains(e.Message, command) != (tc.reason == v1alpha1.ReasonKeysLeft) {
					t.Errorf("found the event %s: %s", e.Reason, e.Message)
				}
				return true
			})
		})
	}
}

// awaitNextSecond: the API server's times are whole seconds.
func (s *harness) awaitNextSecond() {
	s.t.Helper()
	begun := metav1.Now().Unix()
	s.await("the next second", func() bool { return metav1.Now().Unix() > begun })
}

// TestKeysLeftInADyingNamespace: no cleanup Job can be created in the namespace, so the object, which blocks its
// deletion, is released at once.
func TestKeysLeftInADyingNamespace(t *testing.T) {
	s := newHarness(t)
	s.playPreparing()
	s.playReady()
	s.playRunning()
	s.must(s.api.Delete(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: s.run.Namespace}}))
	s.must(s.api.Delete(t.Context(), s.run))
	for _, a := range s.pods {
		a.exits(137, nil)
	}
	s.awaitGone()
}
