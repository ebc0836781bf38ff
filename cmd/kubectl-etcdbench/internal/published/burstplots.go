package main

import (
	"fmt"
	"math"
	"strings"

	"github.com/etcdbench/etcd-benchmark-operator/cmd/kubectl-etcdbench/internal/plots"
	"github.com/etcdbench/etcd-benchmark-operator/cmd/kubectl-etcdbench/internal/report"
	"github.com/etcdbench/etcd-benchmark-operator/internal/benchmark"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// curve is a line of a picture, over bursts that were measured.
func curve(label string, points []plots.CurvePoint) plots.CurveLine {
	return plots.CurveLine{Label: label, Points: points}
}

// curves draws lines that have points; nothing if none has.
func curves(id, title, description, over string, unit plots.Unit, lines ...plots.CurveLine) []report.Plot {
	c := plots.Curves{About: plots.About{ID: id, Title: title, Description: description}, Unit: unit, Over: over}
	rows := [][]string{{"line", over, "value"}}
	for _, l := range lines {
		for _, p := range l.Points {
			rows = append(rows, []string{l.Label, fmt.Sprintf("%.4g", p.At), unit.Text(p.Value)})
		}
		if len(l.Points) > 0 {
			c.Lines = append(c.Lines, l)
		}
	}
	if len(c.Lines) == 0 {
		return nil
	}
	return []report.Plot{{Picture: c, Rows: rows}}
}

const oneMachine = "All members and processes were on one machine. A ring: the load generator was the limit."

func fragmentedPlots(m measured) []report.Plot {
	var points []plots.CurvePoint
	for _, total := range totals {
		if b := m.burstOf(fragmentedSuite, fmt.Sprintf("total-%dk", total)); b.why == "" && b.last > 0 {
			points = append(points, plots.CurvePoint{At: float64(b.parameters), Value: b.last / 1e6, Open: b.doubt})
		}
	}
	return curves("fragmented-time", "Time to pull parameters, fragmented", "Until the last process has all, at one server. "+oneMachine, "parameters in all", plots.Seconds, curve("Fragmented", points))
}

func layoutsPlots(m measured) (out []report.Plot) {
	over := func(parameters int, at func(int) float64, value func(burst) float64) (lines []plots.CurveLine) {
		for _, layout := range layouts {
			var points []plots.CurvePoint
			for _, n := range servers {
				if b := m.burstOf(layoutsSuite, layoutCell(n, layout, parameters)); b.why == "" && b.last > 0 {
					points = append(points, plots.CurvePoint{At: at(n), Value: value(b) / 1e6, Open: b.doubt})
				}
			}
			lines = append(lines, curve(layout, points))
		}
		return lines
	}
	number := func(n int) float64 { return float64(n) }
	inverse := func(n int) float64 { return 1 / float64(n) }
	last, mean := func(b burst) float64 { return b.last }, func(b burst) float64 { return b.mean }
	for _, parameters := range parametersEach {
		out = append(out, curves(fmt.Sprintf("layouts-%d", parameters), fmt.Sprintf("Time to pull %d parameters each, by layout and servers", parameters),
			"Until the last process has all. "+oneMachine, "servers", plots.Seconds, over(parameters, number, last)...)...)
	}
	out = append(out, curves("inverse-last", "Time over 1/servers", "Until the last process has 100 parameters. "+oneMachine, "1/servers", plots.Seconds, over(100, inverse, last)...)...)
	out = append(out, curves("inverse-mean", "Mean time per process over 1/servers", "100 parameters each. "+oneMachine, "1/servers", plots.Seconds, over(100, inverse, mean)...)...)
	return append(out, coursePlots(m)...)
}

func overheadPlots(m measured) []report.Plot {
	b := plots.Bars{About: plots.About{ID: "overhead-bars", Title: "Overhead of responses", Description: "How much longer the bodies are than the values in them."}, Unit: plots.Percent}
	rows := [][]string{{"layout", "overhead"}}
	for _, o := range overheads {
		for _, parameters := range parametersEach {
			for class, api := range []string{"v2", "v3"} {
				found := m.burstOf(overheadSuite, overheadCell(o.layout, parameters, api))
				if found.why != "" {
					continue
				}
				label := fmt.Sprintf("%s, %d, %s", o.layout, parameters, api)
				b.Rows = append(b.Rows, plots.BarRow{Label: label, Value: found.summary.BodyOverheadPercent.Float64(), Class: class})
				rows = append(rows, []string{label, overheadText(found)})
			}
		}
	}
	return drawn(b, rows)
}

func drawn(b plots.Bars, rows [][]string) []report.Plot {
	if len(b.Rows) == 0 {
		return nil
	}
	return []report.Plot{{Picture: b, Rows: rows}}
}

// timeoutsPlots are a picture for each time-out.
func timeoutsPlots(m measured) (out []report.Plot) {
	for _, wait := range waits {
		b := plots.Bars{About: plots.About{ID: "timeouts-" + wait.cell, Title: "Time-outs per process, after " + wait.text, Description: "How many processes had how many time-outs."}, Unit: plots.Count, Axis: "processes"}
		rows := [][]string{{"layout, time-outs", "processes"}}
		for class, layout := range layouts {
			for _, c := range m.burstOf(timeoutsSuite, strings.ToLower(layout)+"-"+wait.cell).summary.Timeouts {
				label := fmt.Sprintf("%s, %d", layout, c.From)
				if c.To != nil && *c.To > c.From {
					label += fmt.Sprintf(" to %d", *c.To)
				}
				b.Rows = append(b.Rows, plots.BarRow{Label: label, Value: float64(c.Processes), Class: class})
				rows = append(rows, []string{label, fmt.Sprint(c.Processes)})
			}
		}
		out = append(out, drawn(b, rows)...)
	}
	return out
}

// courseOf is the details of a run, and its timeline's interval in seconds; false without them.
func (m measured) courseOf(cell string) (detail benchmark.Detail, ok bool) {
	r := m.runOf(courseSuite, cell)
	if r == nil || len(r.Report) == 0 {
		return detail, false
	}
	detail, err := benchmark.ReadReport(r.Report)
	return detail, err == nil && detail.Course != nil
}

// courseFigures are what is drawn over the time of a burst.
var courseFigures = []struct {
	id, title, about string
	unit             plots.Unit
	of               func(benchmark.Detail) plots.TimeLine
}{
	{"cpu", "Processors that the server used", "As the kernel counts them, in hundredths of a second.", plots.Count, processorsOver},
	{"received", "Bytes per second that the server received", "As the processes counted what they sent.", plots.Bytes, carriedOver(func(b results.Bodies) uint64 { return b.Sent })},
	{"sent", "Bytes per second that the server sent", "As the processes counted what they received.", plots.Bytes, carriedOver(func(b results.Bodies) uint64 { return b.Received })},
}

// coursePlots are processors, and bytes received and sent, over the time of a burst at one server. Fragmented takes much longer
// than the others.
func coursePlots(m measured) (out []report.Plot) {
	for _, together := range [][]string{{"Tree", "Blob"}, {"Fragmented"}} {
		for _, f := range courseFigures {
			var lines []plots.TimeLine
			for _, layout := range together {
				if d, ok := m.courseOf(strings.ToLower(layout)); ok {
					line := f.of(d)
					line.Label = layout
					lines = append(lines, line)
				}
			}
			if len(lines) == 0 {
				continue
			}
			about := plots.About{
				ID: "course-" + f.id + "-" + strings.ToLower(together[0]), Title: f.title + ": " + strings.ToLower(strings.Join(together, " and ")),
				Description: "One server, 100 parameters each, in steps of 0.1 s or what the report keeps. " + f.about,
			}
			out = append(out, report.Plot{Picture: plots.OverTime{About: about, Lines: lines, Unit: f.unit}, Rows: timeRows(lines, f.unit)})
		}
	}
	return out
}

// processorsOver is of the one member.
func processorsOver(d benchmark.Detail) (line plots.TimeLine) {
	for _, s := range d.Course.Samples {
		line = report.Rates(s, results.FigureCPUSeconds)
	}
	return line
}

// carriedOver is the bytes per second of one direction.
func carriedOver(of func(results.Bodies) uint64) func(benchmark.Detail) plots.TimeLine {
	return func(d benchmark.Detail) (line plots.TimeLine) {
		seconds := d.Course.Timeline.Interval.Seconds()
		for i, p := range d.Course.Timeline.Points {
			line.At, line.Values = append(line.At, (float64(i)+0.5)*seconds), append(line.Values, float64(of(p.Carried))/seconds)
		}
		return line
	}
}

// timeRows are the numbers of lines over time.
func timeRows(lines []plots.TimeLine, unit plots.Unit) [][]string {
	rows := [][]string{{"line", "seconds", "value"}}
	for _, l := range lines {
		for i, v := range l.Values {
			if !math.IsNaN(v) {
				rows = append(rows, []string{l.Label, fmt.Sprintf("%.2f", l.At[i]), unit.Text(v)})
			}
		}
	}
	return rows
}
