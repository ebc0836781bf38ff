package plots

import (
	"image/color"
	"sort"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
)

// fontSize is the size of all text, in units of the SVG.
const fontSize = 12

const (
	startsAt = text.XLeft
	centred  = text.XCenter
	endsAt   = text.XRight
	middle   = text.YCenter
)

func textStyle(paint color.Color, x text.XAlignment, y text.YAlignment) text.Style {
	return text.Style{
		Color: paint, XAlign: x, YAlign: y, Handler: plot.DefaultTextHandler,
		Font: font.Font{Typeface: "Liberation", Variant: "Sans", Size: fontSize},
	}
}

// plain is the style that texts are measured with.
func plain() text.Style { return textStyle(ink, startsAt, middle) }

func widthOf(s string) vg.Length { return plain().Width(s) }

// raised moves the middle of a text's box, which has room for accents, to the middle of its small letters and digits.
const raised = 0.12 * fontSize

// write draws a text of one line, whose middle is at the height of the point.
func (c *canvas) write(style text.Style, at vg.Point, s string) {
	style.Handler.Draw(c, cleaned(s), style, at.Add(point(0, raised)))
}

// fitted cleans a label and shortens it in the middle to a width: labels often differ only at their ends.
func fitted(label string, width vg.Length) string {
	label = cleaned(label)
	if widthOf(label) <= width {
		return label
	}
	// Shortening keeps at least 2 characters, and a longer text is wider, except for a few units of kerning.
	n := sort.Search(len([]rune(label)), func(n int) bool { return widthOf(cut(label, n+3)) > width })
	return cut(label, n+2)
}

// labelled is fitted, with a dash for an empty label.
func labelled(label string, width vg.Length) string {
	if label = fitted(label, width); label == "" {
		return "–"
	}
	return label
}

func point(x, y vg.Length) vg.Point { return vg.Point{X: x, Y: y} }
