package report

import (
	"slices"

	"gonum.org/v1/gonum/stat"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/cmd/kubectl-etcdbench/internal/plots"
	"github.com/etcdbench/etcd-benchmark-operator/internal/render"
	"github.com/etcdbench/etcd-benchmark-operator/internal/suite"
	"github.com/etcdbench/etcd-benchmark-operator/internal/text"
)

// cellFigure is a number of a run that is drawn of each cell.
type cellFigure struct {
	id, title, axis string
	unit            plots.Unit
	of              func(v1alpha1.SuiteResult) (float64, bool)
}

// cellFigures are drawn in this order.
var cellFigures = []cellFigure{
	{"cells", "Throughput of each cell", "throughput", plots.PerSecond, func(r v1alpha1.SuiteResult) (float64, bool) {
		v, known := suite.NumberOf(r, v1alpha1.Metric{Type: v1alpha1.MetricThroughput})
		return v / 1000, known && v >= 0
	}},
	{"cells-p99", "p99 of each cell", "p99 of the slowest operation", plots.Microseconds, func(r v1alpha1.SuiteResult) (float64, bool) {
		v := slowestOf(r)
		return float64(v.P99Microseconds), v.P99Microseconds > 0 && !v.AtLeast
	}},
}

// cellHeader is the header of the table behind a figure of all cells.
var cellHeader = []string{"cell", "mean", "lowest", "highest", "rounds"}

// cellPlots draw figures of each cell with their spread over the rounds: as a grid if two axes have numbers, else as bars. A
// cell without a number has a row, too. Of a figure that is equal in all cells, a sentence says so.
func cellPlots(s *v1alpha1.EtcdBenchmarkSuite) (out []Plot, equal []render.Block) {
	if s.Spec.Search != nil {
		return nil, nil
	}
	grid, isGrid := gridOf(s)
	for _, f := range cellFigures {
		if isGrid {
			out = append(out, valueGrids(s, grid, f)...)
			continue
		}
		bars := plots.Bars{About: plots.About{
			ID: f.id, Title: f.title,
			Description: "A bar is the mean of the rounds, the line on it goes from the lowest to the highest round.",
		}, Unit: f.unit, Axis: f.axis}
		var known []plots.BarRow
		var unknown []string
		rows := [][]string{cellHeader}
		for _, c := range suite.Cells(s) {
			bar, row, _ := cellOf(s, c.Name, f, false)
			if bar.Missing == "" {
				known = append(known, bar)
			} else {
				unknown = append(unknown, c.Name+" ("+bar.Missing+")")
			}
			bars.Rows, rows = append(bars.Rows, bar), append(rows, row)
		}
		if len(bars.Rows) < 2 || len(known) == 0 {
			continue
		}
		lacks := finding("Without a number: ", unknown)
		if text := equalText(known, f.unit); text != "" {
			equal = append(equal, render.Block{Label: f.title + ":", Text: text + lacks})
			continue
		}
		bars.Description += extremesOf(known, f.unit) + lacks
		if n := len(bars.Rows) - maxRows; n > 0 {
			bars.Description += " The table below also has the other " + text.Grouped(n) + "."
			bars.Rows = bars.Rows[:maxRows]
		}
		out = append(out, Plot{Picture: bars, Rows: rows})
	}
	return out, equal
}

// cellOf is a figure of a cell, and its row of the table. If no round is valid and all are asked for, it is that of the
// others; open says so.
func cellOf(s *v1alpha1.EtcdBenchmarkSuite, cell string, f cellFigure, all bool) (bar plots.BarRow, row []string, open bool) {
	values := inRounds(s, cell, f.of, decided)
	if all && len(values) == 0 {
		values = inRounds(s, cell, f.of, complete)
		open = len(values) > 0
	}
	bar = plots.BarRow{Label: cell}
	if len(values) == 0 {
		bar.Missing = missing(s, cell)
		return bar, []string{cell, bar.Missing, "–", "–", "0"}, false
	}
	bar.Value, bar.Low, bar.High = stat.Mean(values, nil), slices.Min(values), slices.Max(values)
	row = []string{cell, f.unit.Text(bar.Value), f.unit.Text(bar.Low), f.unit.Text(bar.High), text.Grouped(len(values))}
	if open {
		row[4] += ", not comparable"
	}
	return bar, row, open
}

// complete is the result of a cell in a round, whether or not its numbers can be compared.
func complete(s *v1alpha1.EtcdBenchmarkSuite, cell string, round int32) (v1alpha1.SuiteResult, bool) {
	return suite.Counted(s.Status.Results, cell, round)
}

// inRounds are the values of the runs of a cell that take chooses, one per round.
func inRounds(s *v1alpha1.EtcdBenchmarkSuite, cell string, of func(v1alpha1.SuiteResult) (float64, bool), take func(*v1alpha1.EtcdBenchmarkSuite, string, int32) (v1alpha1.SuiteResult, bool)) (out []float64) {
	for round := int32(1); round <= lastRound(s); round++ {
		if r, chosen := take(s, cell, round); chosen {
			if v, known := of(r); known {
				out = append(out, v)
			}
		}
	}
	return out
}

// missing is why a cell has no number.
func missing(s *v1alpha1.EtcdBenchmarkSuite, cell string) string {
	for round := int32(1); round <= lastRound(s); round++ {
		if _, valid := decided(s, cell, round); valid {
			return "too few requests"
		}
	}
	if slices.ContainsFunc(s.Status.Results, func(r v1alpha1.SuiteResult) bool { return r.Cell == cell }) {
		return "no valid run"
	}
	return "no run"
}
