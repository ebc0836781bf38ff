package plots

import (
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Lengths are in units of the SVG.
const (
	// width fits a telephone without scrolling: letters keep nine tenths of their size there.
	width       vg.Length = 420
	emptyHeight vg.Length = 90
	// edge is left free on all sides.
	edge vg.Length = 6
	// lineHeight is the distance between two lines of text.
	lineHeight vg.Length = 18
	// belowGap is between the labels of the x axis and what is written under them.
	belowGap vg.Length = 3
)

// panel is one pair of axes. All panels of a sheet have the same x axis.
type panel struct {
	*plot.Plot
	height vg.Length
	// above is written over the y axis: what it shows, and its unit.
	above string
	kind  numbers
}

// newPanel has the style that all panels share. A script can zoom into one with a kind of numbers on its x axis.
func newPanel(height vg.Length, above string, kind numbers) panel {
	p := plot.New()
	if kind != "" {
		p.Add(layer(func(a area) { a.out.beginData(a, p.X, kind) }))
	}
	p.BackgroundColor = nil
	for _, a := range []*plot.Axis{&p.X, &p.Y} {
		a.LineStyle = draw.LineStyle{Color: axisPaint, Width: 1}
		a.Tick.LineStyle = a.LineStyle
		a.Tick.Length = 5
		a.Padding = 0
	}
	// The lowest label of the y axis needs room above the first one of the x axis, in fonts with more space around letters.
	p.X.Tick.Length = 8
	// Gonum raises labels by the descent of the font, which is too much.
	p.X.Tick.Label = textStyle(soft, draw.XCenter, draw.YTop-0.2)
	p.Y.Tick.Label = textStyle(soft, draw.XRight, draw.YCenter-0.08)
	return panel{Plot: p, height: height, above: above, kind: kind}
}

// sheet is a plot that is being laid out. From top to bottom it has the keys, the flags, the panels, and what is below.
type sheet struct {
	About
	keys   []key
	flags  []flag
	panels []panel
	// below is written under the x axis.
	below string
	// head is written over the right end of the first panel.
	head string
}

var gridStyle = draw.LineStyle{Color: grid, Width: 1}

// gridLines are drawn at the labelled ticks of an axis, under the data.
func gridLines(p *plot.Plot) layer {
	return func(a area) {
		for _, t := range p.Y.Tick.Marker.Ticks(p.Y.Min, p.Y.Max) {
			if !t.IsMinor() {
				a.StrokeLine2(gridStyle, a.Min.X, a.y(t.Value), a.Max.X, a.y(t.Value))
			}
		}
	}
}

// left is the distance from the left edge to the data of all panels.
func (s *sheet) left() vg.Length {
	left, _ := s.overhang()
	left += edge
	for _, p := range s.panels {
		left = max(left, s.dataOf(p, 0).Min.X)
	}
	return left
}

// right is where the data of all panels end.
func (s *sheet) right() vg.Length {
	_, right := s.overhang()
	return width - edge - right
}

// overhang is how far labels of the x axis reach beyond its ends. Gonum itself does not look at the left end, and at
// the right one only unless rounding has moved the label's tick beyond it.
func (s *sheet) overhang() (left, right vg.Length) {
	const atLeast = 200 // the axis is longer
	for _, p := range s.panels {
		for _, t := range p.X.Tick.Marker.Ticks(p.X.Min, p.X.Max) {
			if !t.IsMinor() {
				half, at := widthOf(t.Label)/2, vg.Length(p.X.Norm(t.Value))
				left, right = max(left, half-at*atLeast), max(right, half-(1-at)*atLeast)
			}
		}
	}
	return left, right
}

// dataOf is where a panel draws its data, if its area begins at this distance from the edge and its bottom is at 0.
func (s *sheet) dataOf(p panel, from vg.Length) draw.Canvas {
	return p.DataCanvas(draw.Canvas{Rectangle: vg.Rectangle{Min: point(from, 0), Max: point(s.right(), p.height)}})
}

// svg draws the sheet.
func (s *sheet) svg() string {
	left := s.left()
	starts := func(p panel) vg.Length { return left - s.dataOf(p, 0).Min.X }
	first := s.dataOf(s.panels[0], starts(s.panels[0]))
	strip := placeFlags(s.flags, func(v float64) vg.Length { return first.X(s.panels[0].X.Norm(v)) }, first.Min.X, first.Max.X)
	legend := layOut(s.keys)

	height := edge + legend.height() + strip.height() + edge
	for i, p := range s.panels {
		height += p.height + s.headsOver(p, i)
	}
	if s.below != "" {
		height += belowGap + lineHeight
	}
	c := newCanvas(width, height)
	top := height - edge
	legend.draw(c, top)
	top -= legend.height()
	for i, p := range s.panels {
		if p.kind != "" {
			p.Add(layer(func(a area) { a.out.endData() }))
		}
		top -= s.headsOver(p, i)
		s.heads(c, p, i, top+lineHeight/2)
		if i == 0 {
			strip.draw(c, top)
			top -= strip.height()
		}
		p.Draw(draw.Canvas{Canvas: c, Rectangle: vg.Rectangle{Min: point(starts(p), top-p.height), Max: point(s.right(), top)}})
		top -= p.height
	}
	if s.below != "" {
		c.write(textStyle(ink, centred, middle), point((first.Min.X+first.Max.X)/2, top-belowGap-lineHeight/2), s.below)
	}
	return s.wrap(c)
}

// headsOver is the height of what is over a panel, with a gap between two panels.
func (s *sheet) headsOver(p panel, i int) vg.Length {
	switch {
	case i > 0:
		return lineHeight + 8
	case p.above == "" && s.head == "":
		return 0
	}
	return lineHeight
}

// heads writes what is over a panel.
func (s *sheet) heads(c *canvas, p panel, i int, y vg.Length) {
	c.write(textStyle(ink, startsAt, middle), point(edge, y), p.above)
	if i == 0 {
		c.write(textStyle(ink, endsAt, middle), point(width-edge, y), s.head)
	}
}

// area is the part of a canvas that has the data of a panel, with its scales.
type area struct {
	draw.Canvas
	out  *canvas
	x, y func(float64) vg.Length
}

// layer draws data.
type layer func(area)

// Plot implements plot.Plotter.
func (l layer) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	l(area{Canvas: c, out: canvasOf(c), x: x, y: y})
}

// canvasOf is the canvas below; cropping wraps one canvas in another.
func canvasOf(c draw.Canvas) *canvas {
	for {
		switch inner := c.Canvas.(type) {
		case *canvas:
			return inner
		case draw.Canvas:
			c = inner
		}
	}
}

// at is where a value is drawn. A value outside of the axes is drawn at their ends.
func (a area) at(x, y float64) vg.Point {
	return point(max(a.Min.X, min(a.x(x), a.Max.X)), max(a.Min.Y, min(a.y(y), a.Max.Y)))
}

// box is the rectangle between two corners.
func box(x0, y0, x1, y1 vg.Length) vg.Path {
	return vg.Rectangle{Min: point(min(x0, x1), min(y0, y1)), Max: point(max(x0, x1), max(y0, y1))}.Path()
}

func (a area) fill(paint Paint, p vg.Path) {
	a.SetColor(paint)
	a.Fill(p)
}
