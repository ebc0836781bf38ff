package workload

import (
	"math"
	"testing"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
)

// uniformly and logUniform make random values with different lengths.
func uniformly(least, most int32) spec.Values {
	return spec.Values{Content: spec.ContentRandom, SizeBytes: most, MinSizeBytes: &least, SizeDistribution: spec.SizesUniform}
}

func logUniform(least, most int32) spec.Values {
	return spec.Values{Content: spec.ContentRandom, SizeBytes: most, MinSizeBytes: &least, SizeDistribution: spec.SizesLogUniform}
}

func TestLengthsAreFromTheLeastToTheMost(t *testing.T) {
	tests := map[string]struct {
		values spec.Values
		// wantLeast and wantMiddle are the lengths below which none, and half, of the values lie.
		wantLeast, wantMiddle int
	}{
		"one length":          {spec.Values{Content: spec.ContentRandom, SizeDistribution: spec.SizesUniform, SizeBytes: 100}, 100, 100},
		"no bytes":            {spec.Values{}, 0, 0},
		"uniform":             {uniformly(0, 100), 0, 50},
		"log-uniform":         {logUniform(1, 6400), 1, 80},
		"one by doublings":    {spec.Values{Content: spec.ContentRandom, SizeBytes: 100, SizeDistribution: spec.SizesLogUniform}, 100, 100},
		"one or two bytes":    {logUniform(1, 2), 1, 1},
		"etcd's greatest one": {logUniform(1000, 1_568_000), 1000, 39_597},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			l := newLengths(tc.values)
			if got := l.at(0); got != tc.wantLeast {
				t.Errorf("the shortest is %d, wanted %d", got, tc.wantLeast)
			}
			if got := l.at(0.5); got != tc.wantMiddle {
				t.Errorf("the median is %d, wanted %d", got, tc.wantMiddle)
			}
			if got := l.at(math.Nextafter(1, 0)); got != int(tc.values.SizeBytes) {
				t.Errorf("the longest is %d, wanted %d", got, tc.values.SizeBytes)
			}
		})
	}
}

// The mean of log-uniform lengths is far below the middle between the ends.
func TestTheMeanOfLengths(t *testing.T) {
	for name, tc := range map[string]struct {
		values spec.Values
		want   float64
	}{
		"one length":  {spec.Values{Content: spec.ContentRandom, SizeDistribution: spec.SizesUniform, SizeBytes: 10_000}, 10_000},
		"uniform":     {uniformly(0, 10_000), 5_000},
		"log-uniform": {logUniform(100, 10_000), 9_900 / math.Log(100)},
	} {
		l := newLengths(tc.values)
		if got := l.mean(func(length int) float64 { return float64(length) }); math.Abs(got-tc.want) > 0.01*tc.want {
			t.Errorf("%s: the mean is %.0f, wanted %.0f", name, got, tc.want)
		}
	}
}
