package render

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/suite"
	"github.com/etcdbench/etcd-benchmark-operator/internal/text"
)

// sumName is the entry of the summed axis in the name of a row of sums.
const sumName = "sum"

// summed returns the cells whose throughput is added up in a row behind this cell: those that differ from it in the
// summed axis only. It returns none if the cell is not the last of them.
func summed(s *v1alpha1.EtcdBenchmarkSuite, last suite.Cell) (cells []suite.Cell) {
	if s.Spec.Table == nil || s.Spec.Table.Sum == nil {
		return nil
	}
	sum := s.Spec.Table.Sum
	for _, c := range suite.Cells(s) {
		if suite.DifferOnlyIn(sum.Axis, c, last) && (len(sum.Entries) == 0 || slices.Contains(sum.Entries, suite.Entry(sum.Axis, c))) {
			cells = append(cells, c)
		}
	}
	if len(cells) < 2 || cells[len(cells)-1].Name != last.Name {
		return nil
	}
	return cells
}

// sumRows has a row for each operation: the requests and the throughput of all cells, added up in each round. header is
// that of the table.
func sumRows(g *grid, s *v1alpha1.EtcdBenchmarkSuite, cells []suite.Cell, header []string) {
	label := suite.NameWith(s, s.Spec.Table.Sum.Axis, sumName, cells[0])
	for _, first := range meanSummary(cellResults(s, cells[0].Name)).Operations {
		if first.Operation.IsEvent() {
			continue
		}
		row := make([]string, len(header))
		row[0], row[1] = label, string(first.Operation)
		rates, done, whole := sumsOf(s, cells, first.Operation)
		if !whole {
			g.add(label, string(first.Operation), "a cell has no result")
			continue
		}
		row[2] = text.Grouped(done)
		row[len(row)-4] = text.RateOf(stat.Mean(rates, nil)/1000).Digits() + spreadText(rates)
		g.add(row...)
		label = ""
	}
}

// sumsOf returns the sum of the throughputs in each round, and the mean number of requests. whole is false if a cell has
// no result in a round that another one has.
func sumsOf(s *v1alpha1.EtcdBenchmarkSuite, cells []suite.Cell, operation spec.Operation) (rates []float64, done int64, whole bool) {
	for _, c := range cells {
		of := counts(cellResults(s, c.Name), operation, func(o v1alpha1.SuiteOperation) int64 { return o.ThroughputMilliPerSecond })
		requests := counts(cellResults(s, c.Name), operation, func(o v1alpha1.SuiteOperation) int64 { return o.Succeeded })
		if len(of) == 0 || rates != nil && len(of) != len(rates) {
			return nil, 0, false
		}
		if rates == nil {
			rates = make([]float64, len(of))
		}
		for i := range of {
			rates[i] += of[i]
		}
		done += int64(math.Round(stat.Mean(requests, nil)))
	}
	return rates, done, true
}
