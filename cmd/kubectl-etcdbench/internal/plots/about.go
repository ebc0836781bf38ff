package plots

import (
	"fmt"
	"math"
	"strings"

	"github.com/etcdbench/etcd-benchmark-operator/internal/text"
)

// About is what every plot says about itself.
type About struct {
	// ID is unique in the page, of a-z, 0-9 and hyphens.
	ID string
	// Title names the plot; Description says what it shows. A screen reader reads both.
	Title, Description string
}

// Info returns what the plot says about itself.
func (a About) Info() About { return a }

// fontFamily names fonts with the metrics of the one that lengths are computed with, and then any other. Chromium without
// these fonts shows sans-serif with serifs, so system-ui is before it.
const fontFamily = "Liberation Sans, Arial, Helvetica, system-ui, sans-serif"

// wrap makes a whole SVG element of what was drawn.
func (a About) wrap(c *canvas) string {
	id := a.id()
	return fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-labelledby="%[1]s-t %[1]s-d" class="plot" viewBox="0 0 %[2]s %[3]s" font-family="%[4]s" font-size="%[5]s" stroke-linejoin="round"><title id="%[1]s-t">%[6]s</title><desc id="%[1]s-d">%[7]s</desc>%[8]s</svg>`,
		id, number(hundredths(float64(c.width))), number(hundredths(float64(c.height))), fontFamily, number(hundredths(fontSize)),
		escaped(a.Title), escaped(a.Description), c.content())
}

// id replaces everything that an ID may not have.
func (a About) id() string {
	id := strings.Map(func(r rune) rune {
		if r == '-' || '0' <= r && r <= '9' || 'a' <= r && r <= 'z' {
			return r
		}
		return '-'
	}, a.ID)
	if id == "" {
		return "plot"
	}
	return id
}

// noData is the plot if there is nothing to draw.
func (a About) noData() string {
	c := newCanvas(width, emptyHeight)
	c.write(textStyle(soft, centred, middle), point(width/2, emptyHeight/2), "no data")
	return a.wrap(c)
}

// cleaned is a text from outside on one line, without characters that XML forbids or that change the direction of the
// text around them.
func cleaned(s string) string { return strings.Join(strings.Fields(text.Shorten(s, math.MaxInt)), " ") }

// escaped is a cleaned text as the content of an XML element or attribute.
func escaped(s string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;").Replace(cleaned(s))
}

// cut shortens a text to at most this many characters; the beginning and the end stay.
func cut(s string, characters int) string {
	runes := []rune(s)
	if len(runes) <= characters {
		return s
	}
	head, tail := (characters-1+1)/2, (characters-1)/2
	return strings.TrimSpace(string(runes[:head])) + "…" + strings.TrimSpace(string(runes[len(runes)-tail:]))
}
