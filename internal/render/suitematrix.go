package render

import (
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/stat"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
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
	return metricValue(m, mean) + changeText(s, cell, m, mean)
}

// throughputChange is that of a cell with one kind of request; empty for others, because a comparison adds up all kinds.
func throughputChange(s *v1alpha1.EtcdBenchmarkSuite, cell string, sum *v1alpha1.Summary) string {
	if len(sum.Operations) != 1 {
		return ""
	}
	mean := int64(math.Round(1000 * sum.Operations[0].ThroughputPerSecond.Float64()))
	return changeText(s, cell, v1alpha1.Metric{Type: v1alpha1.MetricThroughput}, mean)
}

func latencyChange(s *v1alpha1.EtcdBenchmarkSuite, cell string, o spec.Operation, statistic spec.Statistic, micros []float64) string {
	if len(micros) == 0 {
		return ""
	}
	return changeText(s, cell, v1alpha1.Metric{Type: v1alpha1.MetricLatency, Operation: o, Statistic: statistic}, int64(math.Round(stat.Mean(micros, nil))))
}

// changeText is the change of a cell's number against the baseline, in brackets; empty if there is none.
func changeText(s *v1alpha1.EtcdBenchmarkSuite, cell string, m v1alpha1.Metric, number int64) string {
	change := changeOf(s, cell, m, number)
	if change == nil {
		return ""
	}
	return " (" + signedPercent(change) + ")"
}

// changeOf is in parts per million; nil if the baseline has no such number.
func changeOf(s *v1alpha1.EtcdBenchmarkSuite, cell string, m v1alpha1.Metric, number int64) *int64 {
	if figure := publishedFigure(s, cell, m); figure > 0 {
		return new(int64(math.Round(1e6 * (float64(number)/figure - 1))))
	}
	for _, c := range s.Status.Comparisons {
		if c.Cell == cell && c.Metric.String() == m.String() {
			return c.ChangePerMillion
		}
	}
	return nil
}

// publishedFigure is the figure that others have published for a cell, in the unit of status; 0 if there is none.
func publishedFigure(s *v1alpha1.EtcdBenchmarkSuite, cell string, m v1alpha1.Metric) float64 {
	p := published(s)
	if p == nil || !slices.ContainsFunc(s.Spec.Compare.Metrics, func(o v1alpha1.Metric) bool { return o.String() == m.String() }) {
		return 0
	}
	unit := 1.0
	if m.Type == v1alpha1.MetricThroughput {
		unit = 1000
	}
	for _, f := range p.Figures {
		if f.Cell == cell {
			return unit * float64(f.Value)
		}
	}
	return 0
}

// published are the figures with which a suite is compared; nil if there are none.
func published(s *v1alpha1.EtcdBenchmarkSuite) *v1alpha1.PublishedFigures {
	if s.Spec.Compare == nil {
		return nil
	}
	return s.Spec.Compare.Baseline.Values
}
