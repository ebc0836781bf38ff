package suite

import (
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/verdict"
)

// EndingOf is the ending of a suite.
func EndingOf(s *v1alpha1.EtcdBenchmarkSuite) verdict.Ending {
	passed := meta.FindStatusCondition(s.Status.Conditions, v1alpha1.ConditionPassed)
	switch finished := meta.FindStatusCondition(s.Status.Conditions, v1alpha1.ConditionFinished); {
	case finished == nil || finished.Status != metav1.ConditionTrue:
		return verdict.Unfinished
	case finished.Reason == v1alpha1.ReasonInvalidCell:
		return verdict.Failed
	case finished.Reason == v1alpha1.ReasonStopped:
		return verdict.Open
	case passed != nil && passed.Status == metav1.ConditionFalse:
		return verdict.Missed
	case finished.Reason == v1alpha1.ReasonRunFailed || Unmeasured(s) > 0:
		return verdict.Failed
	case passed != nil && passed.Status == metav1.ConditionUnknown:
		return verdict.Open
	case verdict.LeftKeys(s.Status.Conditions) != nil:
		return verdict.KeysLeft
	}
	return verdict.Done
}
