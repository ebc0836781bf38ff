package plots

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot/vg/draw"
)

// Knee shows latency and throughput over the offered rate.
type Knee struct {
	About
	Points []KneePoint
	// Found is the highest rate that was confirmed, FirstMissed the lowest that missed an objective, and Ceiling the
	// greatest throughput of a closed loop, in requests per second; 0 is unknown.
	Found, FirstMissed, Ceiling float64
}

// KneePoint is one run at a rate.
type KneePoint struct {
	// Offered and Achieved are requests per second.
	Offered, Achieved float64
	// P50, P99 and P999 are microseconds; 0 is unknown.
	P50, P99, P999 float64
	// AtLeast: the latencies are lower bounds.
	AtLeast bool
	Verdict Verdict
	Label   string
}

// percentile is one line of latencies.
type percentile struct {
	label string
	of    func(KneePoint) float64
}

func percentiles() []percentile {
	return []percentile{
		{"p50", func(p KneePoint) float64 { return p.P50 }},
		{"p99", func(p KneePoint) float64 { return p.P99 }},
		{"p99.9", func(p KneePoint) float64 { return p.P999 }},
	}
}

// arrowRoom is the factor between a latency and the top of the arrow above it.
const arrowRoom = 1.5

// linearRates is how far rates may span on a linear axis.
const linearRates = 25

// SVG draws the plot.
func (k Knee) SVG() string {
	k.Points = k.known()
	if len(k.Points) == 0 {
		return k.noData()
	}
	x := k.rates()
	var panels []panel
	if latency := k.latency(x); latency.Plot != nil {
		panels = append(panels, latency)
	}
	panels = append(panels, k.throughput(x))
	s := sheet{About: k.About, keys: k.keys(), flags: k.flags(), panels: panels, below: "offered rate"}
	return s.svg()
}

// known are the points that can be drawn, by rate.
func (k Knee) known() (out []KneePoint) {
	for _, p := range k.Points {
		if v, ok := bounded(p.Offered); ok && v > 0 {
			p.Offered = v
			out = append(out, p)
		}
	}
	slices.SortStableFunc(out, func(a, b KneePoint) int { return cmp.Compare(a.Offered, b.Offered) })
	return out
}

func (k Knee) rates() scale {
	var e extent
	for _, p := range k.Points {
		e.addPositive(p.Offered)
	}
	e.addPositive(k.Found, k.FirstMissed, k.Ceiling)
	if e.max/e.least > linearRates {
		return e.logarithmic()
	}
	return e.fromZero()
}

// latency is the upper panel; it has no plot if no latency is known.
func (k Knee) latency(x scale) panel {
	var e extent
	for _, p := range k.Points {
		e.addPositive(p.P50, p.P99, p.P999)
		if p.AtLeast {
			e.addPositive(arrowRoom*p.P50, arrowRoom*p.P99, arrowRoom*p.P999)
		}
	}
	if !e.known {
		return panel{}
	}
	y := e.logarithmic()
	p := newPanel(200, "latency, log scale", rates)
	x.apply(&p.X, across(axisRoom).ticks(x, PerSecond.Text))
	y.apply(&p.Y, up(160).ticks(y, micros))
	p.Add(gridLines(p.Plot), layer(k.bracket))
	for i, q := range percentiles() {
		p.Add(layer(func(a area) { k.curve(a, x, y, i, q.label, q.of) }))
	}
	return p
}

// throughput is the lower panel: what was achieved, and a line where that is what was offered.
func (k Knee) throughput(x scale) panel {
	var e extent
	for _, p := range k.Points {
		e.addPositive(p.Achieved, p.Offered)
	}
	y := e.fromZero()
	if x.log {
		y = e.logarithmic()
	}
	p := newPanel(130, named("achieved rate", PerSecond, y), rates)
	x.apply(&p.X, across(axisRoom).ticks(x, PerSecond.Text))
	y.apply(&p.Y, up(90).ticks(y, PerSecond.Text))
	p.Add(gridLines(p.Plot), layer(k.bracket), layer(func(a area) {
		a.lines(equalStyle, [][]spot{k.equal()})
		k.curve(a, x, y, achievedSeries, "achieved", func(p KneePoint) float64 { return p.Achieved })
	}))
	return p
}

// achievedSeries is the series of the achieved rate; those before are of the percentiles.
const achievedSeries = 3

// equal is the line on which the achieved rate is the offered one. It is straight, because both axes have the same kind
// of scale.
func (k Knee) equal() []spot {
	first, last := k.Points[0].Offered, k.Points[len(k.Points)-1].Offered
	return []spot{{first, first}, {last, last}}
}

// curve draws the runs, and a line through their geometric mean at each rate.
func (k Knee) curve(a area, x, y scale, i int, label string, of func(KneePoint) float64) {
	var line []spot
	for from := 0; from < len(k.Points); {
		sum, n, rate := 0.0, 0.0, k.Points[from].Offered
		for ; from < len(k.Points) && k.Points[from].Offered == rate; from++ {
			if v, ok := bounded(of(k.Points[from])); ok && v > 0 {
				sum, n = sum+math.Log(v), n+1
			}
		}
		if n > 0 {
			line = append(line, spot{rate, math.Exp(sum / n)})
		}
	}
	a.lines(lineOf(i), stretches(line, x, y))
	for _, p := range k.Points {
		v, ok := bounded(of(p))
		if !ok || v <= 0 {
			continue
		}
		a.out.titled(p.title(label, v, i == achievedSeries), func() {
			p.Verdict.shape().draw(a.Canvas, p.Verdict.paint(), a.at(p.Offered, v))
			if p.AtLeast && i != achievedSeries {
				arrowUp.draw(a.Canvas, p.Verdict.paint(), a.at(p.Offered, v))
			}
		})
	}
}

// title is the readout of a point, for example "p99 at 2,000/s: 4.1ms, met".
func (p KneePoint) title(label string, v float64, isRate bool) string {
	value := micros(v)
	if isRate {
		value = PerSecond.Text(v)
	} else if p.AtLeast {
		value = "at least " + value
	}
	out := []string{label + " at " + PerSecond.Text(p.Offered) + ": " + value, verdictOfRun(p.Verdict)}
	if p.Label != "" {
		out = append(out, cut(cleaned(p.Label), 80))
	}
	return strings.Join(out, ", ")
}

func verdictOfRun(v Verdict) string {
	switch v {
	case Good:
		return "met"
	case Bad:
		return "missed"
	}
	return "unknown"
}

var equalStyle = draw.LineStyle{Color: axisPaint, Width: 1, Dashes: dashes(2)}

// bracket shows the rates between which the answer lies.
func (k Knee) bracket(a area) {
	if k.Found > 0 && k.FirstMissed > k.Found {
		a.fill(between, box(a.at(k.Found, 1).X, a.Min.Y, a.at(k.FirstMissed, 1).X, a.Max.Y))
	}
	for _, f := range k.flags() {
		a.upright(draw.LineStyle{Color: f.paint, Width: 1.2}, f.at)
	}
}

func (k Knee) flags() (flags []flag) {
	for _, f := range []flag{{k.Found, "found ", met}, {k.FirstMissed, "first missed ", missed}, {k.Ceiling, "ceiling ", axisPaint}} {
		if v, ok := bounded(f.at); ok && v > 0 {
			flags = append(flags, flag{at: v, label: f.label + PerSecond.Text(v), paint: f.paint})
		}
	}
	return flags
}

func (k Knee) keys() (keys []key) {
	for i, p := range percentiles() {
		if slices.ContainsFunc(k.Points, func(at KneePoint) bool { return p.of(at) > 0 }) {
			keys = append(keys, key{label: p.label, line: lineOf(i)})
		}
	}
	keys = append(keys, key{label: "achieved", line: lineOf(achievedSeries)}, key{label: "achieved = offered", line: equalStyle})
	for _, v := range []Verdict{Good, Bad, Open} {
		if slices.ContainsFunc(k.Points, func(p KneePoint) bool { return verdictOfRun(p.Verdict) == verdictOfRun(v) }) {
			keys = append(keys, key{label: verdictOfRun(v), shape: v.shape(), paint: v.paint()})
		}
	}
	if slices.ContainsFunc(k.Points, func(p KneePoint) bool { return p.AtLeast }) {
		keys = append(keys, key{label: "at least", shape: arrowUp, paint: unknown})
	}
	return keys
}
