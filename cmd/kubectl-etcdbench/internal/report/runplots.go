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
	"github.com/etcdbench/etcd-benchmark-operator/internal/render"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// courseOf is the course of the window in intervals; none if it is not known.
func courseOf(run *v1alpha1.EtcdBenchmark, d benchmark.Detail) render.Intervals {
	if d.Course == nil || run.Status.Summary == nil {
		return render.Intervals{}
	}
	return render.IntervalsOf(d.Course, time.Duration(run.Status.Summary.DurationMicroseconds)*time.Microsecond)
}

// coursePlots draw throughput and latency over the window. A sentence says if it is too short for that.
func coursePlots(prefix string, run *v1alpha1.EtcdBenchmark, whole render.Intervals) (out []Plot, lacks []render.Block) {
	c, last := whole.WithRest()
	if len(c.Points) < fewestPoints {
		if len(c.Points) > 0 || run.Status.Summary != nil && run.Status.Summary.MeasuredRequests > 0 {
			lacks = sentences("There were too few requests for plots over time.")
		}
		return nil, lacks
	}
	o := plots.OverTime{Interval: c.Length.Seconds(), Last: last.Seconds(), Marks: marksOf(run), Stalls: c.Stalled, Unit: plots.PerSecond}
	anyFailed := slices.ContainsFunc(c.Points, func(p results.Point) bool { return p.Failed > 0 })
	rate := func(of func(results.Point) uint64) func(from, to int) float64 {
		return func(from, to int) float64 { return perSecond(c, last, from, to, of) }
	}
	o.Lines = []plots.TimeLine{trended("succeeded", c, rate(func(p results.Point) uint64 { return p.Succeeded }))}
	if anyFailed {
		o.Lines = append(o.Lines, each("failed", c, func(i int) float64 { return rate(func(p results.Point) uint64 { return p.Failed })(i, i+1) }))
	}
	o.About = plots.About{
		ID: prefix + "throughput", Title: "Requests per second",
		Description: fmt.Sprintf("In intervals of %g s.", o.Interval) + rangesOf(ofWhole(o.Lines, whole), plots.PerSecond),
	}
	out = append(out, Plot{Picture: o, Rows: timeRows(o.Interval, o.Lines, o.Unit)})
	bands := bandsOf(c)
	if len(bands) == 0 {
		return out, nil
	}
	tail := percentileName(c.Tail)
	o.Unit, o.Lines = plots.Microseconds, []plots.TimeLine{
		trended("p50", c, func(from, to int) float64 { return medianOf(c, from, to) }),
		each(tail, c, func(i int) float64 { return c.Percentile(i, c.Tail) }),
		each("longest", c, func(i int) float64 { return longestIn(c.Points[i]) }),
	}
	o.About = plots.About{
		ID: prefix + "latency", Title: "Latency over time",
		Description: "A " + tail + " is shown where an interval has enough requests." + rangesOf(ofWhole(o.Lines, whole), plots.Microseconds),
	}
	out = append(out, Plot{Picture: o, Rows: timeRows(o.Interval, o.Lines, o.Unit)})
	heat := plots.Heatmap{
		About:    plots.About{ID: prefix + "heatmap", Title: "Distribution of latency over time", Description: "The more requests a cell has, the more it stands out."},
		Interval: o.Interval, Last: o.Last, Bands: bands, Marks: o.Marks, Stalls: o.Stalls,
	}
	return append(out, Plot{Picture: heat}), nil
}

// ofWhole are lines without the end of the window, whose time is too short for a lowest or highest value.
func ofWhole(lines []plots.TimeLine, whole render.Intervals) []plots.TimeLine {
	out := slices.Clone(lines)
	for i := range out {
		out[i].Values = out[i].Values[:len(whole.Points)]
	}
	return out
}

// each is a line with a value for each interval.
func each(label string, c render.Intervals, value func(i int) float64) (line plots.TimeLine) {
	line.Label = label
	for i := range c.Points {
		line.Values = append(line.Values, value(i))
	}
	return line
}

// trended is a line whose trend has the value of some neighbouring intervals together.
func trended(label string, c render.Intervals, value func(from, to int) float64) plots.TimeLine {
	line := each(label, c, func(i int) float64 { return value(i, i+1) })
	line.Trend = trendOf(len(c.Points), value)
	return line
}

// trendOf is none if there are few intervals.
func trendOf(intervals int, value func(from, to int) float64) (trend []float64) {
	const fewest, part = 12, 12
	if intervals < fewest {
		return nil
	}
	half := intervals / part
	for i := range intervals {
		trend = append(trend, value(max(0, i-half), min(i+half+1, intervals)))
	}
	return trend
}

// perSecond is a rate over neighbouring intervals. The last one can be shorter.
func perSecond(c render.Intervals, last time.Duration, from, to int, of func(results.Point) uint64) float64 {
	var n uint64
	for _, p := range c.Points[from:to] {
		n += of(p)
	}
	length := time.Duration(to-from) * c.Length
	if to == len(c.Points) {
		length += last - c.Length
	}
	return float64(n) / length.Seconds()
}

// medianOf is the median of the requests of neighbouring intervals: medians are not averaged.
func medianOf(c render.Intervals, from, to int) float64 {
	var all results.Histogram
	for i := from; i < min(to, len(c.Columns)); i++ {
		all.Merge(&c.Columns[i])
	}
	if v, known := all.Quantile(results.QuantileOf(spec.StatisticP50)); known {
		return float64(v.Microseconds())
	}
	return math.NaN()
}

func longestIn(p results.Point) float64 {
	if p.Succeeded == 0 {
		return math.NaN()
	}
	return float64(p.Longest.Microseconds())
}

// bandsOf are the latency bands of a heatmap: two for each doubling if all columns are fine enough, at most maxBands.
func bandsOf(c render.Intervals) (out []plots.Band) {
	const finest, maxBands = 1, 48
	schema := finest
	for i := range c.Columns {
		if c.Columns[i].Count() > 0 {
			schema = min(schema, c.Columns[i].Schema())
		}
	}
	counts := bandCounts(c, schema)
	if len(counts) == 0 {
		return nil
	}
	known := slices.Collect(maps.Keys(counts))
	lowest, highest := slices.Min(known), slices.Max(known)
	edge := func(bucket int) float64 { return 1e6 * math.Exp2(math.Ldexp(float64(bucket), -schema)) }
	for b := max(lowest, highest-maxBands+1); b <= highest; b++ {
		of := counts[b]
		if of == nil {
			of = make([]uint64, len(c.Points))
		}
		out = append(out, plots.Band{From: edge(b - 1), To: edge(b), Counts: of})
	}
	return out
}

// bandCounts are the requests of each bucket in each interval. The zero bucket counts as the lowest one.
func bandCounts(c render.Intervals, schema int) map[int][]uint64 {
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
		if n := column.ZeroCount(); n > 0 {
			add(results.ZeroBucket<<schema, n)
		}
		for bucket, n := range column.NativeBuckets() {
			add(bucket, n)
		}
	}
	return counts
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

// timeRows is the table behind a plot over time with equal intervals.
func timeRows(interval float64, lines []plots.TimeLine, unit plots.Unit) [][]string {
	rows := [][]string{{"from"}}
	for _, l := range lines {
		rows[0] = append(rows[0], l.Label)
	}
	for i := range lines[0].Values {
		row := []string{secondsText(float64(i) * interval)}
		for _, l := range lines {
			row = append(row, valueText(l, i, unit))
		}
		rows = append(rows, row)
	}
	return rows
}

func secondsText(at float64) string { return fmt.Sprintf("%.4g s", at) }

func valueText(l plots.TimeLine, i int, unit plots.Unit) string {
	if i >= len(l.Values) || math.IsNaN(l.Values[i]) {
		return "–"
	}
	return unit.Text(l.Values[i])
}
