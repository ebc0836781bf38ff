package main

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
)

func TestOnlyACompletedRunIsASuccess(t *testing.T) {
	finished := func(status metav1.ConditionStatus, reason string) []metav1.Condition {
		return []metav1.Condition{{Type: v1alpha1.ConditionFinished, Status: status, Reason: reason}}
	}
	tests := map[string]struct {
		conditions []metav1.Condition
		wantErr    bool
	}{
		"completed":    {finished(metav1.ConditionTrue, v1alpha1.ReasonCompleted), false},
		"stopped":      {finished(metav1.ConditionTrue, v1alpha1.ReasonStopped), true},
		"failed":       {finished(metav1.ConditionTrue, v1alpha1.ReasonTargetUnreachable), true},
		"still going":  {finished(metav1.ConditionFalse, v1alpha1.StageRunning), true},
		"no condition": {nil, true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			run := &v1alpha1.EtcdBenchmark{Status: v1alpha1.EtcdBenchmarkStatus{Conditions: tc.conditions}}
			if err := requireCompleted(run); (err != nil) != tc.wantErr {
				t.Errorf("got %v, want error %v", err, tc.wantErr)
			}
		})
	}
}
