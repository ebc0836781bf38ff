package controllers

import (
	"testing"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// TestAPodWhoseClockIsOff keeps the run from passing, and a new operator knows
// it from status.
func TestAPodWhoseClockIsOff(t *testing.T) {
	s := newStage(t, func(run *v1alpha1.EtcdBenchmark) {
		run.Spec.Objectives = []v1alpha1.Objective{{Name: "rate", Type: v1alpha1.ObjectiveThroughput, Throughput: &v1alpha1.ThroughputObjective{MinPerSecond: 1}}}
	})
	off := func(s *results.Snapshot) { s.Clock = time.Now().Add(-10 * time.Minute) }
	right := func(s *results.Snapshot) { s.Clock = time.Now() }
	s.playPreparing()
	s.pods[0].says(results.StageConnecting, right)
	s.pods[1].says(results.StageConnecting, off)
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
