package compare

import "slices"

// holm reports which of several tests are significant, so that the probability of any wrong one is at most level (Holm's
// procedure). p are the p-values.
func holm(p []float64, level float64) []bool {
	order := make([]int, len(p))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch {
		case p[a] < p[b]:
			return -1
		case p[a] > p[b]:
			return 1
		}
		return 0
	})
	significant := make([]bool, len(p))
	for rank, i := range order {
		if !(p[i] <= level/float64(len(p)-rank)) {
			break
		}
		significant[i] = true
	}
	return significant
}
