package controllers

import (
	"testing"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// TestAPodWhoseClockIsOff: the run cannot pass, and a restarted operator knows the offset from status.
func TestAPodWhoseClockIsOff(t *testing.T) {
	s := newHarness(t, func(run *v1alpha1.EtcdBenchmark) {
		run.Spec.Objectives = []v1alpha1.Objective{{Name: "errors", Type: spec.ObjectiveErrorRatio, ErrorRatio: &v1alpha1.ErrorRatioObjective{}}}
	})
	off := func(s *results.Snapshot) { s.Clock = time.Now().Add(-10 * time.Minute) }
	right := func(s *results.Snapshot) { s.Clock = time.Now() }
	s.playPreparing()
	s.pods[0].reports(results.StageConnecting, right)
	s.pods[1].reports(results.StageConnecting, off)
	s.await("the offset in status", func() bool {
		pods := s.status().Pods
		return len(pods) == 2 && pods[1].ClockOffsetMicroseconds != nil && *pods[1].ClockOffsetMicroseconds < -599_000_000
	})
	s.playReady()
	s.playRunning()
	s.restart()
	s.playDone()
	s.awaitFinished(v1alpha1.ReasonCompleted)
	if got := s.condition(v1alpha1.ConditionPassed); got != "Unknown/"+v1alpha1.ReasonClockOffset {
		t.Errorf("Passed is %s", got)
	}
}
