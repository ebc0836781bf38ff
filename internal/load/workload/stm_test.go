package workload

import (
	"testing"

	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

func stmOf(keys, writePercent int) *Workload {
	return New(planOf(plan.Workload{
		Type: plan.WorkloadSTM, KeySize: 8, KeyCount: 1_000, KeyOrder: plan.KeyOrderUniform,
		STM: &plan.STM{Keys: keys, WritePercent: writePercent},
	}))
}

// One key of which half is written, and etcd's tool never writes: here each
// second transaction does.
func TestTheShareOfWritesIsRightOverManyTransactions(t *testing.T) {
	for name, tc := range map[string]struct{ keys, percent, fewest, most int }{
		"half a key":     {1, 50, 0, 1},
		"a key and some": {7, 20, 1, 2},
		"whole keys":     {10, 30, 3, 3},
		"none":           {5, 0, 0, 0},
		"all":            {5, 100, 5, 5},
	} {
		t.Run(name, func(t *testing.T) {
			const transactions = 20_000
			w := stmOf(tc.keys, tc.percent)
			sum := 0
			for n := range int64(transactions) {
				op := w.At(Measured, n)
				writes := w.Writes(op)
				if op.Kind != results.OperationSTM || !op.OnSeveral() || writes < tc.fewest || writes > tc.most {
					t.Fatalf("operation %d is %+v and writes %d keys, wanted %d to %d", n, op, writes, tc.fewest, tc.most)
				}
				sum += writes
			}
			want := transactions * tc.keys * tc.percent / 100
			if tolerance := transactions / 50; sum < want-tolerance || sum > want+tolerance {
				t.Errorf("%d transactions write %d keys, wanted about %d", transactions, sum, want)
			}
		})
	}
}

func TestSTMTakesItsKeysAndPreloadsAllOfThem(t *testing.T) {
	w := stmOf(4, 50)
	if keys := w.AppendKeys(nil, w.At(Measured, 3)); len(keys) != 4 {
		t.Errorf("a transaction takes %v, wanted 4 keys", keys)
	}
	if w.PreloadCount() != 1_000 || w.Preload(9).Kind != results.OperationPut {
		t.Errorf("the preload is %d operations, the ninth of them %+v; wanted each key put once", w.PreloadCount(), w.Preload(9))
	}
	if kinds := w.Operations(); len(kinds) != 1 || kinds[0] != results.OperationSTM {
		t.Errorf("the workload measures %v", kinds)
	}
}

// All keys of a transaction without a share of writes are written.
func TestATransactionOfPutsWritesAllItsKeys(t *testing.T) {
	w := txnOf(3, 7, plan.KeyOrderSequential)
	if n := w.Writes(w.At(Measured, 1)); n != 3 {
		t.Errorf("a transaction of 3 puts writes %d keys", n)
	}
}
