package plots

import (
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
)

// rows is a plot with one row per label, from top to bottom. Each has a line of text over its mark.
type rows struct {
	labels []string
	// texts are on the right.
	texts []string
	// titles are what is shown under the pointer.
	titles []string
}

const (
	rowHeight vg.Length = 38
	maxColumn vg.Length = 210
	// markHeight is that of a bar, and of the tolerance behind a mark.
	markHeight vg.Length = 14
	// textOver is how far the line of text is above the middle of a row, markUnder how far the mark is below it.
	textOver, markUnder = 9, 9
)

// y is the middle of a row's mark on the axis.
func (r rows) y(i int) float64 { return float64(len(r.labels)-1-i) - markUnder/float64(rowHeight) }

// panel has a row for each label.
func (r rows) panel() panel {
	p := newPanel(vg.Length(len(r.labels))*rowHeight+30, "", "")
	scale{min: -0.5, max: float64(len(r.labels)) - 0.5}.apply(&p.Y, nil)
	p.Y.Tick.Length = 0
	return p
}

// across is the room for the ticks of the x axis, between the middles of the outer ones.
func (r rows) across(s scale, format func(float64) string) room {
	out := across(width - 2*edge - 10 - widthOf(format(s.min)) - widthOf(format(s.max)))
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

// words writes labels and texts, and puts the titles over the rows.
func (r rows) words(a area) {
	c := a.out
	var labels, texts []string
	over := func(i int) vg.Length { return a.y(r.y(i)) + textOver + markUnder }
	for i, t := range r.texts {
		texts = append(texts, fitted(t, maxColumn))
		labels = append(labels, labelled(r.labels[i], width-3*edge-widthOf(texts[i])-12))
		// Lines of the plot do not cross its texts.
		a.fill(paper, box(edge, over(i)-lineHeight/2, width, over(i)+lineHeight/2))
	}
	for i, t := range texts {
		c.write(textStyle(ink, startsAt, middle), point(2*edge, over(i)), labels[i])
		c.write(textStyle(ink, endsAt, middle), point(width-edge, over(i)), t)
	}
	c.flush()
	c.out.WriteString(`<g fill="none" pointer-events="all">`)
	for i, title := range r.titles {
		y := a.y(r.y(i)) + markUnder
		c.out.WriteString(`<path d="` + c.pathData(box(0, y-rowHeight/2, width, y+rowHeight/2)) + `"><title>` + escaped(title) + `</title></path>`)
	}
	c.out.WriteString("</g>")
}
