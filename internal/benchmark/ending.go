package benchmark

import (
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/verdict"
)

// cutShort are the reasons of runs whose load ended before its bound. Their message says what is left of the result.
var cutShort = []string{v1alpha1.ReasonStopped, v1alpha1.ReasonTimedOut, v1alpha1.ReasonGuardStopped, v1alpha1.ReasonMissedEarly}

// EndingMessage returns the member that was lost before, why, the sentence with the reason, and what is left of the result. The status of b must have the
// summary, if there was a measurement.
func EndingMessage(b *v1alpha1.EtcdBenchmark, reason, why string) string {
	if lost := verdict.LostMembers(b); len(lost) > 0 && verdict.CouldNotRun(reason) {
		why = lost[0] + " " + why
	}
	switch {
	case !slices.Contains(cutShort, reason):
		return why
	case b.Status.Summary == nil && b.Status.StartAt == nil:
		return why + " Nothing was measured: the load had not begun."
	case b.Status.Summary == nil:
		return why + " No client pod reported a measurement."
	default:
		return why + " The result is what was measured until then."
	}
}

// IsPartial reports whether b has ended without its complete result.
func IsPartial(b *v1alpha1.EtcdBenchmark) bool {
	c := meta.FindStatusCondition(b.Status.Conditions, v1alpha1.ConditionFinished)
	if c == nil || c.Status != metav1.ConditionTrue {
		return false
	}
	s := b.Status.Summary
	return s != nil && s.Partial || s == nil && c.Reason != v1alpha1.ReasonCompleted
}

// Percent is the share of the requested measurement that is done, or was done when b ended.
func Percent(b *v1alpha1.EtcdBenchmark) int32 {
	c := meta.FindStatusCondition(b.Status.Conditions, v1alpha1.ConditionFinished)
	hasEnded := c != nil && c.Status == metav1.ConditionTrue
	switch s := &b.Status; {
	case hasEnded && c.Reason == v1alpha1.ReasonCompleted:
		return 100
	case hasEnded && s.Summary != nil:
		return measuredPercent(b.Resolved().Load, s.Summary)
	case !hasEnded && s.Progress != nil:
		return s.Progress.Percent
	}
	return 0
}

func measuredPercent(l spec.Load, s *v1alpha1.Summary) int32 {
	if l.Requests != nil {
		return ratioPercent(float64(s.MeasuredRequests), float64(*l.Requests))
	}
	return ratioPercent(float64(s.DurationMicroseconds), 1e6*l.Duration().Seconds())
}
