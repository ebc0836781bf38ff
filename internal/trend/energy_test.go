package trend

import (
	"math"
	"math/rand/v2"
	"testing"
)

// divergence is the formula of the paper, with exponent 1.
func divergence(before, after []float64) float64 {
	mean := func(a, b []float64, pairs float64) float64 {
		sum := 0.0
		for _, x := range a {
			for _, y := range b {
				sum += math.Abs(x - y)
			}
		}
		return sum / pairs
	}
	m, n := float64(len(before)), float64(len(after))
	return m * n / (m + n) * (2*mean(before, after, m*n) - mean(before, before, m*(m-1)) - mean(after, after, n*(n-1)))
}

func TestDivergenceIsThatOfThePaper(t *testing.T) {
	random := rand.New(rand.NewPCG(6, 6))
	for n := 2 * minSegment; n <= 40; n++ {
		values := noisy(random, n, 0.05, steps(0.05, n/3))
		at, most := 0, 0.0
		for place := minSegment; place <= n-minSegment; place++ {
			for end := place + minSegment; end <= n; end++ {
				if end < n && end-place < minUndone {
					continue
				}
				if d := divergence(values[:place], values[place:end]); d > most {
					at, most = place, d
				}
			}
		}
		gotAt, got := newScan(values).strongest()
		if gotAt != at || math.Abs(got-most) > 1e-9 {
			t.Errorf("%d values: %v at %d, wanted %v at %d", n, got, gotAt, most, at)
		}
	}
}

// The least p of each pair of lengths decides whether the clearest step can be found. It is 2 ÷ the number of ways to
// choose the shorter side.
func TestClearestSteps(t *testing.T) {
	for _, tc := range []struct {
		before, after int
		isFound       bool
	}{
		{9, 3, true}, {3, 9, true}, {8, 3, false}, {3, 8, false}, {6, 4, true}, {5, 4, false}, {5, 5, true}, {5, 3, false},
		{14, 3, true}, {21, 3, true}, {3, 40, true},
	} {
		at, p := strongestSplit(constant(tc.before+tc.after, steps(0.10, tc.before)))
		if (p <= level) != tc.isFound || at != tc.before {
			t.Errorf("%d before and %d after: p %v at %d", tc.before, tc.after, p, at)
		}
	}
}

// The least p is known well enough to compare it with the level. Orders that differ only within the two levels are as
// strong, although their sums round differently.
func TestLeastP(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 5))
	for n := MinPoints; n <= 16; n++ {
		values := make([]float64, n)
		for i := range values {
			values[i] = 0.001*random.NormFloat64() + steps(0.10, n-3)(i)
		}
		exact := 2.0 / float64(n*(n-1)*(n-2)/6)
		if at, p := strongestSplit(values); at != n-3 || math.Abs(p/exact-1) > 0.2 {
			t.Errorf("%d values: p %v at %d, wanted about %v", n, p, at, exact)
		}
	}
}
