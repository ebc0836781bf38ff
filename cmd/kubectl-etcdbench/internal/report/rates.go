package report

import (
	"math"

	"github.com/etcdbench/etcd-benchmark-operator/cmd/kubectl-etcdbench/internal/plots"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// leastApart is the shortest time between two samples of a rate, in seconds: the kernel counts in hundredths of a second.
const leastApart = 0.05

// Rates is by how much a counter of a member grew per second, between samples that have it.
func Rates(s *results.Samples, f results.Figure) (line plots.TimeLine) {
	before, at := math.NaN(), 0.0
	for i := range s.At {
		v, now := figureAt(s, f, i), s.At[i].Seconds()
		if math.IsNaN(v) || !math.IsNaN(before) && (now < at+leastApart || v < before) {
			continue
		}
		if !math.IsNaN(before) {
			line.At, line.Values = append(line.At, (at+now)/2), append(line.Values, (v-before)/(now-at))
		}
		before, at = v, now
	}
	return line
}
