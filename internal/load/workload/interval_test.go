package workload

import (
	"testing"

	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// However keys are chosen, a read covers as many as it should, and never ends
// behind the last one.
func TestReadsOfSeveralKeysStayInTheKeySpace(t *testing.T) {
	const count = 100
	for _, width := range []int64{1, 2, 99, 100} {
		for _, order := range []plan.KeyOrder{plan.KeyOrderSequential, plan.KeyOrderUniform, plan.KeyOrderZipf} {
			w := New(planOf(plan.Workload{
				Type: plan.WorkloadRange, KeyCount: count, KeySize: 2, KeyOrder: order,
				Demand: plan.Demand{ZipfThousandths: 500}, Interval: plan.Interval{Keys: width},
			}))
			firsts := map[int64]bool{}
			for n := range int64(5_000) {
				firsts[w.At(Measured, n).Key] = true
			}
			for first := range firsts {
				if first < 0 || first+width > count {
					t.Errorf("%s: a read of %d keys begins with key %d of %d", order, width, first, count)
				}
			}
			if want := int(count - width + 1); len(firsts) != want {
				t.Errorf("%s: reads of %d keys begin with %d different keys, wanted %d", order, width, len(firsts), want)
			}
		}
	}
}

func TestTheEndOfARead(t *testing.T) {
	one := New(planOf(plan.Workload{Type: plan.WorkloadRange, KeyCount: 100, KeySize: 2}))
	if end := one.AppendEnd(nil, 5); len(end) > 0 {
		t.Errorf("the read of one key ends at %q, wanted no end", end)
	}
	all := New(planOf(plan.Workload{Type: plan.WorkloadRange, KeyCount: 100, KeySize: 2, Interval: plan.Interval{Keys: 100}}))
	last := string(all.AppendKey(nil, 99))
	if end := string(all.AppendEnd(nil, 0)); end <= last || end > last+"\x00" {
		t.Errorf("the read of all keys ends at %q, wanted the next key after %q", end, last)
	}
}

func TestEachKeyIsDeletedOnce(t *testing.T) {
	for _, count := range []int64{1, 2, 100, 1_000} {
		for _, order := range []plan.KeyOrder{plan.KeyOrderSequential, plan.KeyOrderUniform} {
			w := New(planOf(plan.Workload{Type: plan.WorkloadDelete, KeyCount: count, KeySize: 4, KeyOrder: order}))
			deleted := map[int64]bool{}
			inOrder := true
			for n := range count {
				op := w.At(Measured, n)
				if deleted[op.Key] || op.Key < 0 || op.Key >= count || op.Kind != results.OperationDelete {
					t.Fatalf("%s: operation %d is %+v, not the deletion of another one of %d keys", order, n, op, count)
				}
				deleted[op.Key] = true
				inOrder = inOrder && op.Key == n
			}
			if inOrder != (order == plan.KeyOrderSequential) && count > 2 {
				t.Errorf("%s: %d keys are deleted in order: %v", order, count, inOrder)
			}
		}
	}
}
