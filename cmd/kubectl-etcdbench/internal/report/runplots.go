package report

import (
	"cmp"
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
	"github.com/etcdbench/etcd-benchmark-operator/internal/render"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
	"github.com/etcdbench/etcd-benchmark-operator/internal/text"
)

// maxPoints bounds the points of a line.
const maxPoints = 120

// spectra draw the whole distribution of the latency of each operation.
func spectra(prefix string, run *v1alpha1.EtcdBenchmark, d benchmark.Detail) (out []Plot) {
	for _, operation := range slices.Sorted(maps.Keys(d.Operations)) {
		r := d.Operations[operation]
		latency := curve(ranked(r))
		if len(latency) == 0 {
			continue
		}
		lines := []plots.SpectrumLine{{Label: "latency", Group: 0, Points: latency}}
		if service := curve(plain(&r.Service)); len(service) > 0 {
			lines = append(lines, plots.SpectrumLine{Label: "service time", Group: 1, Points: service})
		}
		out = append(out, Plot{Picture: plots.Spectrum{
			About: plots.About{
				ID: prefix + "spectrum-" + strings.ToLower(string(operation)), Title: fmt.Sprintf("%s: latency by percentile", operation),
				Description: fmt.Sprintf("%s requests. The line ends where fewer than ten requests took longer.", text.Grouped(int64(ranked(r).count))),
			},
			Lines: lines,
		}, Rows: curveRows(lines)})
	}
	return out
}

// distribution is what a curve is drawn of.
type distribution struct {
	count uint64
	at    func(q float64) (time.Duration, bool)
}

// ranked has answered and unanswered requests together, as the percentiles of a result.
func ranked(r *results.OperationResult) distribution {
	all := r.Ranked()
	return distribution{all.Count(), func(q float64) (time.Duration, bool) {
		v, known := all.Quantile(q)
		return v.Duration, known
	}}
}

func plain(h *results.Histogram) distribution { return distribution{h.Count(), h.Quantile} }

// beyond is how many requests must lie above the last point of a curve.
const beyond = 10

// curve has points at equal distances of log(1/(1-p)), up to the last percentile that is not thin.
func curve(d distribution) (out []plots.SpectrumPoint) {
	const perDecade = 12
	if d.count == 0 {
		return nil
	}
	last := math.Log10(max(float64(d.count)/beyond, 1))
	for i := 0; i <= int(last*perDecade); i++ {
		p := 1 - math.Pow(10, -float64(i)/perDecade)
		if v, known := d.at(p); known {
			out = append(out, plots.SpectrumPoint{Percentile: p, Value: float64(v) / float64(time.Microsecond)})
		}
	}
	return out
}

// curveRows is the table of the first percentiles of all lines.
func curveRows(lines []plots.SpectrumLine) [][]string {
	rows := [][]string{{"percentile"}}
	for _, l := range lines {
		rows[0] = append(rows[0], l.Label)
	}
	for i, p := range lines[0].Points {
		row := []string{fmt.Sprintf("%.4g %%", 100*p.Percentile)}
		for _, l := range lines {
			cell := ""
			if i < len(l.Points) {
				cell = plots.Microseconds.Text(l.Points[i].Value)
			}
			row = append(row, cell)
		}
		rows = append(rows, row)
	}
	return rows
}

// courseOf is the course of the window in at most maxPoints intervals; none if it is not known.
func courseOf(run *v1alpha1.EtcdBenchmark, d benchmark.Detail) render.Intervals {
	if d.Course == nil || run.Status.Summary == nil {
		return render.Intervals{}
	}
	return render.IntervalsOf(d.Course, time.Duration(run.Status.Summary.DurationMicroseconds)*time.Microsecond, maxPoints)
}

func coursePlots(prefix string, run *v1alpha1.EtcdBenchmark, c render.Intervals) []Plot {
	if len(c.Points) == 0 {
		return nil
	}
	marks, length := marksOf(run), c.Length.Seconds()
	var succeeded, failed, p50, p99 []float64
	anyFailed := false
	for i, p := range c.Points {
		succeeded, failed = append(succeeded, float64(p.Succeeded)/length), append(failed, float64(p.Failed)/length)
		p50, p99 = append(p50, c.Percentile(i, spec.StatisticP50)), append(p99, c.Percentile(i, spec.StatisticP99))
		anyFailed = anyFailed || p.Failed > 0
	}
	lines := []plots.TimeLine{{Label: "succeeded", Values: succeeded}}
	if anyFailed {
		lines = append(lines, plots.TimeLine{Label: "failed", Values: failed})
	}
	out := []Plot{{
		Picture: plots.OverTime{
			About: plots.About{
				ID: prefix + "throughput", Title: "Requests per second",
				Description: fmt.Sprintf("Responses per second over the measured window, in intervals of %g s.", length),
			},
			Interval: length, Lines: lines, Unit: plots.PerSecond, Marks: marks, Stalls: c.Stalled,
		},
		Rows: timeRows(length, lines, plots.PerSecond),
	}}
	bands := bandsOf(c)
	if len(bands) == 0 {
		return out
	}
	percentiles := []plots.TimeLine{{Label: "p50", Values: p50}, {Label: "p99", Values: p99}}
	return append(out, Plot{
		Picture: plots.Heatmap{
			About: plots.About{
				ID: prefix + "heatmap", Title: "Latency over time",
				Description: "Each column is an interval; the darker a cell, the more of its requests have this latency. The lines are p50 and p99. A p99 with fewer than ten requests above it is not drawn.",
			},
			Interval: length, Bands: bands, P50: p50, P99: p99, Marks: marks, Stalls: c.Stalled,
		},
		Rows: timeRows(length, percentiles, plots.Microseconds),
	})
}

// bandsOf are the latency bands of a heatmap: two for each doubling, at most maxBands.
func bandsOf(c render.Intervals) (out []plots.Band) {
	const schema, maxBands = 1, 48
	counts := map[int][]uint64{}
	for i := range c.Columns {
		column := c.Columns[i].Clone()
		column.Reduce(schema)
		add := func(bucket int, n uint64) {
			if counts[bucket] == nil {
				counts[bucket] = make([]uint64, len(c.Points))
			}
			counts[bucket][i] += n
		}
		for bucket, n := range column.NativeBuckets() {
			add(bucket, n)
		}
	}
	if len(counts) == 0 {
		return nil
	}
	known := slices.Collect(maps.Keys(counts))
	lowest, highest := slices.Min(known), slices.Max(known)
	edge := func(bucket int) float64 { return 1e6 * math.Exp2(float64(bucket)/2) }
	for b := max(lowest, highest-maxBands+1); b <= highest; b++ {
		of := counts[b]
		if of == nil {
			of = make([]uint64, len(c.Points))
		}
		out = append(out, plots.Band{From: edge(b - 1), To: edge(b), Counts: of})
	}
	return out
}

// marksOf are the disturbances of a run.
func marksOf(run *v1alpha1.EtcdBenchmark) (out []plots.Mark) {
	const most = 24
	if run.Status.Summary == nil {
		return nil
	}
	for _, d := range run.Status.Summary.Disturbances {
		for _, m := range d.Marks {
			at := float64(m.AfterMicroseconds) / 1e6
			out = append(out, plots.Mark{At: at, Until: at + float64(m.TookMicroseconds)/1e6, Label: strings.ToLower(string(d.Type))})
		}
	}
	return out[:min(len(out), most)]
}

// timeRows is the table behind a plot over time.
func timeRows(interval float64, lines []plots.TimeLine, unit plots.Unit) [][]string {
	rows := [][]string{{"from"}}
	for _, l := range lines {
		rows[0] = append(rows[0], l.Label)
	}
	for i := range lines[0].Values {
		at := float64(i) * interval
		if lines[0].At != nil {
			at = lines[0].At[i]
		}
		row := []string{fmt.Sprintf("%.4g s", at)}
		for _, l := range lines {
			cell := "–"
			if i < len(l.Values) && !math.IsNaN(l.Values[i]) {
				cell = unit.Text(l.Values[i])
			}
			row = append(row, cell)
		}
		rows = append(rows, row)
	}
	return rows
}

// memberPlots draw what the members reported over the window, one plot per figure with a line per member.
func memberPlots(prefix string, run *v1alpha1.EtcdBenchmark, d benchmark.Detail) (out []Plot) {
	if d.Course == nil {
		return nil
	}
	for _, f := range []struct {
		id, title string
		unit      plots.Unit
		read      func(*results.Samples) []float64
	}{
		{"fsync", "Mean time of a WAL fsync", plots.Microseconds, func(s *results.Samples) []float64 { return means(s, results.TimerWALFsync) }},
		{"commit", "Mean time of a backend commit", plots.Microseconds, func(s *results.Samples) []float64 { return means(s, results.TimerBackendCommit) }},
		{"pending", "Pending proposals", plots.Count, func(s *results.Samples) []float64 { return gauge(s, results.FigurePendingNow) }},
		{"memory", "Resident memory", plots.Bytes, func(s *results.Samples) []float64 { return gauge(s, results.FigureMemoryNowBytes) }},
		{"database", "Database size", plots.Bytes, func(s *results.Samples) []float64 { return gauge(s, results.FigureDatabaseNowBytes) }},
	} {
		about := plots.About{ID: prefix + "members-" + f.id, Title: f.title, Description: "A line per member over the measured window, as the member reported it."}
		if p, some := memberPlot(about, run, d, f.unit, f.read); some {
			out = append(out, p)
		}
	}
	return out
}

func memberPlot(about plots.About, run *v1alpha1.EtcdBenchmark, d benchmark.Detail, unit plots.Unit, read func(*results.Samples) []float64) (Plot, bool) {
	var lines []plots.TimeLine
	for _, id := range slices.Sorted(maps.Keys(d.Course.Samples)) {
		s := d.Course.Samples[id]
		values := read(s)
		if !slices.ContainsFunc(values, func(v float64) bool { return !math.IsNaN(v) }) {
			continue
		}
		line := plots.TimeLine{Label: memberName(run, id), Values: values}
		for _, at := range s.At {
			line.At = append(line.At, at.Seconds())
		}
		lines = append(lines, thinned(line))
	}
	if len(lines) == 0 {
		return Plot{}, false
	}
	slices.SortFunc(lines, func(a, b plots.TimeLine) int { return cmp.Compare(a.Label, b.Label) })
	return Plot{Picture: plots.OverTime{About: about, Lines: lines, Unit: unit, Marks: marksOf(run)}, Rows: timeRows(0, lines, unit)}, true
}

// thinned leaves out every second point until at most maxPoints are left.
func thinned(l plots.TimeLine) plots.TimeLine {
	for len(l.Values) > maxPoints {
		var values, at []float64
		for i := 0; i < len(l.Values); i += 2 {
			values, at = append(values, l.Values[i]), append(at, l.At[i])
		}
		l.Values, l.At = values, at
	}
	return l
}

// memberName is the name of a member, or its ID.
func memberName(run *v1alpha1.EtcdBenchmark, id string) string {
	if t := run.Status.Target; t != nil {
		for _, m := range t.Members {
			if m.ID == id && m.Name != "" {
				return m.Name
			}
		}
	}
	return id
}

// gauge has the values of a figure, NaN where a sample lacks it.
func gauge(s *results.Samples, f results.Figure) (out []float64) {
	for _, v := range s.Values[f] {
		if v == results.NoValue {
			v = math.NaN()
		}
		out = append(out, v)
	}
	return out
}

// means has, for each sample, the mean duration of a timer since the sample before, in microseconds.
func means(s *results.Samples, timer results.Timer) []float64 {
	counts, seconds := gauge(s, timer.Count()), gauge(s, timer.Seconds())
	if len(counts) != len(seconds) {
		return nil
	}
	out := make([]float64, len(counts))
	for i := range out {
		out[i] = math.NaN()
		if i > 0 && counts[i] > counts[i-1] {
			out[i] = 1e6 * (seconds[i] - seconds[i-1]) / (counts[i] - counts[i-1])
		}
	}
	return out
}
