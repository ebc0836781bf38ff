package trend

import (
	"math"
	"math/rand/v2"
	"slices"
)

const (
	// permutations is how many random orders a test compares with the real order.
	permutations = 999
	// shortPermutations is the same for at most shortSegment values. There the least p is so close to the level that
	// 999 orders cannot tell them apart.
	shortPermutations = 29_999
	shortSegment      = 16
	// minUndone is the smallest number of values between a change and the one that undoes it, to find both at once. A
	// smaller number adds many places that separate well by chance. Then a change among the newest values is found later.
	minUndone = 6
	// neighbours is how many values on each side of a split decide at which one it lies.
	neighbours = 8
	// tie is the relative difference below which two divergences are equal. Sums in different orders round differently.
	tie = 1e-9
)

// strongestSplit returns the place that separates the values before it most clearly from those after it, and its p. The
// p is 1 if there is no such place, or if it has fewer than minSegment values after it: one or two outliers at the end
// look like a change with the values before them.
func strongestSplit(values []float64) (at int, p float64) {
	s := newScan(values)
	at, divergence := s.strongest()
	if at == 0 {
		return 0, 1
	}
	if at = refined(values, at); len(values)-at < minSegment {
		return at, 1
	}
	return at, s.chance(divergence)
}

// refined returns the place near a split that separates its neighbours best: with the least distances of the values on
// each side from their median. A split has at least minSegment values on each side, so it may lie beside that place.
func refined(values []float64, at int) (best int) {
	from, to := max(0, at-neighbours), min(len(values), at+neighbours)
	least := math.Inf(1)
	for place := max(from+1, at-minSegment+1); place < min(to, at+minSegment); place++ {
		if d := deviations(values[from:place]) + deviations(values[place:to]); d < least*(1-tie) {
			best, least = place, d
		}
	}
	return best
}

func deviations(values []float64) (sum float64) {
	middle := median(values)
	for _, v := range values {
		sum += math.Abs(v - middle)
	}
	return sum
}

// scan searches the strongest split of values: E-divisive (Matteson and James, 2014) with exponent 1. It compares the
// values before a place with the values from there to any later end. So it also finds a change that was undone later.
type scan struct {
	values []float64
	// before has the spread of the first n values at n.
	before []float64
	// distances has the sum of the distances of all pairs from a place to the n-th value at n.
	distances []float64
	// inverse has 1 ÷ n at n.
	inverse []float64
}

func newScan(values []float64) *scan {
	n := len(values) + 1
	s := &scan{values: slices.Clone(values), before: make([]float64, n), distances: make([]float64, n), inverse: make([]float64, n)}
	for i := 1; i < n; i++ {
		s.inverse[i] = 1 / float64(i)
	}
	return s
}

// strongest returns the split with the greatest divergence; 0, 0 if no split lowers the spread. The spread of n values
// is the sum of the distances of all pairs ÷ (n − 1). The divergence is the spread of all n values without the spreads
// of both sides, times 2 × (n − 1) ÷ n. This equals the formula of the paper.
func (s *scan) strongest() (at int, divergence float64) {
	s.measureBefore()
	clear(s.distances)
	n := len(s.values)
	for place := n - 1; place >= minSegment; place-- {
		s.addDistances(place)
		if n-place < minSegment {
			continue
		}
		for end := min(place+minUndone, n); end <= n; end++ {
			after := s.distances[end] * s.inverse[end-place-1]
			if d := 2 * (1 - s.inverse[end]) * (s.before[end] - s.before[place] - after); d > divergence {
				at, divergence = place, d
			}
		}
	}
	return at, divergence
}

// measureBefore sets the spreads of the first 2, 3, ... values.
func (s *scan) measureBefore() {
	distances := 0.0
	for i, v := range s.values[1:] {
		for _, earlier := range s.values[:i+1] {
			distances += math.Abs(v - earlier)
		}
		s.before[i+2] = distances * s.inverse[i+1]
	}
}

// addDistances adds the distances from a place to all later places. The later places must have been added before.
func (s *scan) addDistances(place int) {
	sum := 0.0
	for i := place + 1; i < len(s.values); i++ {
		sum += math.Abs(s.values[i] - s.values[place])
		s.distances[i+1] += sum
	}
}

// chance is the share of orders whose strongest split is as strong. It stops as soon as the share must exceed the
// level, and then returns 1. It changes the order of the values.
func (s *scan) chance(divergence float64) float64 {
	orders := permutations
	if len(s.values) <= shortSegment {
		orders = shortPermutations
	}
	random := rand.New(rand.NewPCG(1, 2))
	// The real order is one of the orders.
	asStrong := 1
	for range orders {
		random.Shuffle(len(s.values), func(i, j int) { s.values[i], s.values[j] = s.values[j], s.values[i] })
		if _, d := s.strongest(); d >= divergence*(1-tie) {
			if asStrong++; float64(asStrong) > level*float64(orders+1) {
				return 1
			}
		}
	}
	return float64(asStrong) / float64(orders+1)
}
