package workload

import (
	"strings"
	"testing"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
)

func runOf(w spec.Workload) Run {
	return Run{Prefix: "etcdbench/0b6c6b52/", Workload: w, Load: spec.Load{Seed: 42}}
}

func putOf(k spec.Keys, v spec.Values) *Workload {
	return New(runOf(spec.Workload{Type: spec.WorkloadPut, Put: &spec.Put{Keys: k, Values: v}}))
}

func mixedOf(readPercent int32, k spec.Keys, v spec.Values) Run {
	return runOf(spec.Workload{Type: spec.WorkloadMixed, Mixed: &spec.Mixed{Consistency: spec.Linearizable, ReadPercent: readPercent, Keys: k, Values: v}})
}

func TestSequentialKeysGoRoundInOrder(t *testing.T) {
	w := putOf(spec.Keys{Count: 7, SizeBytes: 8, Distribution: spec.Sequential}, spec.Values{})
	for n := range int64(50) {
		if op := w.At(Measured, n); op.Key != n%7 || op.Kind != spec.OperationPut {
			t.Errorf("operation %d is %+v, wanted a put of key %d", n, op, n%7)
		}
	}
}

// The χ² of a uniform choice stays below this in all but one of a million seeds.
func TestUniformKeysAreUniform(t *testing.T) {
	const keys, draws = 100, 100_000
	w := New(readsOf(spec.Keys{Count: keys, SizeBytes: 8, Distribution: spec.Uniform}))
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
	for _, share := range []int32{0, 1, 50, 99, 100} {
		w := New(mixedOf(share, spec.Keys{Count: 10, SizeBytes: 8}, spec.Values{}))
		for index := range int64(2) {
			reads := 0
			for n := index; n < 2*draws; n += 2 {
				if w.At(Measured, n).Kind == spec.OperationRange {
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
	r := mixedOf(50, spec.Keys{Count: 1_000, SizeBytes: 8, Distribution: spec.Uniform}, spec.Values{Content: spec.ContentRandom, SizeDistribution: spec.SizesUniform, SizeBytes: 100})
	other := r
	other.Load.Seed++
	a, b, c := New(r), New(r), New(other)
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
	w := New(mixedOf(50, spec.Keys{Count: 1_000_000, SizeBytes: 16, Distribution: spec.Uniform}, someValues))
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
	w := putOf(spec.Keys{Count: 1_000_000, SizeBytes: 8, Distribution: spec.Uniform}, someValues)
	key := []byte(strings.Repeat(" ", w.KeyBytes()))
	for n := int64(0); b.Loop(); n++ {
		op := w.At(Measured, n)
		key = w.AppendKey(key[:0], op.Key)
		_ = w.Value(op.Value)
	}
}
