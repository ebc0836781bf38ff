package plots

import (
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
)

// rows is a plot with one row per label, from top to bottom.
type rows struct {
	labels []string
	// texts are in the column on the right.
	texts []string
	// titles are what is shown under the pointer.
	titles []string
}

const (
	rowHeight vg.Length = 24
	maxLabel  vg.Length = 230
	maxColumn vg.Length = 210
)

// column is the width of the texts on the right.
func (r *rows) column(head string) vg.Length {
	widest := widthOf(head)
	for i, t := range r.texts {
		r.texts[i] = fitted(t, maxColumn)
		widest = max(widest, widthOf(r.texts[i]))
	}
	return widest + 12
}

// y is the place of a row on the axis.
func (r rows) y(i int) float64 { return float64(len(r.labels) - 1 - i) }

// panel has the labels on its y axis.
func (r rows) panel(above string) panel {
	p := newPanel(vg.Length(len(r.labels))*rowHeight+30, above)
	var ticks []plot.Tick
	for i, label := range r.labels {
		ticks = append(ticks, plot.Tick{Value: r.y(i), Label: labelled(label, maxLabel)})
	}
	scale{min: -0.5, max: float64(len(r.labels)) - 0.5}.apply(&p.Y, ticks)
	p.Y.Tick.Length = 0
	p.Y.Tick.Label.Color = ink
	return p
}

// across is the room for the ticks of the x axis, beside labels and texts, and between the middles of the outer ticks.
func (r rows) across(column vg.Length, s scale, format func(float64) string) room {
	var labels vg.Length
	for _, label := range r.labels {
		labels = max(labels, min(widthOf(cleaned(label)), maxLabel))
	}
	out := across(width - column - labels - 40 - widthOf(format(s.min))/2 - widthOf(format(s.max))/2)
	out.gap = 14
	return out
}

// xGrid draws vertical lines at the labelled ticks.
func xGrid(p *plot.Plot) layer {
	return func(a area) {
		for _, t := range p.X.Tick.Marker.Ticks(p.X.Min, p.X.Max) {
			if !t.IsMinor() {
				a.upright(gridStyle, t.Value)
			}
		}
	}
}

// rights writes the column on the right, and puts the titles over the rows.
func (r rows) rights(a area) {
	for i, t := range r.texts {
		a.out.write(textStyle(ink, endsAt, middle), point(width-edge, a.y(r.y(i))), t)
	}
	c := a.out
	c.flush()
	c.out.WriteString(`<g fill="none" pointer-events="all">`)
	for i, title := range r.titles {
		y := a.y(r.y(i))
		c.out.WriteString(`<path d="` + c.pathData(box(0, y-rowHeight/2, width, y+rowHeight/2)) + `"><title>` + escaped(title) + `</title></path>`)
	}
	c.out.WriteString("</g>")
}
