package benchmark

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
)

func TestPlanOfWorkloads(t *testing.T) {
	keys := v1alpha1.KeySpace{Count: 50, Order: v1alpha1.KeyOrderUniform}
	// space is what every workload on such keys has.
	space := plan.Workload{KeySize: 4, ValueSize: 9, KeyCount: 50, KeyOrder: plan.KeyOrderUniform}
	tests := map[string]struct {
		workload v1alpha1.Workload
		want     func(*plan.Workload)
	}{
		"transactions": {
			v1alpha1.Workload{Type: v1alpha1.WorkloadTxn, Txn: &v1alpha1.TxnWorkload{
				Mode: v1alpha1.TxnPuts, PutsPerTransaction: new(int32(5)), KeySize: 4, ValueSize: 9, Keys: keys,
			}},
			func(w *plan.Workload) { w.Type, w.Txn = plan.WorkloadTxn, &plan.Txn{Puts: 5} },
		},
		"compare-and-swap": {
			v1alpha1.Workload{Type: v1alpha1.WorkloadTxn, Txn: &v1alpha1.TxnWorkload{
				Mode: v1alpha1.TxnCompareAndSwap, KeySize: 4, ValueSize: 9, Keys: keys,
			}},
			func(w *plan.Workload) { w.Type, w.Txn = plan.WorkloadTxn, &plan.Txn{} },
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			b, want := putRun(), space
			b.Spec.Workload = tc.workload
			tc.want(&want)
			got, err := Plan(b, b.Spec.Target.Endpoints)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got.Workload); diff != "" {
				t.Errorf("workload (-want +got):\n%s", diff)
			}
		})
	}
}
