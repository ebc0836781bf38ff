package plots

import (
	"fmt"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg/draw"

	"github.com/etcdbench/etcd-benchmark-operator/internal/text"
)

// Heatmap shows how latency was distributed in each interval, with lines of percentiles over it.
type Heatmap struct {
	About
	// Interval is in seconds, and Last those of the last interval if it is shorter.
	Interval, Last float64
	// Bands are from short to long, and adjacent.
	Bands []Band
	// Lines are in microseconds, with a value per interval.
	Lines []TimeLine
	Marks []Mark
	// Stalls are the intervals in which requests were waiting and none ended.
	Stalls []bool
}

// Band is a range of latency in microseconds; From is 0 for the lowest.
type Band struct {
	From, To float64
	// Counts are the requests in each interval.
	Counts []uint64
}

// bandScale gives every band the same height, and is logarithmic within a band. Bands are as wide as each other in the
// logarithm, except where the caller merged some.
type bandScale []Band

// Normalize implements plot.Normalizer. It needs no range, since the bands have one.
func (b bandScale) Normalize(_, _, x float64) float64 {
	for i, band := range b {
		if x > band.To {
			continue
		}
		low := lowOf(band)
		part := math.Log(max(x, low)/low) / math.Log(band.To/low)
		return (float64(i) + max(0, min(part, 1))) / float64(len(b))
	}
	return 1
}

// lowOf is where a band begins; the lowest is drawn as if it began at half of its end.
func lowOf(b Band) float64 {
	if b.From > 0 && b.From < b.To {
		return b.From
	}
	return b.To / 2
}

// heatLines is how many lines the cells count as, when the length of the readout is decided.
const heatLines = 12

// SVG draws the plot.
func (h Heatmap) SVG() string {
	h.Bands = h.used()
	if len(h.Bands) == 0 {
		return h.noData()
	}
	w := newWindow(h.Interval, h.Last, h.intervals(), 0, h.Marks, h.Stalls)
	p := newPanel(210, "latency, log scale", seconds)
	w.apply(p)
	y := scale{min: lowOf(h.Bands[0]), max: h.Bands[len(h.Bands)-1].To, log: true}
	y.apply(&p.Y, up(170).ticks(y, micros))
	p.Y.Scale = bandScale(h.Bands)
	if !up(170).fitOn(p.Y) {
		p.Y.Tick.Marker = plot.ConstantTicks{{Value: y.min, Label: micros(y.min)}, {Value: y.max, Label: micros(y.max)}}
	}
	greatest := h.greatest()
	p.Add(layer(w.under), layer(func(a area) { a.out.cells(a, w, h.levels(greatest)) }))
	s := sheet{About: h.About, flags: w.flags(), panels: []panel{p}, below: w.below()}
	s.keys = append(s.keys, key{label: "1 to " + text.Grouped(greatest) + " requests in a cell, log scale", boxes: heats()})
	for i, line := range h.Lines {
		style := draw.LineStyle{Color: ink, Width: 1.8, Dashes: dashes(i)}
		spots := stretches(w.spots(line, line.Values), w.scale, y)
		if len(spots) == 0 {
			continue
		}
		s.keys = append(s.keys, key{label: line.Label, line: style})
		p.Add(layer(func(a area) {
			a.lines(draw.LineStyle{Color: paper, Width: 4}, spots)
			a.lines(style, spots)
		}))
	}
	s.keys = append(s.keys, w.keys()...)
	p.Add(layer(w.over), readout(w.columns(heatLines, h.interval)))
	return s.svg()
}

func heats() (all []Paint) {
	for level := 1; level <= heatPaints; level++ {
		all = append(all, heat(level))
	}
	return all
}

// used are the bands without the empty ones at both ends. Bands that are not in order are left out.
func (h Heatmap) used() []Band {
	var bands []Band
	first, last, before := -1, 0, 0.0
	for _, b := range h.Bands {
		to, ok := bounded(b.To)
		if !ok || to <= max(before, leastLog) || b.From > to {
			continue
		}
		before, b.To = to, to
		bands = append(bands, b)
		for _, n := range b.Counts {
			if n > 0 && first < 0 {
				first = len(bands) - 1
			}
			if n > 0 {
				last = len(bands)
			}
		}
	}
	if first < 0 {
		return nil
	}
	return bands[first:last]
}

func (h Heatmap) intervals() int {
	n := len(h.Stalls)
	for _, l := range h.Lines {
		n = max(n, len(l.Values))
	}
	for _, b := range h.Bands {
		n = max(n, len(b.Counts))
	}
	return n
}

func (h Heatmap) greatest() (most uint64) {
	for _, b := range h.Bands {
		for _, n := range b.Counts {
			most = max(most, n)
		}
	}
	return most
}

// levels are the levels of heat, a row per band from the longest latency down. A cell without requests has level 0.
func (h Heatmap) levels(greatest uint64) [][]int {
	rows := make([][]int, len(h.Bands))
	for i, b := range h.Bands {
		row := make([]int, len(b.Counts))
		for k, n := range b.Counts {
			row[k] = levelOf(n, greatest)
		}
		rows[len(rows)-1-i] = row
	}
	return rows
}

// levelOf is the level of a count by its logarithm: 1 for one request, heatPaints for the greatest count.
func levelOf(n, greatest uint64) int {
	switch {
	case n == 0:
		return 0
	case n >= greatest:
		return heatPaints
	}
	return 1 + int(math.Log(float64(n))/math.Log(float64(greatest))*(heatPaints-1))
}

// interval is the readout of an interval.
func (h Heatmap) interval(i int) string {
	out, n := "", uint64(0)
	for _, b := range h.Bands {
		if i < len(b.Counts) {
			n += b.Counts[i]
		}
	}
	for _, line := range h.Lines {
		if v := line.in(i, h.Interval); (scale{log: true}).has(v) {
			out += fmt.Sprintf("%s %s, ", line.Label, micros(v))
		}
	}
	return out + text.Plural(n, "request")
}
