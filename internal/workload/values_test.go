package workload

import (
	"bytes"
	"compress/flate"
	"math"
	"math/bits"
	"testing"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
)

func valuesOf(v spec.Values) *Workload { return putOf(spec.Keys{Count: 1_000, SizeBytes: 8}, v) }

// compressible are values of one length with a given share of zeros.
func compressible(size, zeroPercent int32) spec.Values {
	random := 100 - zeroPercent
	return spec.Values{SizeBytes: size, Content: spec.ContentCompressible, RandomPercent: &random}
}

func TestValuesBelongToTheirNumbers(t *testing.T) {
	for _, made := range []spec.Values{{SizeBytes: 256}, uniformly(156, 256), logUniform(56, 256)} {
		w, again := valuesOf(made), valuesOf(made)
		different := map[string]bool{}
		for number := range int64(1_000) {
			v := w.Value(number)
			if !bytes.Equal(v, again.Value(number)) || len(v) > 256 || len(v) < made.Shortest() {
				t.Fatalf("value %d: %d bytes, the same again: %v", number, len(v), bytes.Equal(v, again.Value(number)))
			}
			different[string(v)] = true
		}
		if len(different) < 999 {
			t.Errorf("1,000 values are %d different ones", len(different))
		}
	}
	if v := valuesOf(spec.Values{}).Value(0); len(v) != 0 {
		t.Errorf("an empty value has %d bytes", len(v))
	}
}

// Another seed gives different values for the same numbers.
func TestValuesFollowTheSeed(t *testing.T) {
	r := valid()
	r.Workload.Put.Values = spec.Values{SizeBytes: 64, Content: spec.ContentRandom, SizeDistribution: spec.SizesUniform}
	w := New(r)
	r.Load.Seed++
	other := New(r)
	for number := range int64(100) {
		if bytes.Equal(w.Value(number), other.Value(number)) {
			t.Fatalf("value %d is the same with another seed", number)
		}
	}
}

// Even puts of a single key have values of all lengths.
func TestLengthsOfValuesAreUniform(t *testing.T) {
	const least, most, draws = 10, 59, 50_000
	w := putOf(spec.Keys{Count: 1, SizeBytes: 8}, uniformly(least, most))
	counts := make([]int, most-least+1)
	for n := range int64(draws) {
		counts[len(w.Value(w.At(Measured, n).Value))-least]++
	}
	if e := excess(counts, func(int) float64 { return 1. / float64(len(counts)) }, draws); e > 5 {
		t.Errorf("χ² of the lengths is %.1f standard deviations above its mean: %v", e, counts)
	}
}

// Each of ten doublings has a tenth of the values, and the lengths within a doubling follow the same law.
func TestLengthsOfValuesAreLogUniform(t *testing.T) {
	const least, most, draws = 64, 64<<10 - 1, 200_000
	w := valuesOf(logUniform(least, most))
	octaves, counts := make([]int, 10), make([]int, most-least+1)
	for n := range int64(draws) {
		length := len(w.Value(n))
		octaves[bits.Len(uint(length/least))-1]++
		counts[length-least]++
	}
	// Three standard deviations of a share are 0.002.
	for i, n := range octaves {
		if share := float64(n) / draws; math.Abs(share-0.1) > 0.003 {
			t.Errorf("%.4f of the values have %d to %d bytes, wanted 0.1", share, least<<i, least<<(i+1)-1)
		}
	}
	logUniformly := func(i int) float64 { return math.Log1p(1/float64(least+i-1)) / math.Log(float64(most+1)/least) }
	if e := excess(counts, logUniformly, draws); e > 5 {
		t.Errorf("χ² of the lengths is %.1f standard deviations above its mean", e)
	}
}

// compressed is the compressed share of many consecutive values, with a compression that looks back 32 KiB.
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

// Values that compress too well would flatter disks and networks that compress. This holds for each value alone and for
// several together.
func TestValuesAreAsCompressibleAsTheyShouldBe(t *testing.T) {
	for _, size := range []int32{100, 1_000, 10_000} {
		for _, zeros := range []int32{0, 10, 30, 50, 70, 90, 100} {
			got := compressed(t, valuesOf(compressible(size, zeros)))
			if want := 1 - float64(zeros)/100; math.Abs(got-want) > 0.06 {
				t.Errorf("values of %d bytes with %d %% zeros are compressed to %.0f %%, wanted %.0f %%", size, zeros, 100*got, 100*want)
			}
		}
	}
}

func TestZeroValuesAreZero(t *testing.T) {
	w := valuesOf(spec.Values{SizeBytes: 1_000, Content: spec.ContentZero})
	for number := range int64(100) {
		if v := w.Value(number); len(v) != 1_000 || len(bytes.Trim(v, "\x00")) > 0 {
			t.Fatalf("value %d has %d bytes, %d of them after the first that is not zero", number, len(v), len(bytes.Trim(v, "\x00")))
		}
	}
}

func TestNothingIsAllocatedPerValue(t *testing.T) {
	made := compressible(10_000, 50)
	made.MinSizeBytes, made.SizeDistribution = new(int32(100)), spec.SizesLogUniform
	w := valuesOf(made)
	var n int64
	var bytes int
	allocations := testing.AllocsPerRun(1_000, func() {
		bytes += len(w.Value(n))
		n++
	})
	if allocations != 0 {
		t.Errorf("%v allocations per value", allocations)
	}
}

func BenchmarkValue(b *testing.B) {
	for name, values := range map[string]spec.Values{
		"one length": {SizeBytes: 10_000}, "uniform": uniformly(100, 10_000), "log-uniform": logUniform(100, 10_000),
	} {
		b.Run(name, func(b *testing.B) {
			w := valuesOf(values)
			for n := int64(0); b.Loop(); n++ {
				_ = w.Value(n)
			}
		})
	}
}
