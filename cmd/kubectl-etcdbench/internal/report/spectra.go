package report

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/cmd/kubectl-etcdbench/internal/plots"
	"github.com/etcdbench/etcd-benchmark-operator/internal/benchmark"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
	"github.com/etcdbench/etcd-benchmark-operator/internal/text"
)

// whereLinesEnd is a part of the description of each spectrum.
const whereLinesEnd = "A line ends where fewer than ten requests took longer, or where requests without an answer make a value a lower bound."

// maxOperations bounds the operations of a report: no store has as many.
const maxOperations = 30

// spectra draw the whole distribution of the latency of each operation.
func spectra(prefix string, run *v1alpha1.EtcdBenchmark, d benchmark.Detail) (out []Plot) {
	operations := slices.Sorted(maps.Keys(d.Operations))
	for _, operation := range operations[:min(len(operations), maxOperations)] {
		r := d.Operations[operation]
		lines := []spectrum{{label: "latency", count: ranked(r).count, points: curve(ranked(r))}}
		if len(lines[0].points) == 0 {
			continue
		}
		if service := curve(plain(&r.Service)); len(service) > 0 && !(run.Resolved().Load.Rate == nil && lookEqual(lines[0].points, service)) {
			lines = append(lines, spectrum{label: "service time", group: 1, count: r.Service.Count(), points: service})
		}
		about := plots.About{
			ID: prefix + "spectrum-" + strings.ToLower(string(operation)), Title: fmt.Sprintf("%s: latency by percentile", operation),
			Description: whereLinesEnd + tailsOf(lines),
		}
		out = append(out, spectrumPlot(about, lines, nil))
	}
	return out
}

// lookEqual reports whether two curves are one line to the eye.
func lookEqual(a, b []point) bool {
	return slices.EqualFunc(a, b, func(a, b point) bool {
		return a.atLeast == b.atLeast && max(a.Value, b.Value) <= 1.02*min(a.Value, b.Value)
	})
}

// spectrum is a distribution as a line.
type spectrum struct {
	label  string
	group  int
	count  uint64
	points []point
}

// point of a spectrum. Its value is a lower bound if requests without an answer could make it greater.
type point struct {
	plots.SpectrumPoint
	atLeast bool
}

// solid are the points before the first lower bound.
func solid(all []point) (out []plots.SpectrumPoint) {
	for _, p := range all {
		if p.atLeast {
			break
		}
		out = append(out, p.SpectrumPoint)
	}
	return out
}

func spectrumPlot(about plots.About, lines []spectrum, groups map[int]string) Plot {
	drawn := plots.Spectrum{About: about, Groups: groups}
	for _, l := range lines {
		drawn.Lines = append(drawn.Lines, plots.SpectrumLine{Label: l.label, Group: l.group, Points: solid(l.points)})
	}
	return Plot{Picture: drawn, Rows: curveRows(lines)}
}

// distribution is what a curve is drawn of.
type distribution struct {
	count uint64
	at    func(q float64) (value time.Duration, atLeast, known bool)
}

// ranked has answered and unanswered requests together, as the percentiles of a result.
func ranked(r *results.OperationResult) distribution {
	all := r.Ranked()
	return distribution{all.Count(), func(q float64) (time.Duration, bool, bool) {
		v, known := all.Quantile(q)
		return v.Duration, v.AtLeast, known
	}}
}

// withFailed also has failed requests, above all others.
func withFailed(r *results.OperationResult) distribution {
	all := r.Judged()
	return distribution{all.Count(), func(q float64) (time.Duration, bool, bool) {
		v, known := all.Quantile(q)
		return v.Duration, v.AtLeast, known
	}}
}

func plain(h *results.Histogram) distribution {
	return distribution{h.Count(), func(q float64) (time.Duration, bool, bool) {
		v, known := h.Quantile(q)
		return v, false, known
	}}
}

const (
	// beyond is how many requests must lie above the last point of a curve.
	beyond = 10
	// perDecade is how many points a curve has for each factor of ten in the number of requests above them.
	perDecade = 12
	// decades is where curves end at the latest: quantiles are exact to a millionth.
	decades = 6
)

// curve has points at equal distances of log(1/(1-p)), up to the last percentile that is not thin.
func curve(d distribution) (out []point) {
	if d.count == 0 {
		return nil
	}
	last := min(math.Log10(max(float64(d.count)/beyond, 1)), decades)
	for i := 0; i <= int(last*perDecade); i++ {
		p := 1 - math.Pow(10, -float64(i)/perDecade)
		if v, atLeast, known := d.at(p); known {
			out = append(out, point{plots.SpectrumPoint{Percentile: p, Value: float64(v) / float64(time.Microsecond)}, atLeast})
		}
	}
	return out
}

// curveRows is the table of all lines: each percentile of the line with the most.
func curveRows(lines []spectrum) [][]string {
	rows, longest := [][]string{{"percentile"}}, lines[0].points
	for _, l := range lines {
		rows[0] = append(rows[0], l.label)
		if len(l.points) > len(longest) {
			longest = l.points
		}
	}
	if slices.ContainsFunc(lines, func(l spectrum) bool { return l.count > 0 }) {
		row := []string{"requests"}
		for _, l := range lines {
			row = append(row, text.Grouped(l.count))
		}
		rows = append(rows, row)
	}
	for i, p := range longest {
		row := []string{fmt.Sprintf("%.6g %%", 100*p.Percentile)}
		for _, l := range lines {
			cell := ""
			if i < len(l.points) {
				cell = plots.Microseconds.Text(l.points[i].Value)
				if l.points[i].atLeast {
					cell = "≥ " + cell
				}
			}
			row = append(row, cell)
		}
		rows = append(rows, row)
	}
	return rows
}

// overlaid draws the distributions of all runs in one plot per operation.
func overlaid(runs []Run) (out []Plot) {
	lines := map[spec.Operation][]spectrum{}
	for i, r := range runs {
		for operation, op := range r.detail().Operations {
			if points := curve(ranked(op)); len(points) > 0 {
				lines[operation] = append(lines[operation], spectrum{label: r.label(), group: i, count: ranked(op).count, points: points})
			}
		}
	}
	operations := slices.Sorted(maps.Keys(lines))
	for _, operation := range operations[:min(len(operations), maxOperations)] {
		out = append(out, spectrumPlot(plots.About{
			ID: "spectrum-" + strings.ToLower(string(operation)), Title: fmt.Sprintf("%s: latency by percentile", operation),
			Description: "A line per run. " + whereLinesEnd + tailsOf(lines[operation]),
		}, lines[operation], nil))
	}
	return out
}
