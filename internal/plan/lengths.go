package plan

import "math"

// Lengths is how the lengths of values are distributed.
type Lengths struct {
	least, most int
	// growth is 0 where each length has the same probability. Where each doubling
	// has, it is the logarithm of (most + 1) ÷ least.
	growth float64
}

// Lengths returns those of the workload's values.
func (w Workload) Lengths() Lengths {
	l := Lengths{least: w.ValueSize - w.Values.Spread, most: w.ValueSize}
	if w.Values.LogUniform {
		l.growth = math.Log(float64(l.most+1) / float64(l.least))
	}
	return l
}

// At returns the length in bytes that this share of all values, from 0 to below
// 1, is shorter than: the inverse of the distribution function. A uniform share
// gives lengths of the distribution. The log-uniform one gives length n a
// probability proportional to log((n+1) ÷ n); it takes one exponential function,
// some 15 ns, and neither table nor memory.
func (l *Lengths) At(share float64) int {
	length := float64(l.least) + share*float64(l.most-l.least+1)
	if l.growth > 0 {
		length = float64(l.least) * math.Exp(l.growth*share)
	}
	return min(int(length), l.most)
}

// quantiles of the lengths stand for all of them in a mean.
const quantiles = 64

// mean returns the mean of what values of these lengths take.
func (l *Lengths) mean(taken func(length int) float64) (sum float64) {
	if l.least == l.most {
		return taken(l.most)
	}
	for i := range quantiles {
		sum += taken(l.At((float64(i)+0.5)/quantiles)) / quantiles
	}
	return sum
}
