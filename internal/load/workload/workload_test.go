package workload

import (
	"bytes"
	"strings"
	"testing"

	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

func planOf(w plan.Workload) plan.Plan {
	return plan.Plan{Prefix: "etcdbench/0b6c6b52/", Workload: w, Load: plan.Load{Seed: 42}}
}

func TestKeysHaveOneLengthAndSortByNumber(t *testing.T) {
	tests := map[string]struct {
		count int64
		size  int
	}{
		"as few digits as possible": {1_000, 3},
		"padded":                    {1_001, 8},
		"long":                      {100, 256},
		"one key":                   {1, 1},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			w := New(planOf(plan.Workload{KeyCount: tc.count, KeySize: tc.size}))
			var before []byte
			for number := range tc.count {
				key := w.AppendKey(nil, number)
				if len(key) != w.KeyBytes() || !bytes.HasPrefix(key, []byte("etcdbench/0b6c6b52/")) {
					t.Fatalf("key %d is %q, wanted the prefix and %d bytes", number, key, tc.size)
				}
				if bytes.Compare(before, key) >= 0 {
					t.Fatalf("key %d, %q, does not sort after %q", number, key, before)
				}
				before = key
			}
		})
	}
}

func TestSequentialKeysGoRoundInOrder(t *testing.T) {
	w := New(planOf(plan.Workload{Type: plan.WorkloadPut, KeyCount: 7, KeySize: 8, KeyOrder: plan.KeyOrderSequential}))
	for n := range int64(50) {
		if op := w.At(Measured, n); op.Key != n%7 || op.Kind != results.OperationPut {
			t.Errorf("operation %d is %+v, wanted a put of key %d", n, op, n%7)
		}
	}
}

// χ² of a uniform choice stays below this in all but one of a million seeds.
func TestUniformKeysAreUniform(t *testing.T) {
	const keys, draws = 100, 100_000
	w := New(planOf(plan.Workload{Type: plan.WorkloadRange, KeyCount: keys, KeySize: 8, KeyOrder: plan.KeyOrderUniform}))
	var counts [keys]float64
	for n := range int64(draws) {
		counts[w.At(Measured, n).Key]++
	}
	var chi float64
	for _, c := range counts {
		d := c - draws/keys
		chi += d * d / (draws / keys)
	}
	if chi > 180 {
		t.Errorf("χ² of %d keys is %.0f, wanted below 180", keys, chi)
	}
}

func TestReadsHaveTheirShareOnEveryPod(t *testing.T) {
	const draws = 100_000
	for _, share := range []int{0, 1, 50, 99, 100} {
		w := New(planOf(plan.Workload{Type: plan.WorkloadMixed, ReadsPerHundred: share, KeyCount: 10, KeySize: 8}))
		for index := range int64(2) {
			reads := 0
			for n := index; n < 2*draws; n += 2 {
				if w.At(Measured, n).Kind == results.OperationRange {
					reads++
				}
			}
			got, want := float64(reads)/draws, float64(share)/100
			if got < want-0.01 || got > want+0.01 || (share == 0 && reads > 0) || (share == 100 && reads < draws) {
				t.Errorf("pod %d of 2: %.3f of the requests read, wanted %.2f", index, got, want)
			}
		}
	}
}

func TestSameSeedSameOperations(t *testing.T) {
	p := planOf(plan.Workload{Type: plan.WorkloadMixed, ReadsPerHundred: 50, KeyCount: 1_000, KeySize: 8, ValueSize: 100, KeyOrder: plan.KeyOrderUniform})
	other := p
	other.Load.Seed++
	a, b, c := New(p), New(p), New(other)
	var sameAsOther, sameAsWarmup int
	for n := range int64(10_000) {
		op := a.At(Measured, n)
		if op != b.At(Measured, n) {
			t.Fatalf("operation %d differs between two workloads of one seed", n)
		}
		if op == c.At(Measured, n) {
			sameAsOther++
		}
		if op == a.At(Warmup, n) {
			sameAsWarmup++
		}
	}
	if sameAsOther > 100 || sameAsWarmup > 100 {
		t.Errorf("of 10,000 operations %d are those of another seed and %d those of the warm-up, wanted some five", sameAsOther, sameAsWarmup)
	}
}

func TestNothingIsAllocatedPerOperation(t *testing.T) {
	w := New(planOf(plan.Workload{Type: plan.WorkloadMixed, ReadsPerHundred: 50, KeyCount: 1_000_000, KeySize: 16, ValueSize: 256, KeyOrder: plan.KeyOrderUniform}))
	key := make([]byte, 0, w.KeyBytes())
	var n int64
	var bytes int
	allocations := testing.AllocsPerRun(1_000, func() {
		op := w.At(Measured, n)
		key = w.AppendKey(key[:0], op.Key)
		bytes += len(w.Value(op.Value))
		n++
	})
	if allocations != 0 {
		t.Errorf("%v allocations per operation", allocations)
	}
}

func BenchmarkOperation(b *testing.B) {
	w := New(planOf(plan.Workload{Type: plan.WorkloadPut, KeyCount: 1_000_000, KeySize: 8, ValueSize: 256, KeyOrder: plan.KeyOrderUniform}))
	key := []byte(strings.Repeat(" ", w.KeyBytes()))
	for n := int64(0); b.Loop(); n++ {
		op := w.At(Measured, n)
		key = w.AppendKey(key[:0], op.Key)
		_ = w.Value(op.Value)
	}
}
