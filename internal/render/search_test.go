package render

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
)

// A probe that ended early is shown with its verdict, also if it has none.
func TestOutcomeOfAProbe(t *testing.T) {
	for want, r := range map[string]v1alpha1.SuiteResult{
		"Met":         {Reason: v1alpha1.ReasonCompleted, Passed: metav1.ConditionTrue, Probe: &v1alpha1.SuiteProbe{}},
		"Missed: p99": {Reason: v1alpha1.ReasonMissedEarly, Passed: metav1.ConditionFalse, Probe: &v1alpha1.SuiteProbe{LimitedBy: "p99 (wanted ≤1ms, got 2ms)"}},
		"Unknown":     {Reason: v1alpha1.ReasonMissedEarly, Passed: metav1.ConditionUnknown, Probe: &v1alpha1.SuiteProbe{LimitedBy: "ClientBound: …"}},
		"PodFailed":   {Reason: v1alpha1.ReasonPodFailed, Passed: metav1.ConditionUnknown, Probe: &v1alpha1.SuiteProbe{}},
	} {
		if got := outcome(r); got != want {
			t.Errorf("got %q, wanted %q", got, want)
		}
	}
}
