package render

import (
	"gonum.org/v1/gonum/stat"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/compare"
	"github.com/etcdbench/etcd-benchmark-operator/internal/suite"
	"github.com/etcdbench/etcd-benchmark-operator/internal/text"
)

// comparedMemory shows the memory of the members. It is not judged: what a member keeps also grows with what was written, and a
// faster one gets more.
func comparedMemory(p *page, s *v1alpha1.EtcdBenchmarkSuite) {
	if g, known := memoryGrid(s); known {
		p.section(g)
		p.line("  Mean resident memory of a member. Not judged: it also grows with what was written.")
	}
}

func memoryGrid(s *v1alpha1.EtcdBenchmarkSuite) (g grid, known bool) {
	g = grid{left: 2}
	g.add("MEMBERS' MEMORY", "BASELINE CELL", "ROUNDS", "BASELINE", "CANDIDATE", "CHANGE", "95 % INTERVAL")
	seen := map[string]bool{}
	for _, c := range s.Status.Comparisons {
		var baseline, candidate []float64
		for round := int32(1); round <= max(s.Spec.Rounds, 1); round++ {
			b, _ := suite.Counted(s.Status.Results, c.BaselineCell, round)
			r, _ := suite.Counted(s.Status.Results, c.Cell, round)
			if b.ServerMemoryBytes > 0 && r.ServerMemoryBytes > 0 {
				baseline, candidate = append(baseline, float64(b.ServerMemoryBytes)), append(candidate, float64(r.ServerMemoryBytes))
			}
		}
		if len(baseline) == 0 || seen[c.Cell] {
			continue
		}
		seen[c.Cell], known = true, true
		change := v1alpha1.Comparison{}
		change.ChangePerMillion, change.LowPerMillion, change.HighPerMillion = compare.Ratio(baseline, candidate)
		g.add(c.Cell, c.BaselineCell, text.Grouped(len(baseline)), text.Megabytes(int64(stat.Mean(baseline, nil))), text.Megabytes(int64(stat.Mean(candidate, nil))),
			signedPercent(change.ChangePerMillion), intervalText(change))
	}
	return g, known
}

// meanMemoryBytes is the mean of the results whose memory is known; known is false if none is.
func meanMemoryBytes(results []v1alpha1.SuiteResult) (mean float64, known bool) {
	sum, n := 0.0, 0.0
	for _, r := range results {
		if r.ServerMemoryBytes > 0 {
			sum, n = sum+float64(r.ServerMemoryBytes), n+1
		}
	}
	return sum / max(n, 1), n > 0
}

func meanMemory(results []v1alpha1.SuiteResult) string {
	mean, known := meanMemoryBytes(results)
	if !known {
		return unknown
	}
	return text.Megabytes(int64(mean))
}
