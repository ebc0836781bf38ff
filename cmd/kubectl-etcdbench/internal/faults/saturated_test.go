package faults

import (
	"math"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
)

// judgedBy makes a p99 of 100 ms the run's only objective.
func judgedBy(run *v1alpha1.EtcdBenchmark) {
	run.Spec.Objectives = []v1alpha1.Objective{{
		Name: "p99", Type: spec.ObjectiveLatency,
		Latency: &v1alpha1.LatencyObjective{Operation: spec.OperationPut, Statistic: spec.StatisticP99, MaxMicroseconds: 100_000},
	}}
}

// The network makes a put take 50 ms, so ten clients carry 200 of 300 puts per second. That is no fault of the load
// generator. The number of clients that the result advises is enough.
func TestAloneATargetThatDoesNotKeepUpIsSaturated(t *testing.T) {
	t.Parallel()
	cluster := start(t, fault{clients: slowClients})
	few := func(clients int32) *v1alpha1.EtcdBenchmark {
		return puts(cluster, judgedBy, func(run *v1alpha1.EtcdBenchmark) {
			run.Spec.Load.Clients, run.Spec.Load.Rate.PerSecond = clients, 300
		})
	}
	run := completed(t, few(10), nil)
	s := run.Status.Summary
	if s.Saturated == nil || s.Validity.Verdict == v1alpha1.ValidityClientBound {
		t.Fatalf("saturated is %+v, and validity %+v: wanted a target that does not keep up", s.Saturated, s.Validity)
	}
	mean := time.Duration(s.Operations[0].ServiceTime.MeanMicroseconds) * time.Microsecond
	if got, want := s.Saturated.BusyClients, int64(math.Ceil(300*mean.Seconds())); mean < 2*slowClients || got < want-1 || got > want+1 {
		t.Errorf("got %d busy clients, wanted 300/s × %v = %d: %+v", got, mean, want, s.Saturated)
	}
	if c := meta.FindStatusCondition(run.Status.Conditions, v1alpha1.ConditionPassed); c == nil || c.Status != metav1.ConditionFalse {
		t.Errorf("got %+v, wanted the objective missed", c)
	}
	run = completed(t, few(int32(2*s.Saturated.BusyClients)), nil)
	if s := run.Status.Summary; s.Saturated != nil {
		t.Errorf("with enough clients, got %+v", s.Saturated)
	}
}
