package workload

import (
	"math"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
)

// lengths is how the lengths of values are distributed.
type lengths struct {
	least, most int
	// growth is 0 if every length has the same probability. If every doubling has, it is the logarithm of (most + 1) ÷
	// least.
	growth float64
}

func newLengths(v spec.Values) lengths {
	l := lengths{least: v.Shortest(), most: int(v.SizeBytes)}
	if v.SizeDistribution == spec.SizesLogUniform {
		l.growth = math.Log(float64(l.most+1) / float64(l.least))
	}
	return l
}

// at is the inverse of the distribution function: it returns the length in bytes below which this share, from 0 to less
// than 1, of all values lies. A uniform share gives lengths of the distribution. The log-uniform one gives length n a
// probability proportional to log((n+1) ÷ n). It costs one exponential function, some 15 ns, and needs neither a table
// nor memory.
func (l *lengths) at(share float64) int {
	length := float64(l.least) + share*float64(l.most-l.least+1)
	if l.growth > 0 {
		length = float64(l.least) * math.Exp(l.growth*share)
	}
	return min(int(length), l.most)
}

// quantiles is the number of quantiles from which a mean is computed.
const quantiles = 64

// mean returns the mean of taken over values of these lengths.
func (l *lengths) mean(taken func(length int) float64) (sum float64) {
	if l.least == l.most {
		return taken(l.most)
	}
	for i := range quantiles {
		sum += taken(l.at((float64(i)+0.5)/quantiles)) / quantiles
	}
	return sum
}
