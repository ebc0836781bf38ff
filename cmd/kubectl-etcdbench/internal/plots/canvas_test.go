package plots

import (
	"fmt"
	"image/color"
	"math"
	"strings"
	"testing"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

var _ vg.CanvasSizer = (*canvas)(nil)

// drawing is what draw writes on a canvas of 100 by 50.
func drawing(draw func(*canvas)) string {
	c := newCanvas(100, 50)
	draw(c)
	return c.content()
}

func segment(x0, y0, x1, y1 vg.Length) vg.Path {
	var p vg.Path
	p.Move(point(x0, y0))
	p.Line(point(x1, y1))
	return p
}

func TestCanvas(t *testing.T) {
	for name, tc := range map[string]struct {
		draw func(*canvas)
		want string
	}{
		"up is a smaller y": {func(c *canvas) { c.Fill(box(1, 0, 3, 10)) }, `d="M1 50h2v-10h-2z"`},
		"a class and the light colour": {func(c *canvas) { c.SetColor(met); c.Fill(box(0, 0, 1, 1)) },
			`class="met fill" fill="#007a5a"`},
		"a band": {func(c *canvas) { c.SetColor(markBand); c.Fill(box(0, 0, 1, 1)) }, `fill-opacity=".15"`},
		"a colour that is no paint": {func(c *canvas) { c.SetColor(color.RGBA{R: 255, A: 255}); c.Fill(box(0, 0, 1, 1)) },
			`<path fill="#ff0000"`},
		"no colour is black": {func(c *canvas) { c.SetColor(nil); c.Fill(box(0, 0, 1, 1)) }, `fill="#000000"`},
		"dashes": {func(c *canvas) { c.SetLineDash([]vg.Length{4, 2}, 1); c.Stroke(segment(0, 0, 5, 5)) },
			`stroke-width="1" stroke-dasharray="4 2" stroke-dashoffset="1" d="M0 50l5-5"`},
		"two decimals": {func(c *canvas) { c.Stroke(segment(0, 0, 1.0/3, 2.0/3)) }, `d="M0 50l.33-.67"`},
		"transforms are undone by Pop": {func(c *canvas) {
			c.Push()
			c.Translate(point(10, 10))
			c.Scale(2, 2)
			c.Rotate(math.Pi / 2)
			c.Stroke(segment(0, 0, 5, 0))
			c.Pop()
			c.Stroke(segment(0, 0, 5, 0))
		}, `stroke-width="2" d="M10 40v-10"/><path fill="none" class="ink line" stroke="#1f2328" stroke-width="1" d="M0 50h5"/>`},
		"a circle": {func(c *canvas) { c.Fill(circle(point(10, 10), 4)) }, `d="M14 40A4 4 0 0 0 6 40A4 4 0 0 0 14 40z"`},
		"a curve":  {func(c *canvas) { p := segment(0, 0, 1, 0); p.QuadTo(point(2, 2), point(3, 0)); c.Stroke(p) }, `h1Q2 48 3 50"`},
		"rotated text": {func(c *canvas) {
			s := textStyle(ink, startsAt, middle)
			s.Rotation = math.Pi / 2
			c.write(s, point(20, 20), "up")
		}, `transform="rotate(-90 `},
		"the length of text": {func(c *canvas) { c.write(plain(), point(20, 20), "mm") },
			fmt.Sprintf(`textLength="%s" lengthAdjust="spacingAndGlyphs">mm<`, number(hundredths(2*0.8330078125*fontSize)))},
		"not a number": {func(c *canvas) { c.Stroke(segment(vg.Length(math.NaN()), 0, vg.Length(math.Inf(1)), 0)) }, `d="M0 0h1000000"`},
	} {
		t.Run(name, func(t *testing.T) {
			if got := drawing(tc.draw); !strings.Contains(got, tc.want) {
				t.Errorf("wanted %s, found %s", tc.want, got)
			}
		})
	}
}

func TestShapesOfOneColourBecomeOnePath(t *testing.T) {
	got := drawing(func(c *canvas) {
		c.SetColor(met)
		c.Fill(box(0, 0, 1, 1))
		c.Fill(box(2, 0, 3, 1))
		c.SetColor(missed)
		c.Fill(box(4, 0, 5, 1))
	})
	if n := strings.Count(got, "<path"); n != 2 {
		t.Errorf("wanted two paths, found %d in %s", n, got)
	}
}

func TestInvisibleLinesAreNotWritten(t *testing.T) {
	got := drawing(func(c *canvas) {
		c.SetLineWidth(0)
		c.Stroke(segment(0, 0, 5, 5))
		c.DrawImage(vg.Rectangle{}, nil)
		c.write(plain(), point(0, 0), "")
	})
	if got != "" {
		t.Errorf("found %s", got)
	}
}

// The canvas draws what gonum's own glyphs draw, too.
func TestGlyphsOfGonum(t *testing.T) {
	for _, glyph := range []draw.GlyphDrawer{draw.CircleGlyph{}, draw.RingGlyph{}, draw.SquareGlyph{}, draw.PyramidGlyph{}, draw.CrossGlyph{}} {
		got := drawing(func(c *canvas) {
			onto := draw.New(c)
			onto.DrawGlyph(draw.GlyphStyle{Color: ink, Radius: 3, Shape: glyph}, point(10, 10))
		})
		if !strings.HasPrefix(got, "<path") {
			t.Errorf("%T: found %q", glyph, got)
		}
	}
}

func TestRunsOfCells(t *testing.T) {
	rows := [][]int{{1, 1, 2, 1, 1, 1}, {}, {0, 1, 2}}
	for level, want := range map[int]string{1: "M0 0h2m1 0h3M1 2h1", 2: "M2 0h1M2 2h1", 3: ""} {
		if got := runsOf(rows, level); got != want {
			t.Errorf("level %d: wanted %q, found %q", level, want, got)
		}
	}
}

// Each level of heat is one path, and the counts of a heat map are in their cells. A last interval that is shorter has a
// narrower cell.
func TestHeatmapHasOnePathPerLevel(t *testing.T) {
	root := parsed(t, Heatmap{About: about("h"), Interval: 1, Bands: []Band{
		{From: 0, To: 100, Counts: []uint64{0, 0}}, {From: 100, To: 200, Counts: []uint64{0, 0, 1, 1000}}, {From: 200, To: 400, Counts: []uint64{1, 1, 1}}, {From: 400, To: 800},
	}, Last: 0.25}.SVG())
	cells := root.all("svg")[1]
	got := map[string]string{}
	for _, p := range cells.all("path") {
		got[p.attrs["class"]] = p.attrs["d"]
	}
	if len(got) != 2 || got["heat-1 line"] != "M0 0h3M2 1h1" || got["heat-9 line"] != "M3 1h1" || cells.attrs["viewBox"] != "0 -.5 3.25 2" {
		t.Errorf("found %v in %v", got, cells.attrs)
	}
}

func TestLevelsOfHeat(t *testing.T) {
	for n, want := range map[uint64]int{0: 0, 1: 1, 10: 3, 100: 5, 9999: 8, 10_000: 9} {
		if got := levelOf(n, 10_000); got != want {
			t.Errorf("%d requests: wanted level %d, found %d", n, want, got)
		}
	}
	if levelOf(1, 1) != heatPaints {
		t.Error("the greatest count has the last level")
	}
}
