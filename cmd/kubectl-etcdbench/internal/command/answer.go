package command

import (
	"cmp"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/text"
	"github.com/etcdbench/etcd-benchmark-operator/internal/verdict"
)

// notModelled are the requests of a Kubernetes cluster that its model lacks.
const notModelled = "not modelled: node status, services, endpoints, leader elections, custom resources, controllers that list or roll out, and what else uses this etcd"

// answerOf says in one sentence what a check found. It claims no more than was measured.
func answerOf(run *v1alpha1.EtcdBenchmark) string {
	what := "the profile " + string(run.Spec.Profile)
	if k := run.Spec.Kubernetes; k != nil {
		what = fmt.Sprintf("the modelled requests of %s nodes", text.Grouped(int64(k.Nodes)))
	}
	passed := meta.FindStatusCondition(run.Status.Conditions, v1alpha1.ConditionPassed)
	measured := checked(run)
	switch {
	case measured == nil || passed == nil:
		return fmt.Sprintf("No verdict on %s: the check ended early. %s", what, endingOf(run))
	case passed.Status == metav1.ConditionFalse && run.Spec.Kubernetes != nil:
		return inMemory(run) + fmt.Sprintf("Did not keep up with %s: %s", what, passed.Message)
	case passed.Status == metav1.ConditionFalse:
		return inMemory(run) + fmt.Sprintf("Not good enough for %s: %s", what, passed.Message)
	case passed.Status != metav1.ConditionTrue:
		return fmt.Sprintf("No verdict on %s: %s", what, passed.Message)
	}
	s, latency := run.Status.Summary, measured.Latency
	length, p99 := text.Micros(s.DurationMicroseconds), text.Micros(latency.P99Microseconds)
	if run.Spec.Kubernetes != nil {
		return inMemory(run) + fmt.Sprintf("Kept up with %s (%s, p99 of writes %s) for %s; %s.", what, text.RateIn(s.ThroughputPerSecond), p99, length, notModelled)
	}
	return inMemory(run) + fmt.Sprintf("Good enough for %s: it answered %s puts per second for %s, p99 %s, the slowest %s.", what,
		answered(run), length, p99, text.Micros(latency.MaxMicroseconds))
}

// answered is the share of the rate as its objective has it, so that no other number stands beside it.
func answered(run *v1alpha1.EtcdBenchmark) string {
	rate := text.Grouped(run.Resolved().Load.Rate.PerSecond)
	for _, o := range run.Status.Objectives {
		if share, is := strings.CutSuffix(o.Got, " of the rate"); is {
			return share + " of " + rate
		}
	}
	return text.RateIn(run.Status.Summary.ThroughputPerSecond).Digits() + " of " + rate
}

// endingOf is why a run ended.
func endingOf(run *v1alpha1.EtcdBenchmark) string {
	if c := meta.FindStatusCondition(run.Status.Conditions, v1alpha1.ConditionFinished); c != nil {
		return c.Reason + ": " + c.Message
	}
	return ""
}

// checked returns the writes of a check that completed; nil of another.
func checked(run *v1alpha1.EtcdBenchmark) *v1alpha1.OperationSummary {
	finished := meta.FindStatusCondition(run.Status.Conditions, v1alpha1.ConditionFinished)
	if finished == nil || finished.Reason != v1alpha1.ReasonCompleted || run.Status.Summary == nil {
		return nil
	}
	for i, o := range run.Status.Summary.Operations {
		if (o.Operation == spec.OperationPut || o.Operation == spec.OperationOptimisticPut) && o.Latency != nil {
			return &run.Status.Summary.Operations[i]
		}
	}
	return nil
}

// inMemory begins an answer about members that do not write to a disk; empty if none is known.
func inMemory(run *v1alpha1.EtcdBenchmark) string {
	var names []string
	for _, m := range run.Status.Summary.Members {
		if verdict.InMemory(m) {
			names = append(names, cmp.Or(m.Name, m.ID))
		}
	}
	if len(names) == 0 {
		return ""
	}
	return fmt.Sprintf("The data of %s lies in memory, or is not flushed, so this says nothing about an etcd on a disk. ", strings.Join(names, ", "))
}
