package plots

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Grid has a cell for each pair of entries of two axes.
type Grid struct {
	About
	Unit Unit
	// Changes: the values are relative changes, of which 0.01 is one percent.
	Changes bool
	// X and Y name the axes, Columns and Rows their entries: rows from the lowest up.
	X, Y          string
	Columns, Rows []string
	// Cells are by row, then by column. Those that are not there have no value.
	Cells [][]GridCell
}

// GridCell is one cell.
type GridCell struct {
	Value float64
	// Missing is why there is no value; empty if there is one.
	Missing string
	// Worse: a change is for the worse. Open: a change could not be judged, or a value cannot be compared.
	Worse, Open bool
	// More is what the readout says after the value.
	More string
}

const (
	gridCell vg.Length = 28
	// maxGridLabel is the greatest width of a row's label.
	maxGridLabel vg.Length = 90
	// hatching is the distance between the lines of a cell that was not judged.
	hatching vg.Length = 6
	// changePaints are the levels of a change, in each direction.
	changePaints = 3
)

// changed is the colour of a change, from 1 to changePaints.
func changed(worse bool, level int) Paint {
	if worse {
		return Paint(fmt.Sprintf("heat-worse-%d", level))
	}
	return Paint(fmt.Sprintf("heat-better-%d", level))
}

// SVG draws the plot.
func (g Grid) SVG() string {
	values := g.extent()
	if !values.known || len(g.Columns) == 0 || len(g.Rows) == 0 {
		return g.noData()
	}
	p := newPanel(vg.Length(len(g.Rows))*gridCell+30, fitted(g.Y, width-2*edge), "")
	scale{min: -0.5, max: float64(len(g.Columns)) - 0.5}.apply(&p.X, labels(g.Columns, maxGridLabel, g.room()))
	scale{min: -0.5, max: float64(len(g.Rows)) - 0.5}.apply(&p.Y, labels(g.Rows, maxGridLabel, up(vg.Length(len(g.Rows))*gridCell)))
	p.Add(layer(func(a area) { g.draw(a, values) }))
	s := sheet{About: g.About, keys: g.keys(values), panels: []panel{p}, below: fitted(g.X, g.room().length-20)}
	return s.svg()
}

// room of the labels of columns.
func (g Grid) room() room {
	left := vg.Length(0)
	for _, label := range g.Rows {
		left = max(left, widthOf(fitted(label, maxGridLabel)))
	}
	r := across(width - 2*edge - left - 30)
	r.gap = 8
	return r
}

// labels are ticks at whole numbers. If they do not fit, some have no label.
func labels(names []string, most vg.Length, r room) []plot.Tick {
	cell := r.length / vg.Length(len(names))
	for every := 1; ; every++ {
		var ticks []plot.Tick
		widest := vg.Length(0)
		for i := 0; i < len(names); i += every {
			label := labelled(names[i], most)
			ticks, widest = append(ticks, plot.Tick{Value: float64(i), Label: label}), max(widest, r.size(label))
		}
		if widest+r.gap <= cell*vg.Length(every) || every >= len(names) {
			return ticks
		}
	}
}

// cell is a cell of the grid; false if it has no value.
func (g Grid) cell(row, column int) (GridCell, bool) {
	if row >= len(g.Cells) || column >= len(g.Cells[row]) {
		return GridCell{Missing: "no cell"}, false
	}
	c := g.Cells[row][column]
	v, ok := bounded(c.Value)
	c.Value = v
	if !ok && c.Missing == "" {
		c.Missing = "unknown"
	}
	return c, c.Missing == ""
}

// extent is that of the values, or of the sizes of changes.
func (g Grid) extent() (e extent) {
	for row := range g.Rows {
		for column := range g.Columns {
			c, known := g.cell(row, column)
			switch {
			case known && g.Changes:
				e.add(math.Abs(c.Value))
			case known:
				e.add(c.Value)
			}
		}
	}
	return e
}

func (g Grid) text(v float64) string {
	if g.Changes {
		return change(v)
	}
	return g.Unit.Text(v)
}

// short is a text that fits into a cell: without the unit that the legend has.
func (g Grid) short(v float64) string {
	switch {
	case g.Changes:
		return strings.TrimSuffix(change(v), " %")
	case g.Unit.isDuration():
		return g.Unit.Text(v)
	}
	return strings.ReplaceAll(prefixed(max(v, 0)), " ", "")
}

// keys explain the colours.
func (g Grid) keys(e extent) (keys []key) {
	if !g.Changes {
		keys = []key{{label: g.text(e.min) + " to " + g.text(e.max) + ", log scale", boxes: heats()}}
		if g.hasOpen() {
			keys = append(keys, key{label: "hatched: cannot be compared"})
		}
		return keys
	}
	for _, worse := range []bool{false, true} {
		k := key{label: map[bool]string{false: "better", true: "worse"}[worse] + ", up to " + digits(100*e.max) + " %"}
		for level := 1; level <= changePaints; level++ {
			k.boxes = append(k.boxes, changed(worse, level))
		}
		keys = append(keys, k)
	}
	if g.hasOpen() {
		keys = append(keys, key{label: "hatched: undecided"})
	}
	return keys
}

func (g Grid) hasOpen() bool {
	return slices.ContainsFunc(g.Cells, func(row []GridCell) bool {
		return slices.ContainsFunc(row, func(c GridCell) bool { return c.Open })
	})
}

// paint is the colour of a cell; false if it has none.
func (g Grid) paint(c GridCell, e extent) (Paint, bool) {
	if g.Changes {
		level := 1 + int(math.Abs(c.Value)/max(e.max, 1e-9)*changePaints)
		return changed(c.Worse, min(level, changePaints)), !c.Open
	}
	low, high := max(e.least, leastLog), max(e.max, leastLog)
	if c.Value <= low || high <= low {
		return heat(1), true
	}
	return heat(min(1+int(math.Log(c.Value/low)/math.Log(high/low)*heatPaints), heatPaints)), true
}

// draw draws all cells, then their texts, then what the pointer shows.
func (g Grid) draw(a area, e extent) {
	for level := range heatPaints + 2*changePaints + 1 {
		for row := range g.Rows {
			for column := range g.Columns {
				if c, known := g.cell(row, column); known {
					if paint, has := g.paint(c, e); has && paint == gridPaint(level) {
						a.fill(paint, g.box(a, row, column))
					}
				}
			}
		}
	}
	g.hatch(a)
	g.words(a)
	c := a.out
	c.flush()
	c.out.WriteString(`<g fill="none" pointer-events="all">`)
	for row, y := range g.Rows {
		for column, x := range g.Columns {
			c.out.WriteString(`<path d="` + c.pathData(g.box(a, row, column)) + `"><title>` + escaped(cut(cleaned(x), 16)+", "+cut(cleaned(y), 16)+": "+g.title(row, column)) + `</title></path>`)
		}
	}
	c.out.WriteString("</g>")
}

// gridPaint are all colours of cells, so that those of one colour are drawn together.
func gridPaint(i int) Paint {
	switch {
	case i < heatPaints:
		return heat(i + 1)
	case i < heatPaints+changePaints:
		return changed(false, i-heatPaints+1)
	}
	return changed(true, i-heatPaints-changePaints+1)
}

func (g Grid) title(row, column int) string {
	c, known := g.cell(row, column)
	if !known {
		return cut(cleaned(c.Missing), 40)
	}
	out := g.text(c.Value)
	if c.More != "" {
		out += " " + cut(cleaned(c.More), 44)
	}
	return out
}

// corners are those of a cell, with a gap to its neighbours.
func (g Grid) corners(a area, row, column int) (x0, y0, x1, y1 vg.Length) {
	from, to := a.at(float64(column)-0.5, float64(row)-0.5), a.at(float64(column)+0.5, float64(row)+0.5)
	return from.X + 0.5, from.Y + 0.5, to.X - 0.5, to.Y - 0.5
}

func (g Grid) box(a area, row, column int) vg.Path { return box(g.corners(a, row, column)) }

// hatch draws lines over the cells that were not judged.
func (g Grid) hatch(a area) {
	a.SetLineStyle(draw.LineStyle{Color: unknown, Width: 0.8})
	for row := range g.Rows {
		for column := range g.Columns {
			if c, known := g.cell(row, column); !known || !c.Open {
				continue
			}
			x0, y0, x1, y1 := g.corners(a, row, column)
			w, h := x1-x0, y1-y0
			var lines vg.Path
			for d := hatching; d < w+h; d += hatching {
				lines.Move(point(x0+max(0, d-h), y0+min(d, h)))
				lines.Line(point(x0+min(d, w), y0+max(0, d-w)))
			}
			a.Stroke(lines)
		}
	}
}

// words writes the values on plates, if all of them fit.
func (g Grid) words(a area) {
	x0, _, x1, _ := g.corners(a, 0, 0)
	texts := map[[2]int]string{}
	for row := range g.Rows {
		for column := range g.Columns {
			text := "–"
			if c, known := g.cell(row, column); known {
				text = g.short(c.Value)
			}
			if widthOf(text)+6 > x1-x0 {
				return
			}
			texts[[2]int{row, column}] = text
		}
	}
	each := func(do func(at vg.Point, text string)) {
		for row := range g.Rows {
			for column := range g.Columns {
				do(a.at(float64(column), float64(row)), texts[[2]int{row, column}])
			}
		}
	}
	each(func(at vg.Point, text string) {
		half := widthOf(text)/2 + 2
		a.fill(paper, box(at.X-half, at.Y-8, at.X+half, at.Y+8))
	})
	each(func(at vg.Point, text string) { a.out.write(textStyle(ink, centred, middle), at, text) })
}
