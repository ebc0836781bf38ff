package plots

import (
	"fmt"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// spot is one point of a line, in the values of the axes.
type spot struct{ x, y float64 }

// stretches cuts a line where its values are unknown.
func stretches(line []spot, x, y scale) (out [][]spot) {
	var now []spot
	for _, s := range line {
		if x.has(s.x) && y.has(s.y) {
			now = append(now, s)
			continue
		}
		if len(now) > 0 {
			out, now = append(out, now), nil
		}
	}
	if len(now) > 0 {
		out = append(out, now)
	}
	return out
}

// lines draws stretches; one with a single value is a dot.
func (a area) lines(style draw.LineStyle, parts [][]spot) {
	for _, part := range parts {
		if len(part) == 1 {
			dot.draw(a.Canvas, style.Color.(Paint), a.at(part[0].x, part[0].y))
		}
	}
	a.SetLineStyle(style)
	for _, part := range parts {
		var p vg.Path
		for i, s := range part {
			if i == 0 {
				p.Move(a.at(s.x, s.y))
				continue
			}
			p.Line(a.at(s.x, s.y))
		}
		if len(part) > 1 {
			a.Stroke(p)
		}
	}
}

// points draws faint dots. They are ends of lines without length, which stay round if a script stretches the plot.
func (a area) points(paint Paint, line []spot, x, y scale) {
	c := a.out
	c.flush()
	fmt.Fprintf(&c.out, `<path fill="none" %s stroke-width="4.4" stroke-opacity=".5" stroke-linecap="round" d="`, attributes(paint, "stroke"))
	for _, s := range line {
		if x.has(s.x) && y.has(s.y) {
			px, py := c.at(a.at(s.x, s.y))
			c.out.WriteString("M" + number(px) + " " + number(py) + "h0")
		}
	}
	c.out.WriteString(`"/>`)
}

// across draws a horizontal line at a value, upright a vertical one.
func (a area) across(style draw.LineStyle, y float64) {
	at := a.at(0, y).Y
	a.StrokeLine2(style, a.Min.X, at, a.Max.X, at)
}

func (a area) upright(style draw.LineStyle, x float64) {
	at := a.at(x, 0).X
	a.StrokeLine2(style, at, a.Min.Y, at, a.Max.Y)
}

// column is a part of the x axis with a text, which the browser shows while the pointer is over it.
type column struct {
	from, to float64
	text     string
}

// readout puts columns over the data. They have no colour, and so no class.
func readout(columns []column) layer {
	return func(a area) {
		c := a.out
		c.flush()
		c.out.WriteString(`<g fill="none" pointer-events="all">`)
		for _, col := range columns {
			from, to := a.at(col.from, 0).X, a.at(col.to, 0).X
			c.out.WriteString(`<path d="` + c.pathData(box(from, a.Min.Y, to, a.Max.Y)) + `"><title>` + escaped(col.text) + `</title></path>`)
		}
		c.out.WriteString("</g>")
	}
}
