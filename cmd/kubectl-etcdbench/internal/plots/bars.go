package plots

import (
	"slices"

	"gonum.org/v1/plot/vg/draw"
)

// Bars has one horizontal bar per row, with an error bar.
type Bars struct {
	About
	Unit Unit
	Rows []BarRow
	// Axis is what the values are; without it, the unit is named.
	Axis string
}

// BarRow is one bar.
type BarRow struct {
	Label string
	// Low and High are the ends of the error bar; there is none if they are equal.
	Value, Low, High float64
	// Missing is why there is no value; empty if there is one.
	Missing string
	// Class decides the colour.
	Class int
}

// hasSpread reports whether the row has an error bar.
func (r BarRow) hasSpread() bool {
	_, low := bounded(r.Low)
	_, high := bounded(r.High)
	return low && high && r.High > r.Low
}

func (r BarRow) text(u Unit) string {
	v, ok := bounded(r.Value)
	switch {
	case r.Missing != "":
		return r.Missing
	case !ok:
		return "unknown"
	}
	if !r.hasSpread() {
		return u.Text(v)
	}
	return u.Text(v) + " (" + u.Text(r.Low) + " to " + u.Text(r.High) + ")"
}

// SVG draws the plot.
func (b Bars) SVG() string {
	var values extent
	var table rows
	b.Rows = slices.Clone(b.Rows)
	for i := range b.Rows {
		r := &b.Rows[i]
		if r.Missing == "" {
			values.add(r.Value)
		}
		if r.hasSpread() {
			r.Low, _ = bounded(r.Low)
			r.High, _ = bounded(r.High)
			values.add(r.Low, r.High)
		}
		table.labels, table.texts, table.titles = append(table.labels, r.Label), append(table.texts, r.text(b.Unit)), append(table.titles, r.Label+": "+r.text(b.Unit))
	}
	if !values.known || values.min == 0 && values.max == 0 {
		return b.noData()
	}
	p := table.panel()
	x := values.fromZero()
	x.apply(&p.X, table.across(x, b.Unit.Text).ticks(x, b.Unit.Text))
	p.Add(xGrid(p.Plot), layer(func(a area) { b.draw(a, table) }), layer(table.words))
	return (&sheet{About: b.About, panels: []panel{p}, below: named(b.Axis, b.Unit, x)}).svg()
}

func (b Bars) draw(a area, table rows) {
	zero := a.at(0, 0).X
	for i, r := range b.Rows {
		if _, ok := bounded(r.Value); ok && r.Missing == "" {
			at := a.at(r.Value, table.y(i))
			a.fill(series(r.Class), box(zero, at.Y-markHeight/2, at.X, at.Y+markHeight/2))
		}
	}
	for i, r := range b.Rows {
		if r.hasSpread() {
			from, to := a.at(r.Low, table.y(i)), a.at(r.High, table.y(i))
			a.interval(draw.LineStyle{Color: paper, Width: 4}, from, to)
			a.interval(draw.LineStyle{Color: ink, Width: 1.5}, from, to)
		}
	}
	a.upright(draw.LineStyle{Color: axisPaint, Width: 1}, 0)
}
