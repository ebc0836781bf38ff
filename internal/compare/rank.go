package compare

import (
	"cmp"
	"math"
	"slices"
)

const (
	// minSecondOpinion is the smallest number of rounds with a signed-rank test: with fewer, its least p is above 0.05.
	minSecondOpinion = 6
	// minTrend is the smallest number of rounds with a test for a trend: its least p is 0.017.
	minTrend = 5
	// trendLevel is how often values without a trend are said to have one.
	trendLevel = 0.02
)

// signedRank is the p-value of the exact two-sided Wilcoxon signed-rank test that the median of the ratios is 0. Ratios
// of 0 say nothing; equal ones share their ranks. It is 1 if nothing is left.
func signedRank(ratios []float64) float64 {
	ratios = slices.DeleteFunc(slices.Clone(ratios), func(r float64) bool { return r == 0 })
	slices.SortFunc(ratios, func(a, b float64) int { return cmp.Compare(math.Abs(a), math.Abs(b)) })
	// Ranks are doubled, so that shared ones are whole numbers.
	ranks := make([]int, len(ratios))
	for i := 0; i < len(ratios); {
		end := i
		for end < len(ratios) && math.Abs(ratios[end]) == math.Abs(ratios[i]) {
			end++
		}
		for j := i; j < end; j++ {
			ranks[j] = i + end + 1
		}
		i = end
	}
	total, above := 0, 0
	for i, rank := range ranks {
		total += rank
		if ratios[i] > 0 {
			above += rank
		}
	}
	// chance[s] is the probability that random signs give the sum s.
	chance := make([]float64, total+1)
	chance[0] = 1
	for _, rank := range ranks {
		for s := total; s >= 0; s-- {
			chance[s] /= 2
			if s >= rank {
				chance[s] += chance[s-rank] / 2
			}
		}
	}
	tail := 0.0
	for s := 0; s <= min(above, total-above); s++ {
		tail += chance[s]
	}
	return min(1, 2*tail)
}

// trendChance is the p-value of the exact two-sided Mann-Kendall test that values do not rise or fall over the rounds. It
// is too large if values are equal.
func trendChance(values []float64) float64 {
	n, sum := len(values), 0
	for i := range values {
		for j := range i {
			sum += cmp.Compare(values[i], values[j])
		}
	}
	// chance[k] is the probability that k pairs of a random order fall.
	pairs := n * (n - 1) / 2
	chance := make([]float64, pairs+1)
	chance[0] = 1
	for size := 2; size <= n; size++ {
		next := make([]float64, pairs+1)
		for k, p := range chance {
			for more := 0; more < size && k+more <= pairs; more++ {
				next[k+more] += p / float64(size)
			}
		}
		chance = next
	}
	extreme := max(sum, -sum)
	p := 0.0
	for k, c := range chance {
		if s := pairs - 2*k; s >= extreme || -s >= extreme {
			p += c
		}
	}
	return min(1, p)
}
