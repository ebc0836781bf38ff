package render

import (
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/stat"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/suite"
)

// matrix has one number per cell: the entries of one axis are the columns, the combinations of the others the rows.
func matrix(s *v1alpha1.EtcdBenchmarkSuite) grid {
	f := s.Spec.Table
	metric := v1alpha1.Metric{Type: v1alpha1.MetricThroughput}
	if f.Metric != nil {
		metric = *f.Metric
	}
	columns := entries(s, f.Columns)
	g := grid{left: 1}
	g.add(append([]string{strings.ToUpper(metric.String())}, columns...)...)
	rows := map[string][]string{}
	var order []string
	for _, c := range suite.Cells(s) {
		row := rowOf(f.Columns, c)
		if rows[row] == nil {
			order = append(order, row)
			rows[row] = make([]string, len(columns))
		}
		rows[row][slices.Index(columns, string(suite.Entry(f.Columns, c)))] = matrixCell(s, c.Name, metric)
	}
	for _, row := range order {
		g.add(append([]string{row}, rows[row]...)...)
	}
	return g
}

func entries(s *v1alpha1.EtcdBenchmarkSuite, axis v1alpha1.Axis) (names []string) {
	for _, c := range suite.Cells(s) {
		if name := string(suite.Entry(axis, c)); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// rowOf names the row of a cell by the entries of the other axes.
func rowOf(columns v1alpha1.Axis, c suite.Cell) string {
	var parts []string
	for _, axis := range []v1alpha1.Axis{v1alpha1.AxisTargets, v1alpha1.AxisWorkloads, v1alpha1.AxisLoads} {
		if axis != columns {
			parts = append(parts, string(suite.Entry(axis, c)))
		}
	}
	return strings.Join(parts, "/")
}

// matrixCell is the mean of a metric over the rounds, with the change against the baseline if there is one.
func matrixCell(s *v1alpha1.EtcdBenchmarkSuite, cell string, m v1alpha1.Metric) string {
	var values []float64
	for _, r := range cellResults(s, cell) {
		if number, known := suite.NumberOf(r, m); known {
			values = append(values, number)
		}
	}
	if len(values) == 0 {
		return thin
	}
	mean := int64(math.Round(stat.Mean(values, nil)))
	out := metricValue(m, mean)
	if figure := publishedFigure(s, cell); figure > 0 {
		if m.Type == v1alpha1.MetricThroughput {
			figure *= 1000
		}
		return out + " (" + signedPercent(new(int64(math.Round(1e6*(float64(mean)/float64(figure)-1))))) + ")"
	}
	for _, c := range s.Status.Comparisons {
		same := c.Metric.Type == m.Type && c.Metric.Operation == m.Operation && c.Metric.Statistic == m.Statistic
		if c.Cell == cell && same && c.ChangePerMillion != nil {
			return out + " (" + signedPercent(c.ChangePerMillion) + ")"
		}
	}
	return out
}

// publishedFigure is the figure that others have published for a cell; 0 if there is none.
func publishedFigure(s *v1alpha1.EtcdBenchmarkSuite, cell string) int64 {
	if p := s.Spec.Table.Published; p != nil {
		for _, v := range p.Values {
			if v.Cell == cell {
				return v.Value
			}
		}
	}
	return 0
}
