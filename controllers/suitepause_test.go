package controllers

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
)

// searchOnly makes a suite a search with this pause.
func searchOnly(pauseSeconds int32) func(*v1alpha1.EtcdBenchmarkSuite) {
	return func(s *v1alpha1.EtcdBenchmarkSuite) {
		s.Spec.Loads, s.Spec.Rounds = nil, 1
		s.Spec.Workloads[0].Objectives = []v1alpha1.Objective{{
			Name: "p99", Type: spec.ObjectiveLatency, Latency: &v1alpha1.LatencyObjective{Operation: spec.OperationPut, Statistic: spec.StatisticP99, MaxMicroseconds: 25_000},
		}}
		s.Spec.Search = &v1alpha1.SuiteSearch{Load: spec.Load{Clients: 10, DurationSeconds: new(int32(1))}, PauseSeconds: &pauseSeconds}
	}
}

// The next probe is created when the pause is over, also by an operator that started meanwhile.
func TestSuitePausesBetweenProbes(t *testing.T) {
	h := newSuiteHarness(t, searchOnly(2)).create()
	h.finish(h.next(), v1alpha1.ReasonCompleted)
	until := metav1.Time{}
	h.await("a pause", func() bool {
		if p := h.status().PausedUntil; p != nil {
			until = *p
		}
		return !until.IsZero()
	})
	h.restart()
	second := h.next()
	if second.CreationTimestamp.Time.Before(until.Time) {
		t.Errorf("the second probe was created at %s, wanted it after %s", second.CreationTimestamp, until)
	}
	if second.Spec.OnObjectiveMissed != v1alpha1.ObjectiveMissedStop || h.status().PausedUntil != nil {
		t.Errorf("found %s and a pause until %v, wanted that the probe ends early, and no pause while it runs", second.Spec.OnObjectiveMissed, h.status().PausedUntil)
	}
}

// A suite that is stopped in a pause ends at once.
func TestSuiteStopsInAPause(t *testing.T) {
	h := newSuiteHarness(t, searchOnly(120)).create()
	h.finish(h.next(), v1alpha1.ReasonCompleted)
	h.await("a pause", func() bool { return h.status().PausedUntil != nil })
	h.change(h.suite, func() { h.suite.Spec.Stop = true })
	h.awaitFinished(v1alpha1.ReasonStopped)
	if len(h.runs()) != 1 {
		t.Errorf("found %d runs, wanted no second probe", len(h.runs()))
	}
}
