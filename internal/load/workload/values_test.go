package workload

import (
	"bytes"
	"compress/flate"
	"math"
	"testing"

	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
)

func valuesOf(size int, v plan.Values) *Workload {
	return New(planOf(plan.Workload{Type: plan.WorkloadPut, KeyCount: 1_000, KeySize: 8, ValueSize: size, Values: v}))
}

func TestValuesBelongToTheirNumbers(t *testing.T) {
	for _, spread := range []int{0, 100} {
		w, again := valuesOf(256, plan.Values{Spread: spread}), valuesOf(256, plan.Values{Spread: spread})
		different := map[string]bool{}
		for number := range int64(1_000) {
			v := w.Value(number)
			if !bytes.Equal(v, again.Value(number)) || len(v) > 256 || len(v) < 256-spread {
				t.Fatalf("value %d: %d bytes, the same again: %v", number, len(v), bytes.Equal(v, again.Value(number)))
			}
			different[string(v)] = true
		}
		if len(different) < 999 {
			t.Errorf("1,000 values are %d different ones", len(different))
		}
	}
	if v := valuesOf(0, plan.Values{}).Value(0); len(v) != 0 {
		t.Errorf("an empty value has %d bytes", len(v))
	}
}

// Even puts of one key have values of all lengths.
func TestLengthsOfValuesAreUniform(t *testing.T) {
	const least, most, draws = 10, 59, 50_000
	w := valuesOf(most, plan.Values{Spread: most - least})
	w.plan.KeyCount = 1
	counts := make([]int, most-least+1)
	for n := range int64(draws) {
		counts[len(w.Value(w.At(Measured, n).Value))-least]++
	}
	uniformly := func(int) float64 { return 1. / float64(len(counts)) }
	if e := excess(counts, uniformly, draws); e > 5 {
		t.Errorf("χ² of the lengths is %.1f standard deviations above its mean: %v", e, counts)
	}
}

// compressed is what is left of many values, one after the other, by a
// compression that looks back 32 KiB.
func compressed(t *testing.T, w *Workload) float64 {
	t.Helper()
	var all, out bytes.Buffer
	for number := range int64(2_000) {
		all.Write(w.Value(number))
	}
	length := all.Len()
	writer, err := flate.NewWriter(&out, flate.DefaultCompression)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := all.WriteTo(writer); err != nil {
		t.Fatal(err)
	}
	if err := writer.Close(); err != nil {
		t.Fatal(err)
	}
	return float64(out.Len()) / float64(length)
}

// Values that compress better than they should would flatter disks and networks
// that compress, be it each value alone or several together.
func TestValuesAreAsCompressibleAsTheyShouldBe(t *testing.T) {
	for _, size := range []int{100, 1_000, 10_000} {
		for _, zeros := range []int{0, 10, 30, 50, 70, 90, 100} {
			got := compressed(t, valuesOf(size, plan.Values{ZeroPercent: zeros}))
			if want := 1 - float64(zeros)/100; math.Abs(got-want) > 0.06 {
				t.Errorf("values of %d bytes with %d %% zeros are compressed to %.0f %%, wanted %.0f %%", size, zeros, 100*got, 100*want)
			}
		}
	}
}

func TestZeroValuesAreZero(t *testing.T) {
	w := valuesOf(1_000, plan.Values{ZeroPercent: 100})
	for number := range int64(100) {
		if v := w.Value(number); len(v) != 1_000 || len(bytes.Trim(v, "\x00")) > 0 {
			t.Fatalf("value %d has %d bytes, %d of them after the first that is not zero", number, len(v), len(bytes.Trim(v, "\x00")))
		}
	}
}
