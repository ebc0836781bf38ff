package plots

import (
	"fmt"
	"image"
	"image/color"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
)

// canvas is a vg.Canvas that writes the content of an SVG element. One unit of the SVG is one point. The y axis of vg
// points up and that of SVG down.
type canvas struct {
	width, height vg.Length
	out           strings.Builder
	now           state
	saved         []state
	// same are the attributes of the shapes in data, which become one path.
	same string
	data strings.Builder
}

// state is what Push saves and Pop restores.
type state struct {
	color     color.Color
	lineWidth vg.Length
	dashes    []vg.Length
	offset    vg.Length
	matrix    matrix
}

func newCanvas(width, height vg.Length) *canvas {
	return &canvas{width: width, height: height, now: state{color: ink, lineWidth: 1, matrix: matrix{a: 1, d: 1}}}
}

// matrix maps (x, y) to (ax + cy + e, bx + dy + f).
type matrix struct{ a, b, c, d, e, f float64 }

// times is the matrix that applies n first, then m.
func (m matrix) times(n matrix) matrix {
	return matrix{
		a: m.a*n.a + m.c*n.b, b: m.b*n.a + m.d*n.b,
		c: m.a*n.c + m.c*n.d, d: m.b*n.c + m.d*n.d,
		e: m.a*n.e + m.c*n.f + m.e, f: m.b*n.e + m.d*n.f + m.f,
	}
}

// scale is the factor by which lengths grow, for matrices that keep shapes.
func (m matrix) scale() float64 { return math.Sqrt(math.Abs(m.a*m.d - m.b*m.c)) }

// at is a point in hundredths of the SVG's unit.
func (c *canvas) at(p vg.Point) (x, y int) {
	m := c.now.matrix
	return hundredths(m.a*float64(p.X) + m.c*float64(p.Y) + m.e), hundredths(float64(c.height) - m.b*float64(p.X) - m.d*float64(p.Y) - m.f)
}

// SetLineWidth implements vg.Canvas.
func (c *canvas) SetLineWidth(w vg.Length) { c.now.lineWidth = w }

// SetLineDash implements vg.Canvas.
func (c *canvas) SetLineDash(pattern []vg.Length, offset vg.Length) {
	c.now.dashes, c.now.offset = slices.Clone(pattern), offset
}

// SetColor implements vg.Canvas.
func (c *canvas) SetColor(paint color.Color) {
	if paint == nil {
		paint = color.Black
	}
	c.now.color = paint
}

// Rotate implements vg.Canvas.
func (c *canvas) Rotate(radians float64) {
	sin, cos := math.Sincos(radians)
	c.now.matrix = c.now.matrix.times(matrix{a: cos, b: sin, c: -sin, d: cos})
}

// Translate implements vg.Canvas.
func (c *canvas) Translate(p vg.Point) {
	c.now.matrix = c.now.matrix.times(matrix{a: 1, d: 1, e: float64(p.X), f: float64(p.Y)})
}

// Scale implements vg.Canvas.
func (c *canvas) Scale(x, y float64) { c.now.matrix = c.now.matrix.times(matrix{a: x, d: y}) }

// Push implements vg.Canvas.
func (c *canvas) Push() { c.saved = append(c.saved, c.now) }

// Pop implements vg.Canvas.
func (c *canvas) Pop() {
	last := len(c.saved) - 1
	c.now, c.saved = c.saved[last], c.saved[:last]
}

// Size implements vg.CanvasSizer.
func (c *canvas) Size() (x, y vg.Length) { return c.width, c.height }

// Stroke implements vg.Canvas.
func (c *canvas) Stroke(p vg.Path) {
	if c.now.lineWidth <= 0 {
		return
	}
	scale := c.now.matrix.scale()
	out := `fill="none" ` + attributes(c.now.color, "stroke") + ` stroke-width="` + number(hundredths(float64(c.now.lineWidth)*scale)) + `"`
	if len(c.now.dashes) > 0 {
		var dashes []string
		for _, d := range c.now.dashes {
			dashes = append(dashes, number(hundredths(float64(d)*scale)))
		}
		out += ` stroke-dasharray="` + strings.Join(dashes, " ") + `"`
		if c.now.offset != 0 {
			out += ` stroke-dashoffset="` + number(hundredths(float64(c.now.offset)*scale)) + `"`
		}
	}
	c.shape(out, p)
}

// Fill implements vg.Canvas.
func (c *canvas) Fill(p vg.Path) { c.shape(attributes(c.now.color, "fill"), p) }

// shape draws a path. Consecutive paths with the same attributes become one element.
func (c *canvas) shape(attributes string, p vg.Path) {
	if attributes != c.same {
		c.flush()
		c.same = attributes
	}
	c.data.WriteString(c.pathData(p))
}

func (c *canvas) flush() {
	if c.data.Len() > 0 {
		fmt.Fprintf(&c.out, `<path %s d="%s"/>`, c.same, c.data.String())
	}
	c.same = ""
	c.data.Reset()
}

// FillString implements vg.Canvas. The text gets the length of the font that it was placed with, since the reader's
// font may be another one.
func (c *canvas) FillString(f font.Face, p vg.Point, text string) {
	scale := c.now.matrix.scale()
	size, length := float64(f.Font.Size)*scale, float64(f.Width(text))*scale
	if size <= 0 || text == "" {
		return
	}
	c.flush()
	x, y := c.at(p)
	fmt.Fprintf(&c.out, `<text x="%s" y="%s" %s textLength="%s" lengthAdjust="spacingAndGlyphs"`, number(x), number(y), attributes(c.now.color, "fill"), number(hundredths(length)))
	if size != fontSize {
		fmt.Fprintf(&c.out, ` font-size="%s"`, number(hundredths(size)))
	}
	// An angle that is positive in vg turns to the left, and in SVG to the right.
	if angle := hundredths(-math.Atan2(c.now.matrix.b, c.now.matrix.a) * 180 / math.Pi); angle != 0 {
		fmt.Fprintf(&c.out, ` transform="rotate(%s %s %s)"`, number(angle), number(x), number(y))
	}
	fmt.Fprintf(&c.out, ">%s</text>", escaped(text))
}

// DrawImage implements vg.Canvas. Plots have no images, because pages may forbid them.
func (c *canvas) DrawImage(vg.Rectangle, image.Image) {}

// titled groups what draw draws under a title, which browsers show under the pointer.
func (c *canvas) titled(title string, draw func()) {
	c.flush()
	c.out.WriteString("<g><title>" + escaped(title) + "</title>")
	draw()
	c.flush()
	c.out.WriteString("</g>")
}

// content is everything that was drawn.
func (c *canvas) content() string {
	c.flush()
	return c.out.String()
}
