package plots

import (
	"cmp"
	"fmt"
	"slices"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// key is one entry of a legend: a sample and what it stands for.
type key struct {
	label string
	line  draw.LineStyle
	shape shape
	paint Paint
	// boxes are filled squares, for areas and levels.
	boxes []Paint
}

const (
	sampleWidth vg.Length = 24
	boxWidth    vg.Length = 12
	// maxKey is the greatest width of a label in a legend.
	maxKey vg.Length = 250
	// maxKeyRows bounds the height of a legend.
	maxKeyRows = 4
)

func (k key) sample() vg.Length {
	if len(k.boxes) > 0 {
		return boxWidth * vg.Length(len(k.boxes))
	}
	if k.line.Width == 0 && k.shape == none {
		return 0
	}
	return sampleWidth
}

// placedKey is a key with its place: the distance from the left, and the row from the top.
type placedKey struct {
	key
	text string
	x    vg.Length
	row  int
}

type legend []placedKey

// layOut puts keys side by side. Keys that do not fit are counted in the last one.
func layOut(keys []key) legend {
	for n := len(keys); ; n-- {
		shown := keys[:n:n]
		if n < len(keys) {
			shown = append(shown, key{label: fmt.Sprintf("and %d more", len(keys)-n)})
		}
		if l := flow(shown); l.rows() <= maxKeyRows || n == 0 {
			return l
		}
	}
}

func flow(keys []key) (l legend) {
	x, row := edge, 0
	for _, k := range keys {
		text := labelled(k.label, maxKey)
		taken := k.sample() + 6 + widthOf(text)
		if x > edge && x+taken > width-edge {
			x, row = edge, row+1
		}
		l = append(l, placedKey{key: k, text: text, x: x, row: row})
		x += taken + 18
	}
	return l
}

func (l legend) rows() int {
	if len(l) == 0 {
		return 0
	}
	return l[len(l)-1].row + 1
}

func (l legend) height() vg.Length {
	if len(l) == 0 {
		return 0
	}
	return vg.Length(l.rows())*lineHeight + 4
}

func (l legend) draw(c *canvas, top vg.Length) {
	for _, p := range l {
		y := top - (vg.Length(p.row)+0.5)*lineHeight
		p.drawSample(c, y)
		write := func() { c.write(textStyle(ink, startsAt, middle), point(p.x+p.sample()+6, y), p.text) }
		if p.text == cleaned(p.label) {
			write()
			continue
		}
		c.titled(p.label, write)
	}
}

func (p placedKey) drawSample(c *canvas, y vg.Length) {
	onto := draw.NewCanvas(c, c.width, c.height)
	for i, b := range p.boxes {
		c.SetColor(b)
		x := p.x + vg.Length(i)*boxWidth
		c.Fill(box(x, y-5, x+boxWidth, y+5))
	}
	if p.line.Width > 0 {
		onto.StrokeLine2(p.line, p.x, y, p.x+sampleWidth, y)
	}
	if p.shape == arrowUp {
		y -= aboveMarker
	}
	p.shape.draw(onto, p.paint, point(p.x+sampleWidth/2, y))
}

// flag is a text at a place of the x axis.
type flag struct {
	at    float64
	label string
	paint Paint
}

const (
	maxFlag vg.Length = 170
	// poleBelow is how far the data may begin below the top of a panel, to leave space for the label of a tick.
	poleBelow vg.Length = 7
)

const flagRows = 3

// flown is a flag with its place. It stands on a pole, which begins at the panel.
type flown struct {
	flag
	text         string
	pole         vg.Length
	start, end   vg.Length
	row          int // from the bottom
	startsAtPole bool
}

type strip []flown

// placeFlags puts each flag in the lowest row with space. Texts begin at their pole, unless they would leave the panel:
// those end there. If that leaves out flags, as many texts as fit end at their pole. A flag without space is left out; the
// readout names it.
func placeFlags(flags []flag, x func(float64) vg.Length, left, right vg.Length) strip {
	s := place(flags, x, left, right, false)
	if ending := place(flags, x, left, right, true); len(ending) > len(s) {
		return ending
	}
	return s
}

// place goes from right to left with texts that begin at their pole, and from left to right with those that end there: that
// keeps poles from crossing texts.
func place(flags []flag, x func(float64) vg.Length, left, right vg.Length, ends bool) (s strip) {
	var starting, ending []flown
	for _, f := range flags {
		out := flown{flag: f, text: fitted(f.label, maxFlag), pole: x(f.at), startsAtPole: true}
		if out.text == "" || out.pole < left-1 || out.pole > right+1 {
			continue
		}
		w := widthOf(out.text)
		out.start, out.end = out.pole+4, out.pole+4+w
		if out.end <= right && !(ends && out.pole-4-w >= edge) {
			starting = append(starting, out)
			continue
		}
		out.start, out.end, out.startsAtPole = out.pole-4-w, out.pole-4, false
		ending = append(ending, out)
	}
	byPole := func(a, b flown) int { return cmp.Compare(a.pole, b.pole) }
	slices.SortStableFunc(starting, byPole)
	slices.SortStableFunc(ending, byPole)
	slices.Reverse(starting)
	for _, f := range append(starting, ending...) {
		for f.row < flagRows && s.isTaken(f) {
			f.row++
		}
		if f.row < flagRows {
			s = append(s, f)
		}
	}
	return s
}

// isTaken reports whether a flag touches another one, or the pole of one crosses the text of the other.
func (s strip) isTaken(f flown) bool {
	for _, other := range s {
		switch {
		case other.row == f.row && f.start < other.end+8 && other.start < f.end+8:
			return true
		case other.row < f.row && other.start-2 < f.pole && f.pole < other.end+2:
			return true
		case other.row > f.row && f.start-2 < other.pole && other.pole < f.end+2:
			return true
		}
	}
	return false
}

func (s strip) height() vg.Length {
	rows := 0
	for _, f := range s {
		rows = max(rows, f.row+1)
	}
	return vg.Length(rows) * lineHeight
}

func (s strip) draw(c *canvas, top vg.Length) {
	if len(s) == 0 {
		return
	}
	c.flush()
	// A script hides them while their places are not those of the whole axis.
	c.out.WriteString(`<g class="flags">`)
	defer func() {
		c.flush()
		c.out.WriteString("</g>")
	}()
	bottom := top - s.height()
	onto := draw.NewCanvas(c, c.width, c.height)
	for _, f := range s {
		y := bottom + (vg.Length(f.row)+0.5)*lineHeight
		onto.StrokeLine2(draw.LineStyle{Color: f.paint, Width: 1}, f.pole, bottom-poleBelow, f.pole, y+6)
		at, style := point(f.start, y), textStyle(ink, startsAt, middle)
		if !f.startsAtPole {
			at, style = point(f.end, y), textStyle(ink, endsAt, middle)
		}
		c.titled(f.label, func() { c.write(style, at, f.text) })
	}
}
