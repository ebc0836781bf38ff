package render

import (
	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/text"
)

// NamedRun is a run with the name that tells it from the others, and what its result means.
type NamedRun struct {
	Name, Verdict string
	Run           *v1alpha1.EtcdBenchmark
}

// comparedStatistics are as many as a page has room for beside the other columns.
var comparedStatistics = []shownStatistic{{"P50", spec.StatisticP50}, {"P99", spec.StatisticP99}, {"P99.9", spec.StatisticP999}, {"MAX", spec.StatisticMax}}

// RunsBlocks are a table with the numbers of several runs, a row for each operation, and what its marks mean.
func RunsBlocks(runs []NamedRun) []Block {
	g := grid{left: 2}
	header := []string{"RUN", "OPERATION", "PER SECOND", "MEAN"}
	for _, s := range comparedStatistics {
		header = append(header, s.name)
	}
	g.add(append(header, "FAILED", "UNANSWERED", "VERDICT", "LOAD GENERATOR")...)
	var latencies []*v1alpha1.LatencySummary
	for _, r := range runs {
		verdict := []string{r.Verdict, r.generator()}
		for _, op := range operationsOf(r.Run) {
			latencies = append(latencies, op.Latency)
			g.add(append(r.row(op), verdict...)...)
			verdict = nil
		}
	}
	blocks := []Block{{Part: PartNumbers, Rows: g.rows, Left: g.left}}
	if legend := marksLegend(latencies); legend != "" {
		blocks = append(blocks, Block{Part: PartNumbers, Text: legend})
	}
	return blocks
}

// generator is empty if the load generator was not judged.
func (r NamedRun) generator() string {
	s := r.Run.Status.Summary
	if s == nil || s.Validity == nil {
		return ""
	}
	words, _ := Generator(s)
	return words
}

// operationsOf has one operation without a name and without numbers if nothing was measured.
func operationsOf(run *v1alpha1.EtcdBenchmark) []v1alpha1.OperationSummary {
	if s := run.Status.Summary; s != nil && len(s.Operations) > 0 {
		return s.Operations
	}
	return []v1alpha1.OperationSummary{{}}
}

func (r NamedRun) row(op v1alpha1.OperationSummary) []string {
	if op.Operation == "" {
		return append([]string{r.Name, "no result"}, make([]string, len(comparedStatistics)+4)...)
	}
	rate := ""
	if !op.Operation.IsEvent() {
		rate = text.RateIn(op.ThroughputPerSecond).Digits()
	}
	row := []string{r.Name, string(op.Operation), rate, averageLatency(op)}
	for _, s := range comparedStatistics {
		cell := unknown
		if op.Latency != nil {
			cell = Statistic(op.Latency, s.statistic)
		}
		row = append(row, cell)
	}
	return append(row, text.Grouped(op.Failed), text.Grouped(op.Censored))
}
