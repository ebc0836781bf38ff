package plan

import (
	"math"
	"testing"
)

func TestLengthsAreFromTheLeastToTheMost(t *testing.T) {
	tests := map[string]struct {
		size   int
		values Values
		// wantLeast and wantMiddle are the lengths that nothing, and a half, are below.
		wantLeast, wantMiddle int
	}{
		"one length":          {100, Values{}, 100, 100},
		"no bytes":            {0, Values{}, 0, 0},
		"uniform":             {100, Values{Spread: 100}, 0, 50},
		"log-uniform":         {6400, Values{Spread: 6399, LogUniform: true}, 1, 80},
		"one by doublings":    {100, Values{LogUniform: true}, 100, 100},
		"one or two bytes":    {2, Values{Spread: 1, LogUniform: true}, 1, 1},
		"etcd's greatest one": {1_568_000, Values{Spread: 1_567_000, LogUniform: true}, 1000, 39_597},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			l := Workload{ValueSize: tc.size, Values: tc.values}.Lengths()
			if got := l.At(0); got != tc.wantLeast {
				t.Errorf("the shortest is %d, wanted %d", got, tc.wantLeast)
			}
			if got := l.At(0.5); got != tc.wantMiddle {
				t.Errorf("the median is %d, wanted %d", got, tc.wantMiddle)
			}
			if got := l.At(math.Nextafter(1, 0)); got != tc.size {
				t.Errorf("the longest is %d, wanted %d", got, tc.size)
			}
		})
	}
}

// The mean of log-uniform lengths is far below the middle between the ends.
func TestTheMeanOfLengths(t *testing.T) {
	for name, tc := range map[string]struct {
		values Values
		want   float64
	}{
		"one length":  {Values{}, 10_000},
		"uniform":     {Values{Spread: 10_000}, 5_000},
		"log-uniform": {Values{Spread: 9_900, LogUniform: true}, 9_900 / math.Log(100)},
	} {
		l := Workload{ValueSize: 10_000, Values: tc.values}.Lengths()
		if got := l.mean(func(length int) float64 { return float64(length) }); math.Abs(got-tc.want) > 0.01*tc.want {
			t.Errorf("%s: the mean is %.0f, wanted %.0f", name, got, tc.want)
		}
	}
}

// A run of values that are mostly short is not refused for the longest.
func TestWriteEstimateOfLengthsThatDiffer(t *testing.T) {
	p := valid()
	p.Workload.ValueSize, p.Load.Requests = 1_000_000, 1000
	all, _ := p.WriteEstimate()
	p.Workload.Values = Values{Spread: 999_000, LogUniform: true}
	if got, _ := p.WriteEstimate(); math.Abs(float64(got)/float64(all)-1/math.Log(1000)) > 0.01 {
		t.Errorf("got %d bytes, wanted 1 / log(1000) of the %d of long values", got, all)
	}
}
