package plots

import "gonum.org/v1/plot/vg/draw"

// Dots shows one value per round and side, with a line between the two of a round.
type Dots struct {
	About
	Unit                Unit
	Baseline, Candidate string
	Rounds              []DotRound
	// Axis is what the values are; without it, the unit is named.
	Axis string
}

// DotRound has a value of each side, 0 if it is unknown.
type DotRound struct {
	Label               string
	Baseline, Candidate float64
}

const (
	// apart is the distance of the two sides from the middle of a round; one round has the width 1.
	apart = 0.16
	// closest is the least range of the axis, relative to the values: noise below it must not look like a change.
	closest = 0.02
)

// SVG draws the plot. Its y axis need not have 0, because the differences are what is read.
func (d Dots) SVG() string {
	var values extent
	labels := make([]string, len(d.Rounds))
	for i, r := range d.Rounds {
		values.addPositive(r.Baseline, r.Candidate)
		labels[i] = r.Label
	}
	if !values.known {
		return d.noData()
	}
	y := values.close(closest)
	if d.Unit.isDuration() && values.max/values.least > 10 {
		y = values.logarithmic()
	}
	x := scale{min: -0.5, max: float64(len(d.Rounds)) - 0.5}
	p := newPanel(190, named(d.Axis, d.Unit, y), "")
	x.apply(&p.X, across(axisRoom).nominal(x, labels))
	y.apply(&p.Y, up(150).ticks(y, d.Unit.Text))
	p.Add(gridLines(p.Plot), layer(d.draw), readout(d.columns()))
	return (&sheet{About: d.About, panels: []panel{p}, below: "round", keys: []key{
		{label: d.Baseline, shape: disc, paint: series(0)}, {label: d.Candidate, shape: square, paint: series(1)},
	}}).svg()
}

func (d Dots) draw(a area) {
	known := scale{log: true}.has
	for i, r := range d.Rounds {
		if known(r.Baseline) && known(r.Candidate) {
			from, to := a.at(float64(i)-apart, r.Baseline), a.at(float64(i)+apart, r.Candidate)
			a.StrokeLine2(draw.LineStyle{Color: axisPaint, Width: 1.5}, from.X, from.Y, to.X, to.Y)
		}
	}
	for i, r := range d.Rounds {
		if known(r.Baseline) {
			disc.draw(a.Canvas, series(0), a.at(float64(i)-apart, r.Baseline))
		}
	}
	for i, r := range d.Rounds {
		if known(r.Candidate) {
			square.draw(a.Canvas, series(1), a.at(float64(i)+apart, r.Candidate))
		}
	}
}

func (d Dots) columns() (out []column) {
	const characters = 60
	text := func(side string, v float64) string {
		if !(scale{log: true}).has(v) {
			return cut(cleaned(side), characters) + " unknown"
		}
		return cut(cleaned(side), characters) + " " + d.Unit.Text(min(v, most))
	}
	for i, r := range d.Rounds {
		c := column{from: float64(i) - 0.5, to: float64(i) + 0.5, text: r.Label + ": " + text(d.Baseline, r.Baseline) + ", " + text(d.Candidate, r.Candidate)}
		if r.Baseline > 0 && r.Candidate > 0 {
			c.text += ", " + change(min(r.Candidate, most)/min(r.Baseline, most)-1)
		}
		out = append(out, c)
	}
	return out
}
