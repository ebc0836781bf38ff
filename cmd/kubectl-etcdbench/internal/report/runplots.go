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

func coursePlots(prefix string, run *v1alpha1.EtcdBenchmark, c render.Intervals) []Plot {
	if len(c.Points) == 0 {
		return nil
	}
	marks, length := marksOf(run), c.Length.Seconds()
	var succeeded, failed, p50, tail []float64
	anyFailed := false
	for i, p := range c.Points {
		succeeded, failed = append(succeeded, float64(p.Succeeded)/length), append(failed, float64(p.Failed)/length)
		p50, tail = append(p50, c.Percentile(i, spec.StatisticP50)), append(tail, c.Percentile(i, c.Tail))
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
				Description: fmt.Sprintf("Responses per second over the measured window, in intervals of %g s.", length) + rangesOf(lines, plots.PerSecond),
			},
			Interval: length, Lines: lines, Unit: plots.PerSecond, Marks: marks, Stalls: c.Stalled,
		},
		Rows: timeRows(length, lines, plots.PerSecond),
	}}
	bands := bandsOf(c)
	if len(bands) == 0 {
		return out
	}
	percentiles := []plots.TimeLine{{Label: "p50", Values: p50}, {Label: percentileName(c.Tail), Values: tail}}
	return append(out, Plot{
		Picture: plots.Heatmap{
			About: plots.About{
				ID: prefix + "heatmap", Title: "Latency over time",
				Description: "Each column is an interval; the colour of a cell says how many of its requests have " +
					"this latency (see the key). The lines are p50 and " + percentileName(c.Tail) + ", the highest percentile for which " +
					"the intervals have enough requests." + rangesOf(percentiles, plots.Microseconds),
			},
			Interval: length, Bands: bands, Lines: percentiles, Marks: marks, Stalls: c.Stalled,
		},
		Rows: timeRows(length, percentiles, plots.Microseconds),
	})
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
