package plots

import (
	"fmt"
	"strconv"

	"gonum.org/v1/plot"
)

// numbers are what an x axis has, for the script of a page that zooms.
type numbers string

const (
	seconds numbers = "seconds"
	// percentages are on an axis of percentiles.
	percentages  numbers = "percentile"
	rates        numbers = "rate"
	plainNumbers numbers = "number"
)

// beginData begins the part of a panel that a script can stretch: an SVG inside the plot, in the same coordinates. It says
// what its x axis has, from where to where, and whether the axis is logarithmic.
func (c *canvas) beginData(a area, x plot.Axis, kind numbers) {
	c.flush()
	left, top := c.at(point(a.Min.X, a.Max.Y))
	right, bottom := c.at(point(a.Max.X, a.Min.Y))
	form := "linear"
	if _, isLog := x.Scale.(logScale); isLog {
		form = "log"
	}
	fmt.Fprintf(&c.out, `<svg class="data" overflow="visible" x="%[1]s" y="%[2]s" width="%[3]s" height="%[4]s" viewBox="%[1]s %[2]s %[3]s %[4]s" preserveAspectRatio="none" data-x="%[5]s %[6]s %[7]s %[8]s">`,
		number(left), number(top), number(right-left), number(bottom-top), kind, plain10(x.Min), plain10(x.Max), form)
}

func (c *canvas) endData() {
	c.flush()
	c.out.WriteString("</svg>")
}

// plain10 writes a number for a script.
func plain10(v float64) string { return strconv.FormatFloat(v, 'g', 10, 64) }
