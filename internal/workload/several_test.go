package workload

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
)

func txnOf(puts int32, keys int64, order spec.Distribution) *Workload {
	r := runOf(spec.Workload{})
	transacting(puts, spec.Keys{Count: keys, SizeBytes: 8, Distribution: order})(&r)
	return New(r)
}

func TestTransactionsTakeSequentialKeysInTurn(t *testing.T) {
	w := txnOf(3, 7, spec.Sequential)
	want := [][]int64{{0, 1, 2}, {3, 4, 5}, {6, 0, 1}, {2, 3, 4}}
	for n, keys := range want {
		op := w.At(Measured, int64(n))
		if diff := cmp.Diff(keys, w.AppendKeys(nil, op)); diff != "" || op.Kind != spec.OperationTxn || op.Subject != OnSeveral {
			t.Errorf("operation %d is %+v (-want +got):\n%s", n, op, diff)
		}
	}
}

// etcd rejects a transaction that writes a key twice.
func TestTheKeysOfATransactionDiffer(t *testing.T) {
	for _, keys := range []int64{16, 17, 1_000} {
		w := txnOf(16, keys, spec.Uniform)
		seen := map[int64]bool{}
		for n := range int64(500) {
			taken := w.AppendKeys(nil, w.At(Measured, n))
			for _, key := range taken {
				seen[key] = true
			}
			slices.Sort(taken)
			if len(slices.Compact(taken)) != 16 || taken[0] < 0 || taken[15] >= keys {
				t.Fatalf("operation %d of %d keys takes %v, wanted 16 different ones", n, keys, taken)
			}
		}
		if int64(len(seen)) != keys {
			t.Errorf("500 transactions of 16 took %d of %d keys", len(seen), keys)
		}
	}
}

func TestSameSeedSameTransactions(t *testing.T) {
	a, b := txnOf(8, 1_000_000, spec.Uniform), txnOf(8, 1_000_000, spec.Uniform)
	for n := range int64(100) {
		measured := a.AppendKeys(nil, a.At(Measured, n))
		if diff := cmp.Diff(measured, b.AppendKeys(nil, b.At(Measured, n))); diff != "" {
			t.Fatalf("operation %d differs between two workloads of one seed:\n%s", n, diff)
		}
		if slices.Equal(measured, a.AppendKeys(nil, a.At(Warmup, n))) {
			t.Errorf("operation %d of the warm-up is that of the window", n)
		}
	}
}

func TestACompareAndSwapIsOnOneKey(t *testing.T) {
	w := txnOf(0, 7, spec.Sequential)
	if op := w.At(Measured, 9); op.Kind != spec.OperationCompareAndSwap || op.Key != 2 || op.Subject != OnKey {
		t.Errorf("operation 9 is %+v, wanted a compare-and-swap of key 2", op)
	}
	if w.PreloadCount() != 7 || w.Preload(3) != (Operation{Kind: spec.OperationPut, Key: 3, Value: 3, Writes: true}) {
		t.Errorf("the preload is %d operations, the third of them %+v; wanted each key put once", w.PreloadCount(), w.Preload(3))
	}
}

func TestNothingIsAllocatedPerTransaction(t *testing.T) {
	w := txnOf(128, 1_000_000, spec.Uniform)
	keys := make([]int64, 0, w.KeysAtOnce())
	n := int64(0)
	allocations := testing.AllocsPerRun(1_000, func() {
		keys = w.AppendKeys(keys[:0], w.At(Measured, n))
		n++
	})
	if allocations != 0 {
		t.Errorf("%v allocations per transaction", allocations)
	}
}
