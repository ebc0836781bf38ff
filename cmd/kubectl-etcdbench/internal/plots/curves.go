package plots

import (
	"cmp"
	"slices"
	"strings"

	"gonum.org/v1/plot/vg/draw"
)

// Curves has lines over a number, for example over how many clients a load had.
type Curves struct {
	About
	Lines []CurveLine
	// Unit is that of the values, Axis what they are, and Over what the number is.
	Unit       Unit
	Axis, Over string
}

// CurveLine is one line.
type CurveLine struct {
	Label  string
	Points []CurvePoint
	// Trend has a value for each point, and is drawn as the line. The points are faint then.
	Trend []float64
}

// CurvePoint is a value over a number. Low and High are the ends of the line through it, if they differ. The marker of an Open
// one is a ring.
type CurvePoint struct {
	At, Value, Low, High float64
	Open                 bool
}

// manyPoints is how many points a line with markers has at most.
const manyPoints = 9

// SVG draws the plot. The horizontal axis is logarithmic if the numbers span more than a decade.
func (c Curves) SVG() string {
	var numbers, values extent
	for _, l := range c.Lines {
		for _, p := range l.Points {
			if _, ok := bounded(p.Value); ok {
				numbers.add(p.At)
				values.add(p.Value, p.Low, p.High)
			}
		}
	}
	if !values.known {
		return c.noData()
	}
	x, y := numbers.ofLatency(), values.fromZero()
	if c.Unit.isDuration() {
		y = values.ofLatency()
	}
	p := newPanel(190, named(c.Axis, c.Unit, y), plainNumbers)
	x.apply(&p.X, across(axisRoom).ticks(x, digits))
	y.apply(&p.Y, up(150).ticks(y, c.Unit.Text))
	p.Add(gridLines(p.Plot))
	s := sheet{About: c.About, panels: []panel{p}, below: c.Over}
	for i, l := range c.Lines {
		s.keys = append(s.keys, key{label: l.Label, line: lineOf(i)})
		p.Add(layer(func(a area) { l.draw(a, x, y, i) }))
	}
	p.Add(readout(c.columns(x)))
	return s.svg()
}

// draw draws a line, its markers, and the ends of its points.
func (l CurveLine) draw(a area, x, y scale, i int) {
	var line, trend []spot
	for k, p := range l.Points {
		line = append(line, spot{p.At, p.Value})
		if k < len(l.Trend) {
			trend = append(trend, spot{p.At, l.Trend[k]})
		}
	}
	style := lineOf(i)
	if len(trend) > 0 {
		a.points(series(i), line, x, y)
		a.lines(style, stretches(trend, x, y))
		return
	}
	a.lines(style, stretches(line, x, y))
	if len(l.Points) > manyPoints {
		return
	}
	for _, p := range l.Points {
		if !x.has(p.At) || !y.has(p.Value) {
			continue
		}
		if p.Low < p.High && y.has(p.Low) && y.has(p.High) {
			from, to := a.at(p.At, p.Low), a.at(p.At, p.High)
			a.StrokeLine2(draw.LineStyle{Color: style.Color, Width: 1}, from.X, from.Y, to.X, to.Y)
		}
		marker := square
		if p.Open {
			marker = ring
		}
		a.out.titled(l.Label, func() { marker.draw(a.Canvas, style.Color.(Paint), a.at(p.At, p.Value)) })
	}
}

// columns read the lines around each number.
func (c Curves) columns(x scale) (out []column) {
	const characters = 24
	var all []float64
	for _, l := range c.Lines {
		for _, p := range l.Points {
			if x.has(p.At) {
				all = append(all, p.At)
			}
		}
	}
	slices.Sort(all)
	all = slices.Compact(all)
	for i, at := range all {
		col := column{from: x.min, to: x.max}
		if i > 0 {
			col.from = (all[i-1] + at) / 2
		}
		if i+1 < len(all) {
			col.to = (at + all[i+1]) / 2
		}
		var values []string
		for _, l := range c.Lines {
			k := slices.IndexFunc(l.Points, func(p CurvePoint) bool { return cmp.Compare(p.At, at) == 0 })
			if k < 0 {
				continue
			}
			if v, ok := bounded(l.Points[k].Value); ok {
				values = append(values, cut(cleaned(l.Label), characters)+" "+c.Unit.Text(v))
			}
		}
		col.text = digits(at) + ": " + strings.Join(values, ", ")
		out = append(out, col)
	}
	return out
}
