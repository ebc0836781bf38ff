package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/cmd/kubectl-etcdbench/internal/plots"
	"github.com/etcdbench/etcd-benchmark-operator/internal/suite"
	"github.com/etcdbench/etcd-benchmark-operator/internal/text"
)

// maxGrids bounds the grids of one figure.
const maxGrids = 8

// emptyGrid is the grid of a suite without its values, with the entries of its third axis.
type emptyGrid struct {
	suite.Grid
	cells  []suite.Cell
	others []v1alpha1.EntryName
}

func gridOf(s *v1alpha1.EtcdBenchmarkSuite) (emptyGrid, bool) {
	g, has := suite.GridOf(s)
	out := emptyGrid{Grid: g, cells: suite.Cells(s)}
	for _, c := range out.cells {
		if other := suite.Entry(g.Others, c); !slices.Contains(out.others, other) && len(out.others) < maxGrids {
			out.others = append(out.others, other)
		}
	}
	return out, has
}

// plot is the grid of an entry of the third axis. of returns what a cell shows, and its row of the table.
func (g emptyGrid) plot(other v1alpha1.EntryName, p plots.Grid, header []string, of func(suite.Cell) (plots.GridCell, []string)) (Plot, []plots.BarRow) {
	p.X, p.Y = nameOfAxis(g.X), nameOfAxis(g.Y)
	rows, known := [][]string{header}, []plots.BarRow{}
	for _, x := range g.X.Entries {
		p.Columns = append(p.Columns, text.Grouped(int64(x.Value)))
	}
	for _, y := range g.Y.Entries {
		p.Rows = append(p.Rows, text.Grouped(int64(y.Value)))
		var line []plots.GridCell
		for _, x := range g.X.Entries {
			shown := plots.GridCell{Missing: "excluded"}
			if c, has := g.Cell(g.cells, other, x.Name, y.Name); has {
				var row []string
				shown, row = of(c)
				if rows = append(rows, row); shown.Missing == "" {
					known = append(known, plots.BarRow{Label: c.Name, Value: shown.Value})
				}
			}
			line = append(line, shown)
		}
		p.Cells = append(p.Cells, line)
	}
	return Plot{Picture: p, Rows: rows}, known
}

// titled is a title with the entry of the third axis, if there are several.
func (g emptyGrid) titled(title string, other v1alpha1.EntryName) string {
	if len(g.others) < 2 {
		return title
	}
	return fmt.Sprintf("%s: %s", other, title)
}

// nameOfAxis has the last parts of the fields, which are enough to know them.
func nameOfAxis(n suite.Numbers) string {
	var names []string
	for _, field := range n.Fields {
		parts := strings.Split(field, ".")
		names = append(names, strings.Join(parts[max(len(parts)-2, 0):], "."))
	}
	return strings.Join(names, " and ")
}

// valueGrids draw a figure of each cell, a grid for each entry of the third axis.
func valueGrids(s *v1alpha1.EtcdBenchmarkSuite, g emptyGrid, f cellFigure) (out []Plot) {
	for i, other := range g.others {
		about := plots.About{
			ID: fmt.Sprintf("grid-%s-%d", f.id, i+1), Title: g.titled(f.title, other),
			Description: "The colour and the number of a cell are the mean of its rounds. Hatched cells have no round whose numbers can be compared.",
		}
		p, known := g.plot(other, plots.Grid{About: about, Unit: f.unit}, cellHeader, func(c suite.Cell) (plots.GridCell, []string) {
			bar, row, open := cellOf(s, c.Name, f, true)
			shown := plots.GridCell{Value: bar.Value, Missing: bar.Missing, Open: open}
			if bar.High > bar.Low {
				shown.More = "(" + f.unit.Text(bar.Low) + " to " + f.unit.Text(bar.High) + ")"
			}
			return shown, row
		})
		if len(known) > 0 {
			p.describe(extremesOf(known, f.unit))
			out = append(out, p)
		}
	}
	return out
}

// describe adds a sentence to the description of a grid.
func (p *Plot) describe(sentence string) {
	grid := p.Picture.(plots.Grid)
	grid.Description += sentence
	p.Picture = grid
}

// changeGrids draw the change of each metric, a grid for each candidate. They need the compared axis to be the third one.
func changeGrids(s *v1alpha1.EtcdBenchmarkSuite) (out []Plot) {
	g, has := gridOf(s)
	if !has || s.Spec.Compare == nil || s.Spec.Compare.Axis != "" && s.Spec.Compare.Axis != g.Others {
		return nil
	}
	for _, m := range s.Spec.Compare.Metrics {
		for _, other := range g.others {
			about := plots.About{
				ID: fmt.Sprintf("grid-changes-%d", len(out)+1), Title: g.titled("change of "+m.String(), other),
				Description: "The change from " + cmp.Or(string(s.Spec.Compare.Baseline.Entry), "the baseline") + " to " + string(other) + ". Hatched cells are undecided.",
			}
			header := []string{"cell", "change", "95 % interval", "verdict"}
			p, known := g.plot(other, plots.Grid{About: about, Changes: true}, header, func(c suite.Cell) (plots.GridCell, []string) { return changeOf(s, c.Name, m) })
			if len(known) == 0 || len(out) >= maxGrids {
				continue
			}
			p.describe(worstOf(slices.DeleteFunc(judged(s), func(c v1alpha1.SuiteComparison) bool {
				return c.Metric.String() != m.String() || !slices.ContainsFunc(known, func(k plots.BarRow) bool { return k.Label == c.Cell })
			})))
			out = append(out, p)
		}
	}
	return out
}

// changeOf is the comparison of a cell in a metric.
func changeOf(s *v1alpha1.EtcdBenchmarkSuite, cell string, m v1alpha1.Metric) (plots.GridCell, []string) {
	i := slices.IndexFunc(s.Status.Comparisons, func(c v1alpha1.SuiteComparison) bool { return c.Cell == cell && c.Metric.String() == m.String() })
	if i < 0 || s.Status.Comparisons[i].ChangePerMillion == nil {
		return plots.GridCell{Missing: "no change known"}, []string{cell, "–", "–", "–"}
	}
	c := s.Status.Comparisons[i]
	row := forestRow(c)
	interval := "–"
	if row.HasInterval {
		interval = text.SignedPercent(row.Low) + " to " + text.SignedPercent(row.High)
	}
	return plots.GridCell{
		Value: row.Change, Worse: (row.Change < 0) == (m.Type == v1alpha1.MetricThroughput), Open: row.Verdict == plots.Open,
		More: strings.TrimSpace("(" + interval + ") " + string(c.Verdict)),
	}, []string{cell, text.SignedPercent(row.Change), interval, string(c.Verdict)}
}
