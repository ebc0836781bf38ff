package workload

import (
	"math"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
)

// lengths is how the lengths of values are distributed.
type lengths struct {
	least, most int
	// growth is 0 where each length has the same probability. Where each doubling
	// has, it is the logarithm of (most + 1) ÷ least.
	growth float64
}

func newLengths(v spec.Values) lengths {
	l := lengths{least: v.Shortest(), most: int(v.SizeBytes)}
	if v.SizeDistribution == spec.SizesLogUniform {
		l.growth = math.Log(float64(l.most+1) / float64(l.least))
	}
	return l
}

// at returns the length in bytes that this share of all values, from 0 to below
// 1, is shorter than: the inverse of the distribution function. A uniform share
// gives lengths of the distribution. The log-uniform one gives length n a
// probability proportional to log((n+1) ÷ n); it takes one exponential function,
// some 15 ns, and neither table nor memory.
func (l *lengths) at(share float64) int {
	length := float64(l.least) + share*float64(l.most-l.least+1)
	if l.growth > 0 {
		length = float64(l.least) * math.Exp(l.growth*share)
	}
	return min(int(length), l.most)
}

// quantiles of the lengths stand for all of them in a mean.
const quantiles = 64

// mean returns the mean of what values of these lengths take.
func (l *lengths) mean(taken func(length int) float64) (sum float64) {
	if l.least == l.most {
		return taken(l.most)
	}
	for i := range quantiles {
		sum += taken(l.at((float64(i)+0.5)/quantiles)) / quantiles
	}
	return sum
}
