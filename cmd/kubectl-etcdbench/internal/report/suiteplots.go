package report

import (
	"cmp"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/stat"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/cmd/kubectl-etcdbench/internal/plots"
	"github.com/etcdbench/etcd-benchmark-operator/internal/suite"
	"github.com/etcdbench/etcd-benchmark-operator/internal/text"
)

// maxRows bounds the rows of a plot.
const maxRows = 30

// judged are the comparisons with a change, the worst first.
func judged(s *v1alpha1.EtcdBenchmarkSuite) []v1alpha1.SuiteComparison {
	return slices.DeleteFunc(worstFirst(s.Status.Comparisons), func(c v1alpha1.SuiteComparison) bool { return c.ChangePerMillion == nil })
}

// comparisonPlots are the forest plot of all comparisons and the rounds of the worst one.
func comparisonPlots(d *Document) []Plot {
	all := judged(d.Suite)
	if len(all) == 0 {
		return nil
	}
	forest := plots.Forest{About: plots.About{
		ID: "forest", Title: "Change from baseline to candidate",
		Description: "A dot is the change of one metric, the line its 95 % interval. The shaded part is within the tolerance. The worst is at the top.",
	}}
	rows := [][]string{{"cell and metric", "change", "95 % interval", "verdict"}}
	forest.Description += worstOf(all)
	if n := len(d.Suite.Status.Comparisons) - len(all); n > 0 {
		forest.Description += " Without a change, and so not drawn: " + text.Plural(n, "comparison") + "."
	}
	if n := len(all) - maxRows; n > 0 {
		forest.Description += " The table below also has the other " + text.Grouped(n) + "."
	}
	for i, c := range all {
		row := forestRow(c)
		if i < maxRows {
			forest.Rows = append(forest.Rows, row)
		}
		interval := "–"
		if row.HasInterval {
			interval = text.SignedPercent(row.Low) + " to " + text.SignedPercent(row.High)
		}
		rows = append(rows, []string{row.Label, text.SignedPercent(row.Change), interval, string(c.Verdict)})
	}
	out := append(changeGrids(d.Suite), Plot{Picture: forest, Rows: rows})
	if d.Suite.Status.Baseline != nil {
		// The rounds of another session are no pairs, and its runs are not known here.
		return out
	}
	if p, some := roundsPlot(d.Suite, all[0]); some {
		out = append(out, p)
	}
	return out
}

// worstSpectra are the distributions of both sides of the worst comparison, and their ratio.
func worstSpectra(d *Document) []Plot {
	all := judged(d.Suite)
	// The runs of a baseline of another session are not known here.
	if len(all) == 0 || d.Suite.Status.Baseline != nil {
		return nil
	}
	return comparedSpectra(d, all[0])
}

func worstFirst(all []v1alpha1.SuiteComparison) []v1alpha1.SuiteComparison {
	return slices.SortedStableFunc(slices.Values(all), func(a, b v1alpha1.SuiteComparison) int { return cmp.Compare(badness(b), badness(a)) })
}

// badness orders comparisons: Regressed, Unknown, then the others, each by how much worse they are.
func badness(c v1alpha1.SuiteComparison) float64 {
	worse := 0.0
	if c.ChangePerMillion != nil {
		worse = float64(*c.ChangePerMillion) / 1e6
	}
	if c.Metric.Type == v1alpha1.MetricThroughput {
		worse = -worse
	}
	switch c.Verdict {
	case v1alpha1.Regressed:
		return 2e6 + worse
	case v1alpha1.NotCompared:
		return 1e6 + min(worse, 1e5)
	}
	return min(worse, 1e5)
}

func forestRow(c v1alpha1.SuiteComparison) plots.ForestRow {
	row := plots.ForestRow{Label: c.Cell + " " + c.Metric.String(), Change: float64(*c.ChangePerMillion) / 1e6, Verdict: plots.Open, Limit: c.Metric.Tolerance()}
	if c.LowPerMillion != nil && c.HighPerMillion != nil {
		row.HasInterval, row.Low, row.High = true, float64(*c.LowPerMillion)/1e6, float64(*c.HighPerMillion)/1e6
	}
	if c.Metric.Type == v1alpha1.MetricThroughput {
		row.Limit = -row.Limit
	}
	switch c.Verdict {
	case v1alpha1.Regressed:
		row.Verdict = plots.Bad
	case v1alpha1.NotRegressed:
		row.Verdict = plots.Good
	}
	return row
}

// roundsPlot has both values of each round of a comparison.
func roundsPlot(s *v1alpha1.EtcdBenchmarkSuite, c v1alpha1.SuiteComparison) (Plot, bool) {
	if s.Spec.Compare == nil {
		return Plot{}, false
	}
	metric := slices.IndexFunc(s.Spec.Compare.Metrics, func(m v1alpha1.Metric) bool { return m.String() == c.Metric.String() })
	if metric < 0 {
		return Plot{}, false
	}
	unit, scale := plots.Microseconds, 1.0
	if c.Metric.Type == v1alpha1.MetricThroughput {
		unit, scale = plots.PerSecond, 1000.0
	}
	dots := plots.Dots{About: plots.About{
		ID: "rounds", Title: fmt.Sprintf("%s: %s in each round", c.Cell, c.Metric),
		Description: "A line joins the two values of a round. Runs whose numbers cannot be compared are left out.",
	}, Unit: unit, Axis: c.Metric.String(), Baseline: c.BaselineCell, Candidate: c.Cell}
	rows := [][]string{{"round", c.BaselineCell, c.Cell}}
	value := func(cell string, round int32) float64 {
		r, valid := decided(s, cell, round)
		if !valid || metric >= len(r.Values) {
			return 0
		}
		return float64(r.Values[metric].Value) / scale
	}
	first, last := decidingRounds(s, c)
	for round := first; round <= last; round++ {
		baseline, candidate := value(c.BaselineCell, round), value(c.Cell, round)
		if baseline == 0 && candidate == 0 {
			continue
		}
		dots.Rounds = append(dots.Rounds, plots.DotRound{Label: fmt.Sprint(round), Baseline: baseline, Candidate: candidate})
		rows = append(rows, []string{fmt.Sprint(round), unit.Text(baseline), unit.Text(candidate)})
	}
	dots.Description += greaterIn(dots.Rounds)
	return Plot{Picture: dots, Rows: rows}, len(dots.Rounds) > 0
}

func lastRound(s *v1alpha1.EtcdBenchmarkSuite) (last int32) {
	for _, r := range s.Status.Results {
		last = max(last, r.Round)
	}
	return last
}

// decidingRounds are the first and the last round that decided a comparison: fresh ones, if the others only screened.
func decidingRounds(s *v1alpha1.EtcdBenchmarkSuite, c v1alpha1.SuiteComparison) (first, last int32) {
	if c.Confirming {
		return s.Spec.Rounds + 1, lastRound(s)
	}
	return 1, min(max(s.Spec.Rounds, 1), lastRound(s))
}

// decided is the result of a cell in a round whose numbers can be compared.
func decided(s *v1alpha1.EtcdBenchmarkSuite, cell string, round int32) (v1alpha1.SuiteResult, bool) {
	r, ran := suite.Counted(s.Status.Results, cell, round)
	return r, ran && r.Invalid == ""
}

// comparedSpectra draw the distributions of the runs that decided a comparison, and the ratio of their means over the
// percentiles.
func comparedSpectra(d *Document, c v1alpha1.SuiteComparison) []Plot {
	operation := c.Metric.Operation
	if operation == "" {
		operation = mainOperation(d, c)
	}
	lines := comparedLines(d, c, operation)
	sides := [2][][]plots.SpectrumPoint{}
	for _, l := range lines {
		sides[l.group] = append(sides[l.group], solid(l.points))
	}
	if len(sides[0]) == 0 || len(sides[1]) == 0 {
		return nil
	}
	out := []Plot{spectrumPlot(plots.About{
		ID: "compared-spectrum", Title: fmt.Sprintf("%s: latency by percentile", operation), Description: "A line per run that was compared. " + whereLinesEnd + tailsOf(lines),
	}, lines, map[int]string{0: c.BaselineCell, 1: c.Cell})}
	return append(out, ratioPlot(operation, ratioOf(sides[0], sides[1])))
}

// comparedLines have a line per run: group 0 is the baseline. Both runs of a round are there, or none.
func comparedLines(d *Document, c v1alpha1.SuiteComparison, operation spec.Operation) (lines []spectrum) {
	first, last := decidingRounds(d.Suite, c)
	for round := first; round <= last; round++ {
		var both []spectrum
		for group, cell := range []string{c.BaselineCell, c.Cell} {
			result, valid := decided(d.Suite, cell, round)
			op := d.run(result.Name).detail().Operations[operation]
			if !valid || op == nil {
				continue
			}
			if points := curve(ranked(op)); len(points) > 0 {
				both = append(both, spectrum{fmt.Sprintf("%s, round %d", cell, round), group, ranked(op).count, points})
			}
		}
		if len(both) == 2 {
			lines = append(lines, both...)
		}
	}
	return lines
}

func ratioPlot(operation spec.Operation, ratio []plots.SpectrumPoint) Plot {
	return Plot{Picture: plots.Spectrum{
		About: plots.About{
			ID: "ratio-spectrum", Title: fmt.Sprintf("%s: ratio of the candidate to the baseline by percentile", operation),
			Description: "Above 1, the candidate is slower. Both sides are geometric means of their runs. The line ends where that of a run ends." + ratioAt(ratio),
		},
		Ratio: true, Lines: []plots.SpectrumLine{{Label: "candidate ÷ baseline", Points: ratio}},
	}, Rows: ratioRows(ratio)}
}

// mainOperation is the first operation of the baseline.
func mainOperation(d *Document, c v1alpha1.SuiteComparison) spec.Operation {
	for _, r := range d.Suite.Status.Results {
		if s := d.run(r.Name).Object; r.Cell == c.BaselineCell && s != nil && s.Status.Summary != nil && len(s.Status.Summary.Operations) > 0 {
			return s.Status.Summary.Operations[0].Operation
		}
	}
	return ""
}

// ratioOf divides the geometric means of two sides, at the percentiles that all of their runs have.
func ratioOf(baseline, candidate [][]plots.SpectrumPoint) (out []plots.SpectrumPoint) {
	shortest := len(baseline[0])
	for _, line := range slices.Concat(baseline, candidate) {
		shortest = min(shortest, len(line))
	}
	mean := func(side [][]plots.SpectrumPoint, i int) float64 {
		var all []float64
		for _, line := range side {
			all = append(all, max(line[i].Value, 1e-3))
		}
		return stat.GeometricMean(all, nil)
	}
	for i := range shortest {
		out = append(out, plots.SpectrumPoint{Percentile: baseline[0][i].Percentile, Value: mean(candidate, i) / mean(baseline, i)})
	}
	return out
}

func ratioRows(ratio []plots.SpectrumPoint) [][]string {
	rows := [][]string{{"percentile", "candidate ÷ baseline"}}
	for _, p := range ratio {
		rows = append(rows, []string{fmt.Sprintf("%.6g %%", 100*p.Percentile), fmt.Sprintf("%.3f", p.Value)})
	}
	return rows
}

// kneePlots draw, for each search, the latency over the rate of its probes.
func kneePlots(s *v1alpha1.EtcdBenchmarkSuite) (out []Plot) {
	for i, c := range s.Status.Capacities {
		knee := plots.Knee{About: plots.About{
			ID: fmt.Sprintf("knee-%d", i+1), Title: c.Cell + ": latency and throughput by rate",
			Description: "A mark is one probe: its offered rate, and the latency and the throughput that it measured.",
		}, Ceiling: float64(c.CeilingMilliPerSecond) / 1000}
		if c.State == v1alpha1.CapacityFound || c.State == v1alpha1.CapacityAtLeast {
			knee.Found = float64(c.RatePerSecond)
		}
		knee.FirstMissed = float64(c.FirstMissedPerSecond)
		for _, r := range s.Status.Results {
			if r.Cell == c.Cell && r.Probe != nil && r.Probe.AskedPerSecond > 0 {
				knee.Points = append(knee.Points, kneePoint(r))
			}
		}
		slices.SortStableFunc(knee.Points, func(a, b plots.KneePoint) int { return cmp.Compare(a.Offered, b.Offered) })
		knee.Description += kneeFound(knee)
		// Probes at one rate are a column of marks: the table has them.
		if n := len(knee.Points); n > 0 && knee.Points[0].Offered < knee.Points[n-1].Offered {
			out = append(out, Plot{Picture: knee, Rows: kneeRows(knee.Points)})
		}
	}
	return out
}

func kneeRows(points []plots.KneePoint) [][]string {
	rows := [][]string{{"probe", "offered", "answered", "p50", "p99", "p99.9", "objectives"}}
	for _, p := range points {
		row := []string{p.Label, plots.PerSecond.Text(p.Offered), plots.PerSecond.Text(p.Achieved)}
		for _, latency := range []float64{p.P50, p.P99, p.P999} {
			cell := "–"
			if latency > 0 {
				cell = plots.Microseconds.Text(latency)
				if p.AtLeast {
					cell = "≥ " + cell
				}
			}
			row = append(row, cell)
		}
		met := map[plots.Verdict]string{plots.Good: "met", plots.Bad: "missed", plots.Open: "not judged"}[p.Verdict]
		rows = append(rows, append(row, met))
	}
	return rows
}

func kneePoint(r v1alpha1.SuiteResult) plots.KneePoint {
	slowest := slowestOf(r)
	p := plots.KneePoint{
		Offered: float64(r.Probe.AskedPerSecond), Achieved: float64(r.Probe.ThroughputMilliPerSecond) / 1000,
		P50: float64(slowest.P50Microseconds), P99: float64(slowest.P99Microseconds), P999: float64(slowest.P999Microseconds),
		AtLeast: slowest.AtLeast, Verdict: plots.Open, Label: fmt.Sprintf("probe %d, %s", r.Round, r.Probe.Role),
	}
	switch r.Passed {
	case metav1.ConditionTrue:
		p.Verdict = plots.Good
	case metav1.ConditionFalse:
		p.Verdict = plots.Bad
	}
	return p
}
