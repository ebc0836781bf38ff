package controllers

import (
	"testing"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// TestARunGoesOnWithoutAPod: the pod that lives does its part and reports, and
// the run says what it is without.
func TestARunGoesOnWithoutAPod(t *testing.T) {
	s := newStage(t, func(run *v1alpha1.EtcdBenchmark) {
		run.Spec.OnPodLost = v1alpha1.PodLossContinue
		run.Spec.Objectives = []v1alpha1.Objective{{Name: "rate", Type: v1alpha1.ObjectiveThroughput, Throughput: &v1alpha1.ThroughputObjective{MinPerSecond: 1}}}
	})
	s.playPreparing()
	s.playReady()
	s.playRunning()
	s.pods[1].exits(137, nil)
	s.await("the loss to be told", func() bool { return contains(s.message(), "spec.onPodLost") })
	s.restart()
	if s.pods[0].seen().Annotations[plan.AnnotationStop] != "" {
		t.Error("the pod that lives was told to stop")
	}
	// Once it has measured, it waits for nothing but the pod that is dead.
	s.pods[0].says(results.StageCleaning, measured)
	s.await("the pod that lives to be told to wait no longer", func() bool { return s.pods[0].seen().Annotations[plan.AnnotationStop] != "" })
	s.pods[0].says(results.StageDone, measured, withKeysDeleted)
	s.awaitFinished(v1alpha1.ReasonPartlyCompleted)
	s.checkMessage("client pod 1")
	status := s.status()
	if status.Summary == nil || !status.Summary.Partial || status.Summary.MeasuredRequests != 50 || !status.Pods[1].Partial {
		t.Errorf("wanted what pod 0 measured, as a part, found %+v and %+v", status.Summary, status.Pods)
	}
	if got := s.condition(v1alpha1.ConditionPassed); got != "Unknown/"+v1alpha1.ReasonNotJudged {
		t.Errorf("wanted a run that lost a pod not to pass, found %s", got)
	}
	if got := s.condition(v1alpha1.ConditionStalled); got != "" {
		t.Errorf("wanted a run that went on as it was asked to not to be stalled, found %s", got)
	}
}
