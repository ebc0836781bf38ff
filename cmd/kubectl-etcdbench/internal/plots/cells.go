package plots

import (
	"fmt"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
)

// cells draws a grid of levels: one path per level, in which a run of equal neighbours in a row is one rectangle. An
// inner SVG with one unit per cell keeps the numbers short; a rectangle is a line as thick as a row.
func (c *canvas) cells(a area, w window, rows [][]int) {
	c.flush()
	x0, y0 := c.at(point(a.at(0, 0).X, a.Max.Y))
	x1, y1 := c.at(point(a.Max.X, a.Min.Y))
	fmt.Fprintf(&c.out, `<svg x="%s" y="%s" width="%s" height="%s" viewBox="0 -.5 %s %d" preserveAspectRatio="none" shape-rendering="crispEdges">`,
		number(x0), number(y0), number(x1-x0), number(y1-y0), number(hundredths(w.scale.max/w.interval)), len(rows))
	for level := 1; level <= heatPaints; level++ {
		if data := runsOf(rows, level); data != "" {
			fmt.Fprintf(&c.out, `<path fill="none" %s stroke-width="1" d="%s"/>`, attributes(heat(level), "stroke"), data)
		}
	}
	c.out.WriteString("</svg>")
}

// runsOf is the path of all cells of a level.
func runsOf(rows [][]int, level int) string {
	var out strings.Builder
	for y, row := range rows {
		end := -1
		for x := 0; x < len(row); x++ {
			if row[x] != level {
				continue
			}
			start := x
			for x < len(row) && row[x] == level {
				x++
			}
			if end < 0 {
				fmt.Fprintf(&out, "M%d %dh%d", start, y, x-start)
			} else {
				fmt.Fprintf(&out, "m%d 0h%d", start-end, x-start)
			}
			end = x
		}
	}
	return out.String()
}

// fitOn is fit on the scale that an axis has.
func (r room) fitOn(a plot.Axis) bool {
	end, first := vg.Length(0), true
	for _, t := range a.Tick.Marker.Ticks(a.Min, a.Max) {
		if t.IsMinor() {
			continue
		}
		at, half := r.length*vg.Length(a.Norm(t.Value)), r.size(t.Label)/2
		if !first && at-half < end+r.gap/2 {
			return false
		}
		end, first = at+half, false
	}
	return true
}
