package verdict

import (
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
)

// Ending is what the end of a run or of a suite means. Exit statuses and all forms of a report follow from it.
type Ending string

// The endings.
const (
	// Done: every objective was met, or there are none.
	Done Ending = "Done"
	// Missed: an objective was missed, or a metric regressed.
	Missed Ending = "Missed"
	// Failed: the load was not sent, or no request succeeded.
	Failed Ending = "Failed"
	// Open: it was stopped, client pods were lost, or something could not be judged.
	Open Ending = "Open"
	// KeysLeft: it would be Done, and keys are left in the target.
	KeysLeft Ending = "KeysLeft"
	// Unfinished: it has not ended.
	Unfinished Ending = "Unfinished"
)

// EndingOf is the ending of a run.
func EndingOf(run *v1alpha1.EtcdBenchmark) Ending {
	finished := meta.FindStatusCondition(run.Status.Conditions, v1alpha1.ConditionFinished)
	passed := meta.FindStatusCondition(run.Status.Conditions, v1alpha1.ConditionPassed)
	switch {
	case finished == nil || finished.Status != metav1.ConditionTrue:
		return Unfinished
	case CouldNotRun(finished.Reason):
		return Failed
	case finished.Reason == v1alpha1.ReasonStopped:
		return Open
	case passed != nil && passed.Status == metav1.ConditionFalse:
		return Missed
	case NothingSucceeded(run.Status.Summary):
		return Failed
	case finished.Reason == v1alpha1.ReasonPartlyCompleted:
		return Open
	case passed != nil && passed.Status != metav1.ConditionTrue:
		return Open
	case LeftKeys(run.Status.Conditions) != nil:
		return KeysLeft
	}
	return Done
}

// LeftKeys returns the condition which says that keys are left in the target; nil if none are, or if that is not known yet.
func LeftKeys(conditions []metav1.Condition) *metav1.Condition {
	if c := meta.FindStatusCondition(conditions, v1alpha1.ConditionCleaned); c != nil && c.Status == metav1.ConditionFalse {
		return c
	}
	return nil
}

// NothingSucceeded reports whether no measured request succeeded.
func NothingSucceeded(s *v1alpha1.Summary) bool {
	return s != nil && s.FailedRequests+s.CensoredRequests == s.MeasuredRequests
}

// DoubtOf is why the numbers of a run without objectives are in doubt; empty if they are not, or if it has objectives.
func DoubtOf(run *v1alpha1.EtcdBenchmark) string {
	s, lost := run.Status.Summary, LostMembers(run)
	switch {
	case len(run.Status.Objectives) > 0 || s == nil:
		return ""
	case len(lost) > 0:
		return lost[0]
	case s.Validity != nil && s.Validity.Verdict == v1alpha1.ValidityClientBound:
		return "the load generator was a limit"
	case s.Saturated != nil:
		return "the target did not keep up with the rate"
	case len(s.Concerns) > 0:
		return "the numbers may not describe the requested load: " + strings.Join(s.Concerns, ", ")
	case s.Validity == nil || s.Validity.Verdict != v1alpha1.ValidityValid:
		return "it is not known whether the load generator was a limit"
	}
	return ""
}
