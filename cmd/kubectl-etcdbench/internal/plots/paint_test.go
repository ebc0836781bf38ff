package plots

import (
	"math"
	"regexp"
	"strings"
	"testing"
)

// luminance is the relative luminance of WCAG 2.
func luminance(hex string) float64 {
	c := rgba(hex)
	part := func(v uint8) float64 {
		s := float64(v) / 255
		if s <= 0.04045 {
			return s / 12.92
		}
		return math.Pow((s+0.055)/1.055, 2.4)
	}
	return 0.2126*part(c.R) + 0.7152*part(c.G) + 0.0722*part(c.B)
}

func contrast(a, b string) float64 {
	x, y := luminance(a), luminance(b)
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

func TestContrast(t *testing.T) {
	if got := contrast("#000000", "#ffffff"); math.Abs(got-21) > 1e-9 {
		t.Fatalf("black on white has %v", got)
	}
	ground := byPaint[paper]
	for _, x := range tones() {
		want := 3.0 // of lines and markers
		switch {
		case x.paint == ink || x.paint == soft:
			want = 4.5
		case x.paint == paper || x.paint == grid || x.paint == tolerance || x.opacity < 1 || strings.HasPrefix(string(x.paint), "heat-"):
			continue
		}
		if got := contrast(x.light, ground.light); got < want {
			t.Errorf("%s has a contrast of %.2f in the light scheme, wanted %.1f", x.paint, got, want)
		}
		if got := contrast(x.dark, ground.dark); got < want {
			t.Errorf("%s has a contrast of %.2f in the dark scheme, wanted %.1f", x.paint, got, want)
		}
	}
}

// The more requests a cell has, the more it stands out from the ground, and all cells have the same hue.
func TestHeatHasOneHue(t *testing.T) {
	hue := func(hex string) float64 {
		c := rgba(hex)
		return math.Atan2(math.Sqrt(3)*(float64(c.G)-float64(c.B)), 2*float64(c.R)-float64(c.G)-float64(c.B)) * 180 / math.Pi
	}
	for _, scheme := range []func(tone) string{func(t tone) string { return t.light }, func(t tone) string { return t.dark }} {
		before, ground := 1.1, scheme(byPaint[paper])
		for level := 1; level <= heatPaints; level++ {
			colour := scheme(byPaint[heat(level)])
			if got := contrast(colour, ground); got < 1.15*before {
				t.Errorf("%s: level %d has a contrast of %.2f, that before %.2f", ground, level, got, before)
			} else {
				before = got
			}
			if off := math.Abs(hue(colour) - hue("#377ab0")); off > 20 {
				t.Errorf("%s: the hue of level %d is %.0f degrees off", ground, level, off)
			}
		}
	}
}

// Texts have only the two paints with the contrast of texts.
func TestPaintsOfTexts(t *testing.T) {
	for name, svg := range everything() {
		for _, e := range parsed(t, svg).all("text") {
			if class := e.attrs["class"]; class != "ink fill" && class != "soft fill" {
				t.Errorf("%s: %q has the class %q", name, e.text, class)
			}
		}
	}
}

// scheme returns the rules of a style sheet in a media block, or those outside of any.
func scheme(media string) string {
	parts := regexp.MustCompile(`(?s)@media ([^{]+)\{\n(.*?)\n\}`).FindAllStringSubmatch(Styles(), -1)
	for _, p := range parts {
		if p[1] == media {
			return p[2]
		}
	}
	return Styles()[:strings.Index(Styles(), "@media")]
}

func TestEachUsedClassHasRules(t *testing.T) {
	blocks := map[string]string{"light": scheme(""), "dark": scheme("(prefers-color-scheme: dark)"), "print": scheme("print")}
	used := map[string]string{}
	for _, svg := range everything() {
		for _, e := range parsed(t, svg).all("") {
			for _, property := range []string{"fill", "stroke"} {
				colour, has := e.attrs[property]
				if !has || colour == "none" {
					continue
				}
				classes := strings.Fields(e.attrs["class"])
				if len(classes) != 2 || classes[1] != classOf[property] {
					t.Fatalf("%s with %s=%s has the classes %v", e.name, property, colour, classes)
				}
				used[classes[0]] = colour
			}
		}
	}
	if len(used) < len(tones()) {
		t.Errorf("the plots of the tests have %d of %d paints", len(used), len(tones()))
	}
	for class, colour := range used {
		for name, rules := range blocks {
			if !strings.Contains(rules, ".plot ."+class+"{--c:#") {
				t.Errorf("%s has no rule in %s", class, name)
			}
		}
		if !strings.Contains(blocks["dark"], ".plot ."+class+"{--c:"+byPaint[Paint(class)].dark+"}") {
			t.Errorf("%s does not have its dark colour in the dark scheme", class)
		}
		if !strings.Contains(blocks["light"], ".plot ."+class+"{--c:"+colour+"}") || !strings.Contains(blocks["print"], ".plot ."+class+"{--c:"+colour+"}") {
			t.Errorf("without a style sheet, %s has the colour %s, which is not that of the light scheme and of print", class, colour)
		}
	}
}
