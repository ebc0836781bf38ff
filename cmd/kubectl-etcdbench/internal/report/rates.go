package report

import (
	"math"

	"github.com/etcdbench/etcd-benchmark-operator/cmd/kubectl-etcdbench/internal/plots"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// Rates is by how much a counter of a member grew per second, between each two samples that have it.
func Rates(s *results.Samples, f results.Figure) (line plots.TimeLine) {
	before, at := math.NaN(), 0.0
	for i := range s.At {
		v, now := figureAt(s, f, i), s.At[i].Seconds()
		if math.IsNaN(v) || now <= at && !math.IsNaN(before) {
			continue
		}
		if !math.IsNaN(before) {
			line.At, line.Values = append(line.At, (at+now)/2), append(line.Values, (v-before)/(now-at))
		}
		before, at = v, now
	}
	return line
}
