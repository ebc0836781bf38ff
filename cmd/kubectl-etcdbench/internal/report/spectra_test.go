package report

import (
	"strings"
	"testing"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/cmd/kubectl-etcdbench/internal/plots"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// Unanswered requests make the tail a lower bound: the line ends before it, and the table says so.
func TestLowerBoundsAreNotDrawnAsFacts(t *testing.T) {
	r := &results.OperationResult{}
	for range 9000 {
		r.Latency.Record(int64(time.Millisecond))
	}
	for range 1000 {
		r.Censored.Record(int64(5 * time.Millisecond))
	}
	points := curve(ranked(r))
	drawn := solid(points)
	if last := drawn[len(drawn)-1].Percentile; last > 0.9 || len(drawn) == len(points) {
		t.Errorf("drawn up to %g, with %d of %d points", last, len(drawn), len(points))
	}
	rows := curveRows([]spectrum{{label: "latency", points: points}})
	if first, last := rows[1][1], rows[len(rows)-1][1]; strings.Contains(first, "≥") || !strings.HasPrefix(last, "≥ ") {
		t.Errorf("the table begins with %s and ends with %s", first, last)
	}
}

// Quantiles are exact to a millionth. A percentile beyond that would be the maximum.
func TestCurvesEndWhereQuantilesDo(t *testing.T) {
	d := distribution{1e9, func(q float64) (time.Duration, bool, bool) {
		if q > 0.9999991 {
			t.Errorf("asked for %v", q)
		}
		return time.Millisecond, false, true
	}}
	if points := curve(d); len(points) != decades*perDecade+1 {
		t.Errorf("found %d points", len(points))
	}
}

func TestTablesHaveTheLongestLine(t *testing.T) {
	line := func(n int) spectrum {
		return spectrum{points: make([]point, n)}
	}
	if rows := curveRows([]spectrum{line(3), line(7), line(5)}); len(rows) != 1+7 {
		t.Errorf("found %d rows", len(rows))
	}
}

// A suite's plots show the runs that decided, and no others.
func TestComparedRunsAreThoseThatDecided(t *testing.T) {
	d := compared(t, 3, 1.5)
	c := d.Suite.Status.Comparisons[0]
	if lines := comparedLines(d, c, "Put"); len(lines) != 6 {
		t.Fatalf("found %d lines", len(lines))
	}
	for i := range d.Suite.Status.Results {
		if r := &d.Suite.Status.Results[i]; r.Cell == c.Cell && r.Round == 2 {
			r.Invalid = "the load generator was a limit"
		}
	}
	for _, l := range comparedLines(d, c, "Put") {
		if strings.Contains(l.label, "round 2") {
			t.Errorf("found the invalid round, %s", l.label)
		}
	}
	d.Suite.Spec.Rounds, c.Confirming = 1, true
	if lines := comparedLines(d, c, "Put"); len(lines) != 2 || !strings.Contains(lines[0].label, "round 3") {
		t.Errorf("with screening: found %+v", lines)
	}
	if p, _ := roundsPlot(d.Suite, c); len(p.Picture.(plots.Dots).Rounds) != 1+1 {
		t.Errorf("with screening: found %d rounds", len(p.Picture.(plots.Dots).Rounds))
	}
}
