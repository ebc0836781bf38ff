package plots

import (
	"math"
	"strconv"
	"strings"

	"gonum.org/v1/plot/vg"
)

// mostHundredths bounds coordinates, which are far outside of any plot there.
const mostHundredths = 1e8

// hundredths is v in hundredths, rounded. Coordinates are integers of this unit, so that relative ones do not add up
// their errors. A number that is not finite is 0.
func hundredths(v float64) int {
	if math.IsNaN(v) {
		return 0
	}
	return int(math.Round(max(-mostHundredths, min(v*100, mostHundredths))))
}

// number writes hundredths in the fewest characters.
func number(n int) string {
	s := strconv.FormatFloat(float64(n)/100, 'f', -1, 64)
	if rest, ok := strings.CutPrefix(s, "0."); ok {
		return "." + rest
	}
	if rest, ok := strings.CutPrefix(s, "-0."); ok {
		return "-." + rest
	}
	return s
}

// pen writes path data: moves and curves in absolute coordinates, lines in relative ones.
type pen struct {
	strings.Builder
	x, y int
	// startX and startY are where the path continues after it was closed.
	startX, startY int
	// drawn is set once the pen has a position.
	drawn bool
}

// command writes a letter and its numbers; a minus sign separates as a space does.
func (p *pen) command(letter string, numbers ...int) {
	p.WriteString(letter)
	for i, n := range numbers {
		s := number(n)
		if i > 0 && s[0] != '-' {
			p.WriteByte(' ')
		}
		p.WriteString(s)
	}
}

func (p *pen) move(x, y int) {
	p.command("M", x, y)
	p.x, p.y, p.startX, p.startY, p.drawn = x, y, x, y, true
}

func (p *pen) line(x, y int) {
	switch dx, dy := x-p.x, y-p.y; {
	case !p.drawn:
		p.move(x, y)
	case dx == 0 && dy == 0:
	case dy == 0:
		p.command("h", dx)
	case dx == 0:
		p.command("v", dy)
	default:
		p.command("l", dx, dy)
	}
	p.x, p.y = x, y
}

// pathData is a path in the coordinates of the SVG.
func (c *canvas) pathData(path vg.Path) string {
	var p pen
	for _, step := range path {
		x, y := c.at(step.Pos)
		switch step.Type {
		case vg.MoveComp:
			p.move(x, y)
		case vg.LineComp:
			p.line(x, y)
		case vg.ArcComp:
			c.arc(&p, step)
		case vg.CurveComp:
			c.curve(&p, step)
		case vg.CloseComp:
			p.WriteByte('z')
			p.x, p.y = p.startX, p.startY
		}
	}
	return p.String()
}

// arc draws at most half a circle at once, because SVG cannot draw a whole one.
func (c *canvas) arc(p *pen, step vg.PathComp) {
	at := func(angle float64) (x, y int) {
		sin, cos := math.Sincos(angle)
		return c.at(step.Pos.Add(vg.Point{X: step.Radius * vg.Length(cos), Y: step.Radius * vg.Length(sin)}))
	}
	x, y := at(step.Start)
	p.line(x, y)
	parts := math.Ceil(math.Abs(step.Angle)/math.Pi - 1e-9)
	sweep, radius := 0, hundredths(float64(step.Radius)*c.now.matrix.scale())
	if step.Angle < 0 {
		sweep = 100
	}
	for i := 1.0; i <= parts; i++ {
		x, y := at(step.Start + step.Angle*i/parts)
		p.command("A", radius, radius, 0, 0, sweep, x, y)
		p.x, p.y = x, y
	}
}

func (c *canvas) curve(p *pen, step vg.PathComp) {
	letter := map[int]string{1: "Q", 2: "C"}[len(step.Control)]
	var numbers []int
	for _, at := range append(step.Control[:len(step.Control):len(step.Control)], step.Pos) {
		x, y := c.at(at)
		numbers = append(numbers, x, y)
	}
	p.command(letter, numbers...)
	p.x, p.y = c.at(step.Pos)
}
