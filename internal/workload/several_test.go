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
		if diff := cmp.Diff(keys, w.AppendKeys(nil, op, new(Taken))); diff != "" || op.Kind != spec.OperationTxn || op.Subject != OnSeveral {
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
			taken := w.AppendKeys(nil, w.At(Measured, n), new(Taken))
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
		measured := a.AppendKeys(nil, a.At(Measured, n), new(Taken))
		if diff := cmp.Diff(measured, b.AppendKeys(nil, b.At(Measured, n), new(Taken))); diff != "" {
			t.Fatalf("operation %d differs between two workloads of one seed:\n%s", n, diff)
		}
		if slices.Equal(measured, a.AppendKeys(nil, a.At(Warmup, n), new(Taken))) {
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

// However many keys there are, they are those that a search key by key finds.
func TestATakenKeyIsReplacedByTheNextFreeOne(t *testing.T) {
	for _, tc := range []struct {
		puts int32
		keys int64
		of   spec.Distribution
	}{
		{128, 128, spec.Uniform}, {129, 129, spec.Uniform}, {1_000, 1_000, spec.Uniform}, {1_000, 3_000, spec.Uniform}, {500, 700, spec.Sequential},
	} {
		w, taken := txnOf(tc.puts, tc.keys, tc.of), new(Taken)
		for n := range int64(5) {
			op := w.At(Measured, n)
			seen, want := map[int64]bool{}, []int64(nil)
			for i := range int64(tc.puts) {
				key := w.key(Measured, n*int64(tc.puts)+i)
				for seen[key] {
					key = (key + 1) % tc.keys
				}
				seen[key], want = true, append(want, key)
			}
			if got := w.AppendKeys(nil, op, taken); !slices.Equal(want, got) {
				t.Fatalf("operation %d of %+v takes other keys than a search key by key", n, tc)
			}
		}
	}
}

func TestNothingIsAllocatedPerTransaction(t *testing.T) {
	for _, puts := range []int32{128, 1_000} {
		w := txnOf(puts, 1_000_000, spec.Uniform)
		keys, taken := make([]int64, 0, w.KeysAtOnce()), new(Taken)
		n := int64(0)
		take := func() {
			keys = w.AppendKeys(keys[:0], w.At(Measured, n), taken)
			n++
		}
		for range 100 {
			take()
		}
		if allocations := testing.AllocsPerRun(1_000, take); allocations != 0 {
			t.Errorf("%v allocations per transaction of %d puts", allocations, puts)
		}
	}
}

func BenchmarkKeysOfATransaction(b *testing.B) {
	for name, w := range map[string]*Workload{
		"10":             txnOf(10, 1_000_000, spec.Uniform),
		"10000":          txnOf(10_000, 1_000_000, spec.Uniform),
		"10000 of 10000": txnOf(10_000, 10_000, spec.Uniform),
	} {
		b.Run(name, func(b *testing.B) {
			keys, taken := make([]int64, 0, w.KeysAtOnce()), new(Taken)
			for n := int64(0); b.Loop(); n++ {
				keys = w.AppendKeys(keys[:0], w.At(Measured, n), taken)
			}
		})
	}
}
