package plots

import (
	"math"
	"slices"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Forest shows the changes of comparisons with their intervals and tolerances, one row each.
type Forest struct {
	About
	Rows []ForestRow
}

// ForestRow is one comparison. Changes are relative: 0.1 is 10 % more.
type ForestRow struct {
	Label             string
	Change, Low, High float64
	HasInterval       bool
	// Limit is where the tolerance ends: +0.1 if higher is worse, -0.05 if lower is worse.
	Limit float64
	// Verdict decides the colour and the shape of the marker.
	Verdict Verdict
}

// text is the row in words.
func (r ForestRow) text() string {
	if _, ok := bounded(r.Change); !ok {
		return "unknown"
	}
	if r.HasInterval {
		return change(r.Change) + " (" + change(r.Low) + " to " + change(r.High) + ")"
	}
	return change(r.Change)
}

// within and beyond are what verdicts mean: an interval beyond zero can be within the tolerance.
const within, beyond = "within the tolerance", "beyond the tolerance"

func (r ForestRow) title() string {
	verdict := map[Verdict]string{Good: within + " of ", Bad: beyond + " of "}[r.Verdict]
	if verdict == "" {
		verdict = "undecided, tolerance "
	}
	return cleaned(r.Label) + ": " + r.text() + ", " + verdict + change(r.Limit)
}

// SVG draws the plot.
func (f Forest) SVG() string {
	f.Rows = f.bounded()
	var known extent
	for _, r := range f.Rows {
		known.add(r.Change)
	}
	if !known.known {
		return f.noData()
	}
	var table rows
	for _, r := range f.Rows {
		table.labels, table.texts, table.titles = append(table.labels, r.Label), append(table.texts, r.text()), append(table.titles, r.title())
	}
	const head = "change (95 % interval)"
	p := table.panel()
	x := f.view()
	x.apply(&p.X, table.across(x, change).ticks(x, change))
	p.Add(xGrid(p.Plot), layer(func(a area) { f.draw(a, x, table) }), layer(table.words))
	s := sheet{About: f.About, panels: []panel{p}, head: head, below: "change against the baseline", keys: []key{
		{label: within, shape: Good.shape(), paint: Good.paint()},
		{label: beyond, shape: Bad.shape(), paint: Bad.paint()},
		{label: "undecided", shape: Open.shape(), paint: Open.paint()},
		{label: "tolerance", boxes: []Paint{tolerance}},
	}}
	return s.svg()
}

// bounded are the rows with finite numbers; an unknown change stays NaN.
func (f Forest) bounded() []ForestRow {
	out := slices.Clone(f.Rows)
	for i := range out {
		r := &out[i]
		if _, ok := bounded(r.Change); !ok {
			r.Change, r.HasInterval = math.NaN(), false
		}
		for _, v := range []*float64{&r.Change, &r.Low, &r.High, &r.Limit} {
			if !math.IsNaN(*v) {
				*v = max(-1e9, min(*v, 1e9))
			}
		}
		if math.IsNaN(r.Low) || math.IsNaN(r.High) {
			r.HasInterval = false
		}
		if math.IsNaN(r.Limit) {
			r.Limit = 0
		}
	}
	return out
}

// rangeOfMedian limits the range to this many times the median of changes and tolerances.
const rangeOfMedian = 8

// view is the range that is drawn. A few values that are far from the rest do not decide it; they get an arrow.
func (f Forest) view() scale {
	var sizes []float64
	var all extent
	for _, r := range f.Rows {
		if size := max(math.Abs(r.Change), math.Abs(r.Limit)); size > 0 {
			sizes = append(sizes, size)
		}
		all.add(r.Change, r.Limit)
		if r.HasInterval {
			all.add(r.Low, r.High)
		}
	}
	slices.Sort(sizes)
	if len(sizes) > 0 {
		furthest := rangeOfMedian * sizes[len(sizes)/2]
		all.min, all.max = max(all.min, -furthest), min(all.max, furthest)
	}
	return all.fromZero()
}

func (f Forest) draw(a area, x scale, table rows) {
	const half = markHeight / 2
	for i, r := range f.Rows {
		y := a.y(table.y(i))
		a.fill(tolerance, box(a.at(0, 0).X, y-half, a.at(r.Limit, 0).X, y+half))
	}
	a.upright(draw.LineStyle{Color: ink, Width: 1}, 0)
	for i, r := range f.Rows {
		y, paint := table.y(i), r.Verdict.paint()
		limit := a.at(r.Limit, y)
		a.StrokeLine2(draw.LineStyle{Color: axisPaint, Width: 2}, limit.X, limit.Y-half, limit.X, limit.Y+half)
		if math.IsNaN(r.Change) {
			continue
		}
		if r.HasInterval {
			a.interval(draw.LineStyle{Color: paint, Width: 2}, a.at(r.Low, y), a.at(r.High, y))
		}
		switch at := a.at(r.Change, y); {
		case r.Change > x.max:
			arrowRight.draw(a.Canvas, paint, at.Add(point(-5, 0)))
		case r.Change < x.min:
			arrowLeft.draw(a.Canvas, paint, at.Add(point(5, 0)))
		default:
			r.Verdict.shape().draw(a.Canvas, paint, at)
		}
	}
}

// interval is a line with a short stroke at both ends.
func (a area) interval(style draw.LineStyle, from, to vg.Point) {
	const cap = 4
	a.StrokeLine2(style, from.X, from.Y, to.X, to.Y)
	a.StrokeLine2(style, from.X, from.Y-cap, from.X, from.Y+cap)
	a.StrokeLine2(style, to.X, to.Y-cap, to.X, to.Y+cap)
}
