package controllers

import (
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// onSkewedClocks runs a test with a run of an operator whose clock is ahead of the API server's, and one with a run of an
// operator whose clock is behind.
func onSkewedClocks(t *testing.T, test func(*testing.T, *harness), changes ...func(*v1alpha1.EtcdBenchmark)) {
	for name, ahead := range map[string]time.Duration{"ahead": 20 * time.Minute, "behind": -20 * time.Minute} {
		t.Run(name, func(t *testing.T) { test(t, newHarnessAt(t, ahead, changes...)) })
	}
}

// A deleted run has its time to stop and to delete its keys, and not more.
func TestADeletedRunOnASkewedClock(t *testing.T) {
	onSkewedClocks(t, func(t *testing.T, s *harness) {
		s.playPreparing()
		s.playReady()
		s.playRunning()
		s.must(s.api.Delete(t.Context(), s.run))
		s.await("the pods to be asked to stop", func() bool { return s.allHave(plan.AnnotationStop) })
		if !s.hasFinalizer() {
			t.Error("the finalizer is gone, and the pods have only been asked to stop")
		}
		s.later(121 * time.Second)
		s.awaitGone()
	})
}

// An image may be missing for a moment.
func TestAnImageThatIsMissingOnASkewedClock(t *testing.T) {
	onSkewedClocks(t, func(t *testing.T, s *harness) {
		s.makePods()
		for _, a := range s.pods {
			a.kubelet(func(status *corev1.PodStatus) {
				status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionTrue, LastTransitionTime: metav1.Now()}}
				status.ContainerStatuses = []corev1.ContainerStatus{{Name: "loadgen", State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ErrImagePull", Message: "not found"}}}}
			})
		}
		s.await("the run to wait for the image", func() bool {
			return s.condition(v1alpha1.ConditionFinished) == "False/"+v1alpha1.StagePreparing && contains(s.message(), "not found")
		})
		s.later(21 * time.Second)
		s.awaitFinished(v1alpha1.ReasonImageUnavailable)
	})
}

// A pod that is evicted may report until its grace period is over, and a while longer.
func TestADeletedPodOnASkewedClock(t *testing.T) {
	continues := func(run *v1alpha1.EtcdBenchmark) { run.Spec.OnPodLost = v1alpha1.PodLossContinue }
	onSkewedClocks(t, func(t *testing.T, s *harness) {
		s.playPreparing()
		s.playReady()
		s.playRunning()
		s.must(s.api.Delete(t.Context(), s.pods[1].pod, client.GracePeriodSeconds(60)))
		s.pods[0].reports(results.StageCleaning, measured)
		s.await("the operator to have seen that the other pod has measured", func() bool {
			return s.status().Pods[0].Stage == string(results.StageCleaning)
		})
		if got := s.message(); contains(got, "Lost client pods") {
			t.Errorf("the pod counts as lost before its grace period is over: %s", got)
		}
		s.later(81 * time.Second)
		s.await("the pod to count as lost", func() bool { return contains(s.message(), "Lost client pods: 1") })
	}, continues)
}

// Refused pods are created a moment later if a quota has room again.
func TestRefusedPodsOnASkewedClock(t *testing.T) {
	onSkewedClocks(t, func(t *testing.T, s *harness) {
		job := s.loadJob()
		s.must(s.api.Create(t.Context(), &corev1.Event{
			ObjectMeta:     metav1.ObjectMeta{Namespace: job.Namespace, GenerateName: "e-"},
			InvolvedObject: corev1.ObjectReference{APIVersion: "batch/v1", Kind: "Job", Namespace: job.Namespace, Name: job.Name, UID: job.UID},
			Reason:         "FailedCreate", Message: "exceeded quota: compute", FirstTimestamp: metav1.Now(), Type: corev1.EventTypeWarning,
		}))
		s.later(4 * time.Second)
		for i := range 2 {
			s.makePod(job, i)
		}
		s.await("the operator to have seen the pods", func() bool { return len(s.status().Pods) == 2 })
		if got := s.condition(v1alpha1.ConditionFinished); got != "False/"+v1alpha1.StagePreparing {
			t.Errorf("found Finished=%s, wanted the run to go on", got)
		}
	})
}

// Members that were created with the run are starting, and older ones are broken.
func TestMembersThatStartOnASkewedClock(t *testing.T) {
	onSkewedClocks(t, func(t *testing.T, s *harness) {
		s.awaitSeen()
		s.makeMember("etcd-0", "198.18.9.1", corev1.ConditionTrue)
		s.makeMember("etcd-1", "198.18.9.2", corev1.ConditionFalse)
		members := slice("etcd", "198.18.9.1")
		of := service("etcd")
		of.Spec.Selector = map[string]string{"app": "etcd"}
		s.makeService(of, members)
		s.await("the run to wait for the second member", func() bool { return contains(s.message(), "not yet: 1") })
		s.later(301 * time.Second)
		s.awaitEndpoints("198.18.9.1:12379")
	}, targets(byService(intstr.FromString("client"))))
}

// The pods may report although another operator, whose clock is ahead, takes over while the run ends.
func TestAnotherOperatorTakesOverWhileTheRunEnds(t *testing.T) {
	s := newHarness(t)
	s.playPreparing()
	s.playReady()
	s.playRunning()
	s.change(func(run *v1alpha1.EtcdBenchmark) { run.Spec.Stop = true })
	s.await("the pods to be asked to stop", func() bool { return s.allHave(plan.AnnotationStop) })
	s.end()
	s.clock.move(5 * time.Minute)
	for _, a := range s.pods {
		a.reports(results.StageDone, measured, withKeysDeleted, func(s *results.Snapshot) { s.Stopped = true })
	}
	s.restart()
	s.awaitFinished(v1alpha1.ReasonStopped)
	for _, p := range s.status().Pods {
		if p.Partial || p.Source != v1alpha1.SourceScrape {
			t.Errorf("the result of %s is %q, partial %v; wanted it whole", p.Name, p.Source, p.Partial)
		}
	}
}

// A finalizer that could not be removed at the first try is removed at the next.
func TestAFailedReleaseBeginsNoOtherGrace(t *testing.T) {
	s := newHarness(t)
	s.endWithKeys()
	s.cleanupJob()
	failed := atomic.Bool{}
	s.restart(func(r *EtcdBenchmarkReconciler) {
		r.Client = faultyClient{r.Client, func(o client.Object) error {
			if run, is := o.(*v1alpha1.EtcdBenchmark); is && len(run.Finalizers) == 0 && !failed.Swap(true) {
				return apierrors.NewConflict(v1alpha1.GroupVersion.WithResource("etcdbenchmarks").GroupResource(), run.Name, nil)
			}
			return nil
		}}
	})
	s.must(s.api.Delete(t.Context(), s.run))
	s.must(s.api.Get(t.Context(), client.ObjectKeyFromObject(s.run), s.run))
	s.await("the operator to see the deletion", func() bool { return s.status().ObservedGeneration == s.run.Generation })
	s.later(121 * time.Second)
	s.awaitGone()
	if !failed.Load() {
		t.Error("no removal has failed: the test shows nothing")
	}
}
