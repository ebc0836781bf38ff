package report

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/cmd/kubectl-etcdbench/internal/plots"
	"github.com/etcdbench/etcd-benchmark-operator/internal/benchmark"
	"github.com/etcdbench/etcd-benchmark-operator/internal/render"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
	"github.com/etcdbench/etcd-benchmark-operator/internal/suite"
)

// bestRun is the run of a series with the highest throughput, of those whose numbers can be compared if there are any, and its
// details.
type bestRun struct {
	label   string
	run     *v1alpha1.EtcdBenchmark
	details benchmark.Detail
}

// bestRuns are those of each series of a suite.
func bestRuns(d *Document) (out []bestRun) {
	for _, of := range seriesOf(d.Suite) {
		var best bestRun
		var highest float64
		var report Run
		var valid bool
		for _, cell := range of.cells {
			for round := int32(1); round <= lastRound(d.Suite); round++ {
				r, ran := suite.Counted(d.Suite.Status.Results, cell.Name, round)
				run := d.run(r.Name)
				if !ran || run.Object == nil || run.Object.Status.Summary == nil || len(run.Report) == 0 {
					continue
				}
				v, known := throughputOf(run)
				if better := r.Invalid == "" && !valid || (r.Invalid == "") == valid && v > highest; known && better {
					highest, report, valid = v, run, r.Invalid == ""
					best = bestRun{label: fmt.Sprintf("%s, %d clients", of.label, cell.Load.Load.Clients), run: run.Object}
				}
			}
		}
		if best.run != nil {
			best.details = report.detail()
			out = append(out, best)
		}
	}
	return out
}

// ofBest explains the lines of bestPlots.
const ofBest = "A line for each: its run with the highest throughput. Where each request writes a new key, the requests so far are the keys of the store."

// bestPlots are the distributions of the best run of each series, and how they changed as their requests added up.
func bestPlots(d *Document) (out []Plot) {
	all := bestRuns(d)
	if len(all) < 2 {
		return nil
	}
	var lines []spectrum
	for i, b := range all {
		for _, operation := range slices.Sorted(maps.Keys(b.details.Operations)) {
			if r := b.details.Operations[operation]; !operation.IsEvent() {
				lines = append(lines, spectrum{label: b.label, group: i, count: withFailed(r).count, points: curve(withFailed(r))})
				break
			}
		}
	}
	if len(lines) > 0 {
		out = append(out, spectrumPlot(plots.About{
			ID: "best-spectrum", Title: "Latency by percentile at the highest throughput of each",
			Description: "Quartiles are at 25 %, 50 % and 75 %. Failed requests rank above all answered ones. " + whereLinesEnd + tailsOf(lines),
		}, lines, nil))
	}
	for _, g := range growths {
		c := plots.Curves{About: plots.About{ID: "growth-" + g.id, Title: g.title + " as requests add up", Description: g.description}, Unit: g.unit, Over: "successful requests so far"}
		rows := [][]string{{"series", "requests so far", "value"}}
		for _, b := range all {
			if b.details.Course == nil {
				continue
			}
			line := g.of(b)
			line.Label = b.label
			for _, p := range line.Points {
				rows = append(rows, []string{b.label, plots.Count.Text(p.At), g.unit.Text(p.Value)})
			}
			if len(line.Points) >= fewestPoints {
				c.Lines = append(c.Lines, line)
			}
		}
		if len(c.Lines) > 0 {
			out = append(out, Plot{Picture: c, Rows: rows})
		}
	}
	return out
}

// growths are drawn over how many requests have succeeded: with writes of new keys, that is how many keys there are.
var growths = []struct {
	id, title, description string
	unit                   plots.Unit
	of                     func(bestRun) plots.CurveLine
}{
	{"throughput", "Throughput", "Successful requests per second.", plots.PerSecond, func(b bestRun) plots.CurveLine {
		return b.trended(func(c render.Intervals, last time.Duration, from, to int) float64 {
			return perSecond(c, last, from, to, func(p results.Point) uint64 { return p.Succeeded })
		})
	}},
	{"p50", "Median latency", "Of the requests that ended in each interval.", plots.Microseconds, func(b bestRun) plots.CurveLine {
		return b.trended(func(c render.Intervals, _ time.Duration, from, to int) float64 { return medianOf(c, from, to) })
	}},
	{"tail", "Tail of latency", "p99 of the requests that ended in each interval; p90 where they are few.", plots.Microseconds, func(b bestRun) plots.CurveLine {
		return b.intervals(func(c render.Intervals, _ time.Duration, i int) float64 { return c.Percentile(i, c.Tail) })
	}},
	{"memory", "Resident memory of all members", "As for the highest memory above.", plots.Bytes, bestRun.memory},
}

// course is that of the run with the end of its window, and the length of that.
func (b bestRun) course() (render.Intervals, time.Duration) {
	return courseOf(b.run, b.details).WithRest()
}

// intervals are the values of the run's intervals, at how many requests had succeeded at their end.
func (b bestRun) intervals(value func(c render.Intervals, last time.Duration, i int) float64) (line plots.CurveLine) {
	c, last := b.course()
	sum := 0.0
	for i, p := range c.Points {
		sum += float64(p.Succeeded)
		if v := value(c, last, i); !math.IsNaN(v) && sum > 0 {
			line.Points = append(line.Points, plots.CurvePoint{At: sum, Value: v})
		}
	}
	return line
}

// trended also has the value of some neighbouring intervals together. Without a value for each interval, it has no trend.
func (b bestRun) trended(value func(c render.Intervals, last time.Duration, from, to int) float64) plots.CurveLine {
	line := b.intervals(func(c render.Intervals, last time.Duration, i int) float64 { return value(c, last, i, i+1) })
	c, last := b.course()
	if len(line.Points) == len(c.Points) {
		line.Trend = trendOf(len(c.Points), func(from, to int) float64 { return value(c, last, from, to) })
	}
	return line
}

// together is how far apart the samples of members may be that were taken together, in seconds.
const together = 1

// memory adds up what the members had at each sample of the first one.
func (b bestRun) memory() (line plots.CurveLine) {
	c, last := b.course()
	var lines []plots.TimeLine
	for _, id := range slices.Sorted(maps.Keys(b.details.Course.Samples)) {
		if s := b.details.Course.Samples[id]; s != nil {
			lines = append(lines, gauge(s, results.FigureMemoryNowBytes))
		}
	}
	if len(lines) == 0 || c.Length <= 0 {
		return line
	}
	for i := range lines[0].At {
		at, sum := lines[0].At[i], 0.0
		for _, l := range lines {
			v := math.NaN()
			// Samples of members are taken together. One that misses a sample is not added at another time.
			if i < len(l.Values) && math.Abs(l.At[i]-at) < together {
				v = l.Values[i]
			}
			sum += v
		}
		if n := succeededUntil(c, last, at); !math.IsNaN(sum) && n > 0 {
			line.Points = append(line.Points, plots.CurvePoint{At: n, Value: sum})
		}
	}
	return line
}

// succeededUntil is how many requests had succeeded at a second of the window.
func succeededUntil(c render.Intervals, last time.Duration, at float64) (n float64) {
	for i, p := range c.Points {
		length := c.Length.Seconds()
		share := at/length - float64(i)
		if i == len(c.Points)-1 {
			share *= length / last.Seconds()
		}
		n += max(0, min(share, 1)) * float64(p.Succeeded)
	}
	return n
}
