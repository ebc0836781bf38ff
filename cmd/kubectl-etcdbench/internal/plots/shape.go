package plots

import (
	"math"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// shape is the form of a marker, so that a plot is readable without colours.
type shape int

const (
	none shape = iota
	disc
	diamond
	ring
	square
	dot
	arrowUp
	arrowLeft
	arrowRight
)

// aboveMarker is how far the middle of an upward arrow is above the marker that it belongs to.
const aboveMarker = 9

// Verdict decides the colour and the shape of a marker.
type Verdict string

const (
	Good Verdict = "good"
	Bad  Verdict = "bad"
	// Open is neither: it could not be judged, or it was not.
	Open Verdict = "open"
)

func (v Verdict) paint() Paint {
	switch v {
	case Good:
		return met
	case Bad:
		return missed
	}
	return unknown
}

func (v Verdict) shape() shape {
	switch v {
	case Good:
		return disc
	case Bad:
		return diamond
	}
	return ring
}

// draw puts a marker at a point.
func (s shape) draw(c draw.Canvas, paint Paint, at vg.Point) {
	c.SetColor(paint)
	switch s {
	case disc:
		c.Fill(circle(at, 4))
	case dot:
		c.Fill(circle(at, 2))
	case diamond:
		c.Fill(polygon(at, -5, 0, 0, 5, 5, 0, 0, -5))
	case square:
		c.Fill(polygon(at, -3.5, -3.5, -3.5, 3.5, 3.5, 3.5, 3.5, -3.5))
	case arrowUp:
		c.Fill(polygon(at, -4, aboveMarker-3, 0, aboveMarker+3, 4, aboveMarker-3))
	case arrowLeft:
		c.Fill(polygon(at, 5, -5, -5, 0, 5, 5))
	case arrowRight:
		c.Fill(polygon(at, -5, -5, 5, 0, -5, 5))
	case ring:
		c.SetColor(paper)
		c.Fill(circle(at, 3.5))
		c.SetLineStyle(draw.LineStyle{Color: paint, Width: 1.5})
		c.Stroke(circle(at, 3.5))
	}
}

func circle(at vg.Point, radius vg.Length) vg.Path {
	var p vg.Path
	p.Move(at.Add(point(radius, 0)))
	p.Arc(at, radius, 0, 2*math.Pi)
	p.Close()
	return p
}

// polygon has corners relative to a point.
func polygon(at vg.Point, corners ...vg.Length) vg.Path {
	var p vg.Path
	for i := 0; i < len(corners); i += 2 {
		corner := at.Add(point(corners[i], corners[i+1]))
		if i == 0 {
			p.Move(corner)
			continue
		}
		p.Line(corner)
	}
	p.Close()
	return p
}

// dashes tell lines apart that have the same colour, or no colour.
func dashes(i int) []vg.Length {
	return [][]vg.Length{nil, {6, 3}, {2, 2}, {8, 3, 2, 3}, {12, 4}, {4, 2, 1, 2, 1, 2}}[wrapped(i, 6)]
}

// lineOf is the style of the i-th line of a plot. Colours and dashes repeat with different periods.
func lineOf(i int) draw.LineStyle {
	return draw.LineStyle{Color: series(i), Width: 1.8, Dashes: dashes(i + wrapped(i, 36)/seriesPaints)}
}
