package report

import (
	"math"
	"strings"
	"testing"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/cmd/kubectl-etcdbench/internal/plots"
)

// TestFindings: the end of a description says what a reader sees in the plot.
func TestFindings(t *testing.T) {
	line := func(label string, count uint64, values ...float64) spectrum {
		l := spectrum{label: label, count: count}
		for i, v := range values {
			l.points = append(l.points, point{SpectrumPoint: plots.SpectrumPoint{Percentile: []float64{0.5, 0.9, 0.99, 0.999}[i], Value: v}})
		}
		return l
	}
	compared := func(verdict v1alpha1.ComparisonVerdict, change int64) v1alpha1.SuiteComparison {
		return v1alpha1.SuiteComparison{Cell: "big", Comparison: v1alpha1.Comparison{
			Metric: v1alpha1.Metric{Type: v1alpha1.MetricThroughput}, Verdict: verdict, ChangePerMillion: &change,
		}}
	}
	for name, tc := range map[string]struct{ got, want string }{
		"ranges":                 {rangesOf([]plots.TimeLine{{Label: "p50", Values: []float64{math.NaN(), 2000, 1000}}, {Label: "p99", Values: []float64{math.NaN()}}}, plots.Microseconds), "Lowest to highest: p50 1ms to 2ms."},
		"nothing known":          {rangesOf([]plots.TimeLine{{Label: "p99", Values: []float64{math.NaN()}}}, plots.Microseconds), ""},
		"many lines":             {rangesOf(manyLines(6), plots.Count), "and 2 more."},
		"the highest percentile": {tailsOf([]spectrum{line("a", 2000, 1000, 2000, 3000, 4000)}), "p99.9: a 4ms. Requests: a 2,000."},
		"a common percentile":    {tailsOf([]spectrum{line("a", 2000, 1000, 2000, 3000), line("b", 200, 1000, 5000)}), "p90: a 2ms, b 5ms. Requests: a 2,000, b 200."},
		"a ratio":                {ratioAt([]plots.SpectrumPoint{{Percentile: 0.5, Value: 1}, {Percentile: 0.99, Value: 1.234}}), "p99: 1.23."},
		"comparisons":            {worstOf([]v1alpha1.SuiteComparison{compared(v1alpha1.Regressed, -120_000), compared(v1alpha1.NotRegressed, 0)}), "1 regressed, 1 did not, 0 not decided. The worst: big Throughput, -12.0 %."},
		"rounds":                 {greaterIn([]plots.DotRound{{Baseline: 1, Candidate: 2}, {Baseline: 2, Candidate: 1}, {Baseline: 1}}), "in 1 of 2 rounds."},
		"a knee":                 {kneeFound(plots.Knee{Found: 300, FirstMissed: 330}), "The highest rate that met the objectives is 300/s; the lowest that missed one is 330/s."},
		"bars":                   {extremesOf([]plots.BarRow{{Label: "a", Value: 5}, {Label: "b", Value: 7}}, plots.PerSecond), "Highest: b, 7/s. Lowest: a, 5/s."},
		"equal bars":             {equalText(bars(500, 500, 500, 500), plots.PerSecond), "All are equal: 500/s."},
		"bars that look equal":   {equalText(bars(500, 499.2, 503), plots.PerSecond), "All are nearly equal: 499.2/s to 503/s."},
		"bars with one interval": {extremesOf([]plots.BarRow{{Label: "a", Value: 50, Low: 40, High: 60}, {Label: "b", Value: 60, Low: 55, High: 70}}, plots.PerSecond), "Lowest: a, 50/s. But the lines of all bars overlap: the rounds of one cell differ as much as the cells do."},
		"bars apart":             {extremesOf([]plots.BarRow{{Label: "a", Value: 50, Low: 40, High: 55}, {Label: "b", Value: 60, Low: 56, High: 70}}, plots.PerSecond), "Highest: b, 60/s. Lowest: a, 50/s."},
		"one bar":                {extremesOf(bars(7), plots.PerSecond), ""},
	} {
		if !strings.HasSuffix(tc.got, tc.want) || tc.want == "" && tc.got != "" {
			t.Errorf("%s: got %q, wanted %q", name, tc.got, tc.want)
		}
	}
}

// bars have these values, without a spread.
func bars(values ...float64) (out []plots.BarRow) {
	for i, v := range values {
		out = append(out, plots.BarRow{Label: string(rune('a' + i)), Value: v, Low: v, High: v})
	}
	return out
}

func manyLines(n int) (lines []plots.TimeLine) {
	for range n {
		lines = append(lines, plots.TimeLine{Label: "a", Values: []float64{1}})
	}
	return lines
}
