package etcd

import (
	"maps"
	"slices"
	"testing"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
	"github.com/etcdbench/etcd-benchmark-operator/internal/workload"
)

// counted returns the numbers from first to before end, in steps.
func counted(first, end, step int64) (numbers []int64) {
	for n := first; n < end; n += step {
		numbers = append(numbers, n)
	}
	return numbers
}

// The values of each workload have the content that the plan describes, and depend only on the request's number: each
// attempt of a software transaction writes the same. Of a request that fails on a busy machine, the store may have nothing.
func TestValuesOfEachWorkloadReachTheStore(t *testing.T) {
	t.Parallel()
	cluster, client := oneMember(t)
	values := compressible(16, spec.SizesLogUniform)
	values.SizeBytes = 255
	tests := map[string]struct {
		change func(*plan.Plan)
		// wantNumbers are those of all values that reach the store.
		wantNumbers []int64
	}{
		"transactions": {func(p *plan.Plan) {
			txnPlan(5, 1_000)(p)
			p.Workload.Txn.Values = values
		}, counted(0, 5*300, 1)},
		"swaps of different keys": {func(p *plan.Plan) {
			txnPlan(0, 400)(p)
			p.Workload.Txn.Keys.Distribution, p.Workload.Txn.Values = spec.Sequential, values
		}, append(counted(0, 400, 1), counted(0, 300, 1)...)},
		// The first two of five keys are written.
		"software transactions that conflict": {
			func(p *plan.Plan) {
				stmPlan(spec.IsolationRepeatableReads, spec.LockerNone)(p)
				p.Workload.STM.Values = values
			},
			slices.Concat(counted(0, 10, 1), counted(0, 5*stmTransactions, 5), counted(1, 5*stmTransactions, 5)),
		},
		"histories": {func(p *plan.Plan) {
			watchGetPlan(8)(p)
			p.Workload.WatchGet.Values = values
		}, append(counted(0, 10, 1), counted(0, 2*8, 1)...)},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			p := planFor(cluster.Endpoints, tc.change)
			snapshots, changes := changesOf(t, client, p)
			failed := 0
			for _, o := range results.Merge(snapshots).Operations {
				failed += int(o.Failed.Count())
			}
			got, want := map[string]int{}, map[string]int{}
			for _, c := range changes {
				if !c.deleted {
					got[c.value]++
				}
			}
			w := workload.New(p.Run)
			for _, number := range tc.wantNumbers {
				want[string(w.Value(number))]++
			}
			for value, n := range got {
				if n > want[value] {
					t.Fatalf("the store got %q %d times, wanted %d", value, n, want[value])
				}
			}
			if failed == 0 && !maps.Equal(got, want) {
				t.Errorf("the store got %d different values by %d puts, which are not the %d by %d that the plan has",
					len(got), puts(changes), len(want), len(tc.wantNumbers))
			}
		})
	}
}
