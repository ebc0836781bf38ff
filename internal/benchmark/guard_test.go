package benchmark

import (
	"testing"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
)

func TestPlanGuardsEveryRun(t *testing.T) {
	tests := map[string]struct {
		guard *v1alpha1.Guard
		want  plan.Guard
	}{
		"none":       {nil, plan.Guard{MaxFreeQuotaPercent: 50}},
		"a share":    {&v1alpha1.Guard{MaxFreeQuotaPercent: 10}, plan.Guard{MaxFreeQuotaPercent: 10}},
		"any amount": {&v1alpha1.Guard{MaxFreeQuotaPercent: 10, AcceptWrites: true}, plan.Guard{}},
		"acknowledged": {&v1alpha1.Guard{MaxFreeQuotaPercent: 50, AcknowledgeControlPlane: true},
			plan.Guard{MaxFreeQuotaPercent: 50, AcknowledgeControlPlane: true}},
		"both": {&v1alpha1.Guard{MaxFreeQuotaPercent: 50, AcceptWrites: true, AcknowledgeControlPlane: true}, plan.Guard{AcknowledgeControlPlane: true}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := Plan(putRun(func(b *v1alpha1.EtcdBenchmark) { b.Spec.Guard = tc.guard }), []string{"a:1"})
			if err != nil || got.Guard != tc.want {
				t.Errorf("got the guard %+v (%v), wanted %+v", got.Guard, err, tc.want)
			}
		})
	}
}
