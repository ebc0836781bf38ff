package report

import (
	"slices"

	"gonum.org/v1/gonum/stat"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/cmd/kubectl-etcdbench/internal/plots"
	"github.com/etcdbench/etcd-benchmark-operator/internal/suite"
	"github.com/etcdbench/etcd-benchmark-operator/internal/text"
)

// cellPlots draw the throughput of each cell with its spread over the rounds. A cell without a number has a row, too.
func cellPlots(s *v1alpha1.EtcdBenchmarkSuite) []Plot {
	if s.Spec.Search != nil {
		return nil
	}
	bars := plots.Bars{About: plots.About{
		ID: "cells", Title: "Throughput of each cell",
		Description: "A bar is the mean of the rounds, the line on it goes from the lowest to the highest round.",
	}, Unit: plots.PerSecond, Axis: "throughput"}
	var known []plots.BarRow
	var unknown []string
	rows := [][]string{{"cell", "mean", "lowest", "highest", "rounds"}}
	for _, c := range suite.Cells(s) {
		values := throughputs(s, c.Name)
		bar := plots.BarRow{Label: c.Name, Missing: missing(s, c.Name)}
		row := []string{c.Name, bar.Missing, "–", "–", text.Grouped(len(values))}
		if len(values) > 0 {
			bar.Value, bar.Low, bar.High = stat.Mean(values, nil), slices.Min(values), slices.Max(values)
			bar.Missing, known = "", append(known, bar)
			row = []string{c.Name, bars.Unit.Text(bar.Value), bars.Unit.Text(bar.Low), bars.Unit.Text(bar.High), row[4]}
		} else {
			unknown = append(unknown, c.Name+" ("+bar.Missing+")")
		}
		bars.Rows, rows = append(bars.Rows, bar), append(rows, row)
	}
	if len(bars.Rows) < 2 || len(known) == 0 {
		return nil
	}
	bars.Description += extremesOf(known, bars.Unit) + finding("Without a number: ", unknown)
	if n := len(bars.Rows) - maxRows; n > 0 {
		bars.Description += " The table below also has the other " + text.Grouped(n) + "."
		bars.Rows = bars.Rows[:maxRows]
	}
	return []Plot{{Picture: bars, Rows: rows}}
}

// throughputs are those of the runs of a cell that count and are valid, one per round.
func throughputs(s *v1alpha1.EtcdBenchmarkSuite, cell string) (out []float64) {
	throughput := v1alpha1.Metric{Type: v1alpha1.MetricThroughput}
	for round := int32(1); round <= lastRound(s); round++ {
		if r, valid := decided(s, cell, round); valid {
			if v, known := suite.NumberOf(r, throughput); known && v >= 0 {
				out = append(out, v/1000)
			}
		}
	}
	return out
}

// missing is why a cell has no number.
func missing(s *v1alpha1.EtcdBenchmarkSuite, cell string) string {
	if slices.ContainsFunc(s.Status.Results, func(r v1alpha1.SuiteResult) bool { return r.Cell == cell }) {
		return "no valid run"
	}
	return "no run"
}
