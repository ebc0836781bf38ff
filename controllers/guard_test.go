package controllers

import (
	"testing"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// TestGuardStops: a pod whose guard fires ends the run. The run keeps its numbers and reports the cause, also after a
// restart of the operator.
func TestGuardStops(t *testing.T) {
	s := newHarness(t, func(run *v1alpha1.EtcdBenchmark) {
		run.Spec.Guard = &spec.Guard{StopOn: &spec.StopRules{DatabaseSize: &spec.DatabaseSizeRule{MaxBytes: 1000}}}
	})
	s.playPreparing()
	s.playReady()
	s.playRunning()
	at := time.Now().Truncate(time.Microsecond)
	stopped := func(s *results.Snapshot) { s.Stopped = true }
	s.pods[0].reports(results.StageDone, measured, withKeysDeleted, stopped, func(s *results.Snapshot) {
		s.Fired = &results.Fired{Rule: spec.GuardDatabaseSize, Subject: "etcd-1", Got: 1024, Limit: 1000, At: at}
	})
	s.await("the other pod to be asked to stop", func() bool { return s.pods[1].seen().Annotations[plan.AnnotationStop] == "true" })
	s.restart()
	s.pods[1].reports(results.StageDone, measured, withKeysDeleted, stopped)
	s.awaitFinished(v1alpha1.ReasonGuardStopped)
	s.checkMessage("etcd-1")
	status := s.status()
	if g := status.Guard; g == nil || g.Rule != "DatabaseSize" || g.Wanted != "≤1,000 B" || g.Got != "1,024 B" || !g.FiredAt.Time.Equal(at) {
		t.Errorf("status.guard is %+v", g)
	}
	if status.Summary == nil || status.Summary.MeasuredRequests != 100 || !status.Summary.Partial {
		t.Errorf("wanted all that was measured, as a part, found %+v", status.Summary)
	}
	s.awaitCondition(v1alpha1.ConditionCleaned, "True/"+v1alpha1.ReasonKeysDeleted)
}
