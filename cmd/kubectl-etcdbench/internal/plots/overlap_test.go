package plots

import (
	"math"
	"strconv"
	"strings"
	"testing"
)

// boxOf is the box of a text, in the coordinates of the SVG.
type boxOf struct {
	text                     string
	left, top, right, bottom float64
}

// textBox includes ascenders and descenders of the font, and the rotation.
func textBox(t *testing.T, e *element) boxOf {
	t.Helper()
	x, y, length, size := e.number(t, "x"), e.number(t, "y"), e.number(t, "textLength"), float64(fontSize)
	if e.attrs["font-size"] != "" {
		size = e.number(t, "font-size")
	}
	angle, cx, cy := rotation(t, e.attrs["transform"])
	b := boxOf{e.text, math.Inf(1), math.Inf(1), math.Inf(-1), math.Inf(-1)}
	for _, corner := range [][2]float64{{x, y - 0.78*size}, {x + length, y - 0.78*size}, {x, y + 0.22*size}, {x + length, y + 0.22*size}} {
		dx, dy := corner[0]-cx, corner[1]-cy
		rx, ry := cx+dx*math.Cos(angle)-dy*math.Sin(angle), cy+dx*math.Sin(angle)+dy*math.Cos(angle)
		b.left, b.right, b.top, b.bottom = min(b.left, rx), max(b.right, rx), min(b.top, ry), max(b.bottom, ry)
	}
	return b
}

// rotation reads "rotate(angle x y)"; no other transform is known.
func rotation(t *testing.T, transform string) (radians, x, y float64) {
	t.Helper()
	if transform == "" {
		return 0, 0, 0
	}
	var v [3]float64
	fields := strings.Fields(strings.TrimSuffix(strings.TrimPrefix(transform, "rotate("), ")"))
	if len(fields) != 3 {
		t.Fatalf("found the transform %q", transform)
	}
	for i, f := range fields {
		var err error
		if v[i], err = strconv.ParseFloat(f, 64); err != nil {
			t.Fatal(err)
		}
	}
	return v[0] * math.Pi / 180, v[1], v[2]
}

// checkTexts fails if two texts overlap, or one is outside of the plot.
func checkTexts(t *testing.T, root *element) {
	t.Helper()
	view := strings.Fields(root.attrs["viewBox"])
	width, _ := strconv.ParseFloat(view[2], 64)
	height, _ := strconv.ParseFloat(view[3], 64)
	var boxes []boxOf
	for _, e := range root.all("text") {
		b := textBox(t, e)
		if b.left < 0 || b.top < 0 || b.right > width || b.bottom > height {
			t.Errorf("%.40q leaves the plot: %.1f to %.1f of %g, %.1f to %.1f of %g", b.text, b.left, b.right, width, b.top, b.bottom, height)
		}
		for _, o := range boxes {
			if b.left < o.right && o.left < b.right && b.top < o.bottom && o.top < b.bottom {
				t.Errorf("%.40q overlaps %.40q", b.text, o.text)
			}
		}
		boxes = append(boxes, b)
	}
}

func TestTextsDoNotOverlap(t *testing.T) {
	for name, svg := range everything() {
		t.Run(name, func(t *testing.T) { checkTexts(t, parsed(t, svg)) })
	}
}

// Axes of any range have labels that fit, at least two unless the range is too narrow for any.
func TestTicksOfManyRanges(t *testing.T) {
	for _, unit := range []Unit{PerSecond, Microseconds, Milliseconds, Seconds, Bytes, Percent, Count} {
		for power := -6; power <= 15; power++ {
			for _, factor := range []float64{1, 1.7, 3.3, 9.99} {
				v := factor * math.Pow10(power)
				d := Dots{About: about("d"), Unit: unit, Baseline: "a", Candidate: "b", Rounds: []DotRound{{"1", v, 1.3 * v}}}
				b := Bars{About: about("b"), Unit: unit, Rows: []BarRow{{Label: "a", Value: v}, {Label: "b", Value: -v / 3}}}
				checkTexts(t, parsed(t, d.SVG()))
				checkTexts(t, parsed(t, b.SVG()))
			}
		}
	}
}

// The three rates of a search are near each other or near the end of the axis; each has its flag.
func TestFlagsOfNearRates(t *testing.T) {
	all := []Knee{sampleKnee()}
	for _, highest := range []float64{2000, 9950, 9_000_000} {
		all = append(all, Knee{About: about("k"), Found: 9400, FirstMissed: 9900, Ceiling: 9950, Points: []KneePoint{{Offered: 100, P99: 1000}, {Offered: highest, P99: 2000}}})
	}
	for i, k := range all {
		root := parsed(t, k.SVG())
		checkTexts(t, root)
		found := 0
		for _, e := range root.all("text") {
			for _, want := range []string{"found 9,400/s", "first missed 9,900/s", "ceiling " + PerSecond.Text(k.Ceiling)} {
				if e.text == want {
					found++
				}
			}
		}
		if found != 3 {
			t.Errorf("search %d: found %d of 3 flags", i, found)
		}
	}
}
