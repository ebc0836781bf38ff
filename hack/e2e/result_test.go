//go:build e2e

package e2e

import (
	"slices"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"
	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
)

// requireReason ends the test unless the run finished with this reason.
func requireReason(t *testing.T, b *v1alpha1.EtcdBenchmark, reason string) {
	t.Helper()
	if !meta.IsStatusConditionTrue(b.Status.Conditions, v1alpha1.ConditionFinished) {
		t.Fatalf("%s is not finished: %+v", b.Name, b.Status.Conditions)
	}
	if err := wantReason(b, v1alpha1.ConditionFinished, reason); err != nil {
		t.Fatal(err)
	}
}

// requireCompleted ends the test unless the run completed, every pod reported, and no key is left.
func requireCompleted(t *testing.T, b *v1alpha1.EtcdBenchmark) {
	t.Helper()
	requireReason(t, b, v1alpha1.ReasonCompleted)
	if !meta.IsStatusConditionTrue(b.Status.Conditions, v1alpha1.ConditionCleaned) {
		t.Errorf("%s: wanted Cleaned=True, found %+v", b.Name, meta.FindStatusCondition(b.Status.Conditions, v1alpha1.ConditionCleaned))
	}
	for _, running := range []string{v1alpha1.ConditionReconciling, v1alpha1.ConditionStalled} {
		if meta.FindStatusCondition(b.Status.Conditions, running) != nil {
			t.Errorf("%s: a completed run has the condition %s", b.Name, running)
		}
	}
	if b.Status.Summary == nil || b.Status.Summary.Partial {
		t.Fatalf("%s: wanted a whole summary, found %+v", b.Name, b.Status.Summary)
	}
	requireAllPods(t, b)
}

func requireAllPods(t *testing.T, b *v1alpha1.EtcdBenchmark) {
	t.Helper()
	if got := len(b.Status.Pods); got != int(b.Resolved().Load.Pods) {
		t.Errorf("%s: wanted %d pods in status, found %d", b.Name, b.Resolved().Load.Pods, got)
	}
	for _, pod := range b.Status.Pods {
		if pod.Partial || pod.Source == v1alpha1.SourceNone || pod.Source == "" {
			t.Errorf("%s: pod %d did not report: %+v", b.Name, pod.Index, pod)
		}
	}
}

// overloaded counts the requests that etcd refused because a member was 5,000 entries behind. This happens if many
// members and clients share two processors. Such requests are correctly reported as failed. More than one in a hundred
// is not a short overload: a full quota causes the same error.
func overloaded(b *v1alpha1.EtcdBenchmark) (refused int64) {
	for _, o := range b.Status.Summary.Operations {
		for _, e := range o.Errors {
			if e.Code == codes.ResourceExhausted.String() {
				refused += e.Count
			}
		}
	}
	return min(refused, b.Status.Summary.MeasuredRequests/100)
}

// requireMeasured compares the number of measured requests with the requested one, in total and over the operations,
// and requires that none failed except by overload.
func requireMeasured(t *testing.T, b *v1alpha1.EtcdBenchmark, want int64) {
	t.Helper()
	s := b.Status.Summary
	if s.MeasuredRequests != want || s.FailedRequests != overloaded(b) || s.CensoredRequests != 0 {
		t.Errorf("%s: wanted %d measured requests, all answered; found %d, of which %d failed and %d were cut off",
			b.Name, want, s.MeasuredRequests, s.FailedRequests, s.CensoredRequests)
	}
	var operations, pods int64
	for _, o := range s.Operations {
		operations += o.Succeeded + o.Failed + o.Censored
	}
	for _, p := range b.Status.Pods {
		pods += p.MeasuredRequests
	}
	if operations != want || pods != want {
		t.Errorf("%s: wanted %d requests over the operations and over the pods; found %d and %d", b.Name, want, operations, pods)
	}
}

// requireOrderedPercentiles requires that percentiles exist and are in ascending order.
func requireOrderedPercentiles(t *testing.T, b *v1alpha1.EtcdBenchmark) {
	t.Helper()
	for _, o := range b.Status.Summary.Operations {
		if o.Succeeded == 0 {
			continue
		}
		// An event has no service time, and may come before the response that it is timed from.
		isEvent := o.Operation.IsEvent()
		// Requests that were cut off, or never sent, count with the time that they had waited.
		requireOrdered(t, b.Name+": latency of "+string(o.Operation), o.Latency, o.Succeeded+o.Censored, !isEvent)
		if !isEvent && !saysMissing(b, "service time") {
			requireOrdered(t, b.Name+": service time of "+string(o.Operation), o.ServiceTime, o.Succeeded, true)
		}
	}
}

// saysMissing reports whether a run warns that a part of its result did not fit into a termination message. On a busy machine,
// durations spread over more buckets, which need more room.
func saysMissing(b *v1alpha1.EtcdBenchmark, part string) bool {
	return slices.ContainsFunc(b.Status.Summary.Warnings, func(w string) bool {
		return strings.Contains(w, "did not fit into the termination messages") && strings.Contains(w, part)
	})
}

func requireOrdered(t *testing.T, what string, l *v1alpha1.LatencySummary, count int64, overZero bool) {
	t.Helper()
	if l == nil || l.Count != count || overZero && l.MinMicroseconds <= 0 {
		t.Errorf("%s: wanted %d durations, over zero: %t; found %+v", what, count, overZero, l)
		return
	}
	ranks := []int64{l.MinMicroseconds, l.P50Microseconds, l.P90Microseconds, l.P95Microseconds, l.P99Microseconds, l.P999Microseconds, l.MaxMicroseconds}
	if !slices.IsSorted(ranks) {
		t.Errorf("%s: min, percentiles and max are not in order: %v", what, ranks)
	}
}
