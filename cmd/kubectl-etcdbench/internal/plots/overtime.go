package plots

import (
	"math"
	"slices"
	"strings"
)

// OverTime has lines over the seconds of the measured window.
type OverTime struct {
	About
	// Interval is in seconds, and Last those of the last interval if it is shorter.
	Interval, Last float64
	Lines          []TimeLine
	Unit           Unit
	Marks          []Mark
	// Stalls are the intervals in which requests were waiting and none ended.
	Stalls []bool
	// Across is what At has, if not the seconds of the window: for example the numbers of sessions.
	Across string
}

// TimeLine is one line.
type TimeLine struct {
	Label string
	// Values are NaN where they are unknown.
	Values []float64
	// At are the seconds of the values. Without it, value i is in the middle of interval i.
	At []float64
	// Trend is drawn as the line, if there is one. The values are faint points then.
	Trend []float64
}

// SVG draws the plot.
func (o OverTime) SVG() string {
	var values extent
	for _, l := range o.Lines {
		values.add(l.Values...)
	}
	if !values.known {
		return o.noData()
	}
	y := values.fromZero()
	if o.Unit.isDuration() {
		y = values.ofLatency()
	}
	w := o.window()
	p := newPanel(190, named("", o.Unit, y), w.kind())
	w.apply(p)
	y.apply(&p.Y, up(150).ticks(y, o.Unit.Text))
	p.Add(gridLines(p.Plot), layer(w.under))
	s := sheet{About: o.About, flags: w.flags(), panels: []panel{p}, below: w.below()}
	for i, l := range o.Lines {
		s.keys = append(s.keys, key{label: l.Label, line: lineOf(i)})
		drawn := l.Values
		if l.Trend != nil {
			drawn = l.Trend
			s.keys = append(s.keys, key{label: "each interval", shape: dot, paint: series(i)})
			p.Add(layer(func(a area) { a.points(series(i), w.spots(l, l.Values), w.scale, y) }))
		}
		p.Add(layer(func(a area) { a.lines(lineOf(i), stretches(w.spots(l, drawn), w.scale, y)) }))
	}
	s.keys = append(s.keys, w.keys()...)
	p.Add(layer(w.over), readout(o.readout(w)))
	return s.svg()
}

// named is what is written over a y axis.
func named(axis string, unit Unit, s scale) string {
	if axis == "" {
		axis = unit.axis()
	}
	if s.log {
		axis += ", log scale"
	}
	return fitted(axis, width/2)
}

func (o OverTime) window() window {
	intervals, end := len(o.Stalls), 0.0
	for _, l := range o.Lines {
		if l.At == nil {
			intervals = max(intervals, len(l.Values))
		}
		for _, at := range l.At[:min(len(l.At), len(l.Values))] {
			if v, ok := bounded(at); ok {
				end = max(end, v)
			}
		}
	}
	w := newWindow(o.Interval, o.Last, intervals, end, o.Marks, o.Stalls)
	w.across = o.Across
	w.intervals = max(w.intervals, int(math.Ceil(min(end/w.interval, 100*maxColumns))))
	return w
}

// readout has a column per interval; if all lines say when their values are, a column around each of these times.
func (o OverTime) readout(w window) []column {
	var times []float64
	for _, l := range o.Lines {
		if l.At == nil {
			return w.columns(len(o.Lines), func(i int) string {
				return o.values(func(l TimeLine) float64 { return l.in(i, w.interval) })
			})
		}
		if known := l.times(w.scale.max); len(known) > len(times) {
			times = known
		}
	}
	return w.around(len(o.Lines), times, func(from, to float64) string {
		return o.values(func(l TimeLine) float64 { return l.nearest((from+to)/2, to-from) })
	})
}

// times are those of the values, in order, within the axis.
func (l TimeLine) times(end float64) (out []float64) {
	for _, at := range l.At[:min(len(l.At), len(l.Values))] {
		if at >= 0 && at <= end {
			out = append(out, at)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// nearest is the known value that is nearest to a time, at most this far from it; or NaN.
func (l TimeLine) nearest(to, within float64) float64 {
	found, distance := math.NaN(), within
	for i, at := range l.At[:min(len(l.At), len(l.Values))] {
		if _, ok := bounded(l.Values[i]); ok && math.Abs(at-to) <= distance {
			found, distance = l.Values[i], math.Abs(at-to)
		}
	}
	return found
}

// values are those of a column, for its readout.
func (o OverTime) values(of func(TimeLine) float64) string {
	const lines, characters = 12, 24
	var out []string
	for _, l := range o.Lines[:min(len(o.Lines), lines)] {
		if v, ok := bounded(of(l)); ok {
			out = append(out, strings.TrimSpace(cut(cleaned(l.Label), characters)+" "+o.Unit.Text(v)))
		}
	}
	if len(out) == 0 {
		return "unknown"
	}
	return strings.Join(out, ", ")
}

// in is the last value within an interval, or NaN.
func (l TimeLine) in(i int, interval float64) float64 {
	if l.At == nil {
		if i < len(l.Values) {
			return l.Values[i]
		}
		return math.NaN()
	}
	found := math.NaN()
	for k, at := range l.At[:min(len(l.At), len(l.Values))] {
		if at >= float64(i)*interval && at < float64(i+1)*interval {
			found = l.Values[k]
		}
	}
	return found
}
