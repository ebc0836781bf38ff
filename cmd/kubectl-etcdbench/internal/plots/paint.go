package plots

import (
	"fmt"
	"image/color"
	"strconv"
	"strings"
)

// Paint is a colour by its class. The canvas writes the class for the style sheet of the page, and the light colour for
// pages without one.
type Paint string

const (
	ink       Paint = "ink"  // text, and lines of the data
	soft      Paint = "soft" // text of less weight
	axisPaint Paint = "axis"
	grid      Paint = "grid"
	paper     Paint = "paper" // the ground
	tolerance Paint = "tolerance"

	met     Paint = "met"
	missed  Paint = "missed"
	unknown Paint = "unknown"

	mark      Paint = "mark"
	markBand  Paint = "mark-band"
	stall     Paint = "stall"
	stallBand Paint = "stall-band"
	between   Paint = "between" // from the last rate that was met to the first that was missed
)

const (
	seriesPaints = 6
	heatPaints   = 9
)

// series is the colour of the i-th series, from 0. Lines with the same colour have different dashes.
func series(i int) Paint { return Paint("series-" + strconv.Itoa(wrapped(i, seriesPaints)+1)) }

// wrapped is i modulo n, also for negative i.
func wrapped(i, n int) int { return (i%n + n) % n }

// heat is the colour of a level from 1 to heatPaints.
func heat(level int) Paint { return Paint("heat-" + strconv.Itoa(level)) }

// tone is a paint in both colour schemes.
type tone struct {
	paint       Paint
	light, dark string
	// opacity is below 1 for areas under data.
	opacity float64
}

// tones has each paint once. The series are those of Okabe and Ito, darker on white and lighter on dark ground, so that
// lines have a contrast of 3 and texts of 4.5. Heat has one hue: the more requests, the more contrast with the ground.
func tones() []tone {
	return []tone{
		{ink, "#1f2328", "#e6e8eb", 1}, {soft, "#57606a", "#a8b0b9", 1}, {axisPaint, "#7d8590", "#7d8590", 1},
		{grid, "#dde2e7", "#30363d", 1}, {paper, "#ffffff", "#15181d", 1}, {tolerance, "#d3dfec", "#2b3b4d", 1},
		{"series-1", "#0072b2", "#56b4e9", 1}, {"series-2", "#d55e00", "#ff8a3d", 1}, {"series-3", "#008f68", "#2cc295", 1},
		{"series-4", "#b0578d", "#e39cc6", 1}, {"series-5", "#8f6400", "#f0c04a", 1}, {"series-6", "#555b61", "#c3c8ce", 1},
		{met, "#007a5a", "#3fcf9f", 1}, {missed, "#c64600", "#ff8a3d", 1}, {unknown, "#6a7178", "#a8b0b9", 1},
		{mark, "#8a4b9e", "#d2a4e0", 1}, {markBand, "#8a4b9e", "#d2a4e0", 0.15},
		{stall, "#c64600", "#ff8a3d", 1}, {stallBand, "#c64600", "#ff8a3d", 0.15}, {between, "#8f6400", "#f0c04a", 0.14},
		{"heat-1", "#d6e6f4", "#1d3148", 1}, {"heat-2", "#bcd7ec", "#234460", 1}, {"heat-3", "#9cc4e2", "#2a5878", 1},
		{"heat-4", "#77add4", "#316d92", 1}, {"heat-5", "#5494c4", "#3a83ac", 1}, {"heat-6", "#377ab0", "#4b9ac4", 1},
		{"heat-7", "#205f98", "#67b1d8", 1}, {"heat-8", "#0f457c", "#8fcae8", 1}, {"heat-9", "#08305c", "#c3e4f6", 1},
		{"heat-better-1", "#c3e8da", "#1c4436", 1}, {"heat-better-2", "#6cc4a4", "#27795c", 1}, {"heat-better-3", "#007a5a", "#3fcf9f", 1},
		{"heat-worse-1", "#f9dac5", "#4f2f1b", 1}, {"heat-worse-2", "#ee9c64", "#97501f", 1}, {"heat-worse-3", "#c64600", "#ff8a3d", 1},
	}
}

// byPaint finds a tone; it is only read.
var byPaint = func() map[Paint]tone {
	all := map[Paint]tone{}
	for _, t := range tones() {
		all[t.paint] = t
	}
	return all
}()

// RGBA is the light colour. A paint that does not exist is black.
func (p Paint) RGBA() (r, g, b, a uint32) { return rgba(byPaint[p].light).RGBA() }

func rgba(hex string) color.RGBA {
	if len(hex) != len("#rrggbb") {
		return color.RGBA{A: 0xff}
	}
	v, _ := strconv.ParseUint(hex[1:], 16, 32)
	return color.RGBA{R: uint8(v >> 16), G: uint8(v >> 8), B: uint8(v), A: 0xff}
}

// attributes of an element that is filled or stroked with a colour: the class, and the literal colour.
func attributes(c color.Color, property string) string {
	p, ok := c.(Paint)
	if !ok {
		r, g, b, _ := c.RGBA()
		return fmt.Sprintf(`%s="#%02x%02x%02x"`, property, r>>8, g>>8, b>>8)
	}
	t := byPaint[p]
	out := fmt.Sprintf(`class="%s %s" %s="%s"`, p, classOf[property], property, t.light)
	if t.opacity < 1 {
		out += fmt.Sprintf(` %s-opacity="%s"`, property, number(hundredths(t.opacity)))
	}
	return out
}

// classOf are the classes that say which property a paint sets.
var classOf = map[string]string{"fill": "fill", "stroke": "line"}

// Styles are the style sheet rules for all plots of a page: light, dark and print. Without them, plots are light.
func Styles() string {
	light, dark := func(t tone) string { return t.light }, func(t tone) string { return t.dark }
	return ".plot .fill{fill:var(--c)}.plot .line{stroke:var(--c)}\n" + rules(light) +
		"@media (prefers-color-scheme: dark){\n" + rules(dark) + "}\n" +
		"@media print{\n" + rules(light) + "}\n"
}

func rules(scheme func(tone) string) string {
	var out strings.Builder
	fmt.Fprintf(&out, ".plot{background:%s}\n", scheme(byPaint[paper]))
	for _, t := range tones() {
		fmt.Fprintf(&out, ".plot .%s{--c:%s}\n", t.paint, scheme(t))
	}
	return out.String()
}
