package plots

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Spectrum is latency over percentile: x is 1/(1-p) on a logarithmic axis, so that the tail has as much space as the
// rest.
type Spectrum struct {
	About
	Lines []SpectrumLine
	// Ratio: values are ratios to the baseline, on a linear axis with a line at 1.
	Ratio bool
	// Groups are the names of the groups; without one, the group has the label of its first line.
	Groups map[int]string
}

// SpectrumLine is one line, for example one repeat.
type SpectrumLine struct {
	Label string
	// Group: lines of one group have the same colour and the same dashes.
	Group  int
	Points []SpectrumPoint
}

// SpectrumPoint has a percentile of at least 0 and below 1, and microseconds or a ratio.
type SpectrumPoint struct {
	Percentile float64
	Value      float64
}

// SVG draws the plot.
func (s Spectrum) SVG() string {
	lines, values, tails := s.lines()
	if !values.known {
		return s.noData()
	}
	x := scale{min: 1, max: max(10, tails.max), log: true}
	y, format, above := values.ofLatency(), micros, named("latency", Microseconds, values.ofLatency())
	if s.Ratio {
		y, format, above = values.including(1), times, "ratio to the baseline"
	}
	p := newPanel(210, above, percentages)
	x.apply(&p.X, across(width-90-max(widthOf(format(y.min)), widthOf(format(y.max)))).percentileTicks(x))
	y.apply(&p.Y, up(170).ticks(y, format))
	p.Add(gridLines(p.Plot))
	if s.Ratio {
		p.Add(layer(func(a area) { a.across(draw.LineStyle{Color: ink, Width: 1}, 1) }))
	}
	out := sheet{About: s.About, panels: []panel{p}, below: "percentile of requests"}
	for _, group := range s.groups() {
		style := lineOf(group)
		out.keys = append(out.keys, key{label: s.name(group), line: style})
		for k, l := range s.Lines {
			if l.Group == group {
				p.Add(layer(func(a area) { a.lines(thin(style, len(s.Lines)), stretches(lines[k], x, y)) }))
			}
		}
	}
	p.Add(readout(s.columns(x, y, lines, format)))
	return out.svg()
}

// thin is narrower if there are many lines.
func thin(style draw.LineStyle, lines int) draw.LineStyle {
	if lines > 4 {
		style.Width = vg.Length(1.1)
	}
	return style
}

// lines are in the values of the axes, by percentile.
func (s Spectrum) lines() (lines [][]spot, values, tails extent) {
	for _, l := range s.Lines {
		var line []spot
		for _, p := range l.Points {
			v, ok := bounded(p.Value)
			if !ok || !s.Ratio && v <= 0 || !(p.Percentile >= 0 && p.Percentile < 1) {
				continue
			}
			line = append(line, spot{x: tail(p.Percentile), y: v})
			values.add(v)
			tails.add(tail(p.Percentile))
		}
		slices.SortStableFunc(line, func(a, b spot) int { return cmp.Compare(a.x, b.x) })
		lines = append(lines, line)
	}
	return lines, values, tails
}

// groups in the order in which they first appear.
func (s Spectrum) groups() (groups []int) {
	for _, l := range s.Lines {
		if !slices.Contains(groups, l.Group) {
			groups = append(groups, l.Group)
		}
	}
	return groups
}

func (s Spectrum) name(group int) string {
	if name := s.Groups[group]; name != "" {
		return name
	}
	for _, l := range s.Lines {
		if l.Group == group {
			return l.Label
		}
	}
	return ""
}

// columns read the lines at percentiles that are often named.
func (s Spectrum) columns(x, y scale, lines [][]spot, format func(float64) string) (out []column) {
	const most, characters = 12, 24
	percentiles := []float64{0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 0.995, 0.999, 0.9995, 0.9999, 0.99999}
	for i, p := range percentiles {
		c := column{from: tail(0), to: x.max}
		if i > 0 {
			c.from = out[len(out)-1].to
		}
		if i+1 < len(percentiles) {
			c.to = min(x.max, tail((p+percentiles[i+1])/2))
		}
		var values []string
		for k, l := range s.Lines {
			if v, ok := valueAt(lines[k], tail(p)); ok && len(values) < most && y.has(v) {
				values = append(values, cut(cleaned(l.Label), characters)+" "+format(v))
			}
		}
		if c.from >= x.max {
			break
		}
		c.text = fmt.Sprintf("%s %%: %s", strconv.FormatFloat(p*100, 'g', 7, 64), strings.Join(values, ", "))
		if len(values) == 0 {
			c.text = strings.TrimSuffix(c.text, " ") + " unknown"
		}
		out = append(out, c)
	}
	return out
}

// valueAt is between the two points of a line around x; a line that does not reach x has none.
func valueAt(line []spot, x float64) (float64, bool) {
	for i, s := range line {
		switch {
		case s.x < x*(1-1e-9):
		case s.x <= x*(1+1e-9):
			return s.y, true
		case i == 0:
			return 0, false
		default:
			before := line[i-1]
			return before.y + (s.y-before.y)*(x-before.x)/(s.x-before.x), true
		}
	}
	return 0, false
}
