package plots

import (
	"cmp"
	"math"
	"strings"

	"gonum.org/v1/plot/vg/draw"
)

// Mark is something that happened during the measured window: a disturbance, or an event such as a new leader.
type Mark struct {
	// At and Until are in seconds from the start of the window. An event without a duration has no Until.
	At, Until float64
	Label     string
}

// window is the x axis of plots over time.
type window struct {
	// interval is in seconds.
	interval  float64
	intervals int
	marks     []Mark
	stalls    []bool
	scale     scale
	// across names the axis if it has no seconds.
	across string
}

// below is what is written under the axis.
func (w window) below() string { return cmp.Or(w.across, overTimeAxis) }

// write writes a place on the axis.
func (w window) write(at float64) string {
	if w.across != "" {
		return digits(at)
	}
	return clock(at)
}

// newWindow has so many intervals, of which the last can be shorter, and at least ends there.
func newWindow(interval, last float64, intervals int, end float64, marks []Mark, stalls []bool) window {
	if v, ok := bounded(interval); !ok || v <= 0 {
		interval = 1
	}
	interval = min(interval, 1e9)
	whole := float64(intervals)
	if last > 0 && last < interval && intervals > 0 {
		whole += last/interval - 1
	}
	end = max(interval*whole, end)
	w := window{interval: interval, intervals: intervals, stalls: stalls, scale: scale{max: max(end, 1e-3)}}
	for _, m := range marks {
		if m.At >= 0 && m.At <= end {
			m.Until = math.Max(m.At, math.Min(m.Until, end))
			w.marks = append(w.marks, m)
		}
	}
	return w
}

const overTimeAxis = "time since the measured window began"

// clock writes a number of seconds from the start.
func clock(seconds float64) string {
	if seconds == 0 {
		return "0s"
	}
	return Seconds.Text(seconds)
}

func (w window) apply(p panel) {
	w.scale.apply(&p.X, across(axisRoom).ticks(w.scale, w.write))
}

// kind is what the axis has.
func (w window) kind() numbers {
	if w.across != "" {
		return plainNumbers
	}
	return seconds
}

// spots are values of a line at their times: in the middle of their intervals, or where the line says.
func (w window) spots(l TimeLine, values []float64) (out []spot) {
	for i, v := range values {
		at := (float64(i)*w.interval + min(float64(i+1)*w.interval, w.scale.max)) / 2
		switch {
		case l.At != nil && i >= len(l.At):
			at = math.NaN()
		case l.At != nil:
			at = l.At[i]
		}
		out = append(out, spot{x: at, y: v})
	}
	return out
}

func (w window) flags() (flags []flag) {
	for _, m := range w.marks {
		flags = append(flags, flag{at: m.At, label: m.Label, paint: mark})
	}
	return flags
}

// keys explain what under draws.
func (w window) keys() (keys []key) {
	for _, m := range w.marks {
		if m.Until > m.At {
			keys = append(keys, key{label: "disturbance", boxes: []Paint{mark}})
			break
		}
	}
	if len(w.stalled()) > 0 {
		keys = append(keys, key{label: "no answers, requests waiting", boxes: []Paint{stall}})
	}
	return keys
}

// stalled are the spans of time in which intervals stalled.
func (w window) stalled() (spans []spot) {
	for i, s := range w.stalls {
		from, to := float64(i)*w.interval, float64(i+1)*w.interval
		switch last := len(spans) - 1; {
		case !s || from >= w.scale.max:
		case last >= 0 && w.stalls[i-1]:
			spans[last].y = to
		default:
			spans = append(spans, spot{x: from, y: to})
		}
	}
	return spans
}

// under draws marks and stalls below the data.
func (w window) under(a area) {
	for _, m := range w.marks {
		if m.Until > m.At {
			a.fill(markBand, box(a.at(m.At, 0).X, a.Min.Y, a.at(m.Until, 0).X, a.Max.Y))
		}
	}
	for _, s := range w.stalled() {
		a.fill(stallBand, box(a.at(s.x, 0).X, a.Min.Y, a.at(s.y, 0).X, a.Max.Y))
	}
}

// over draws the lines at which marks begin, and bars along marks and stalls, above the data.
func (w window) over(a area) {
	for _, m := range w.marks {
		if m.Until > m.At {
			a.fill(mark, box(a.at(m.At, 0).X, a.Max.Y-3, a.at(m.Until, 0).X, a.Max.Y))
		}
	}
	for _, m := range w.marks {
		a.upright(draw.LineStyle{Color: mark, Width: 1, Dashes: dashes(1)}, m.At)
	}
	for _, s := range w.stalled() {
		a.fill(stall, box(a.at(s.x, 0).X, a.Min.Y, a.at(s.y, 0).X, a.Min.Y+4))
	}
}

// happened names what happened in an interval.
func (w window) happened(i int) string {
	out := w.marked(float64(i)*w.interval, float64(i+1)*w.interval)
	if i < len(w.stalls) && w.stalls[i] {
		return "; no answers" + out
	}
	return out
}

// marked names the marks in a span of time.
func (w window) marked(from, to float64) string {
	var out strings.Builder
	named := 0
	for _, m := range w.marks {
		if m.At < to && (m.Until > from || m.At >= from) && named < 3 {
			out.WriteString("; " + cut(cleaned(m.Label), 40))
			named++
		}
	}
	return out.String()
}

const (
	// maxReadout and minReadout are bytes. A plot with many lines and marks gets a shorter readout.
	maxReadout, minReadout = 13_000, 4_000
	// lineBytes is about what a line or a mark takes beside its points.
	lineBytes  = 250
	maxColumns = 120
	// columnBytes is about what a column has beside its text.
	columnBytes = 50
)

// columns are the readout of the intervals. If it would be too long, each column stands for several intervals and
// shows the first of them.
func (w window) columns(lines int, text func(i int) string) []column {
	limit := max(minReadout, maxReadout-lineBytes*(lines+len(w.marks)))
	for every := 1; ; every++ {
		var columns []column
		size := 0
		for i := 0; i < w.intervals; i += every {
			c := column{from: float64(i) * w.interval, to: float64(min(i+every, w.intervals)) * w.interval}
			c.text = w.write(c.from) + ": " + text(i) + w.happened(i)
			columns = append(columns, c)
			if size += len(c.text) + columnBytes; size > limit || len(columns) > maxColumns {
				break
			}
		}
		if size <= limit && len(columns) <= maxColumns || every >= w.intervals {
			return columns
		}
	}
}

// around are columns of which each has one of these times in it. If the readout would be too long, some times are left
// out, never the last one.
func (w window) around(lines int, times []float64, text func(from, to float64) string) []column {
	limit := max(minReadout, maxReadout-lineBytes*(lines+len(w.marks)))
	for every := 1; ; every++ {
		var chosen []float64
		for i := (len(times) - 1) % every; i < len(times); i += every {
			chosen = append(chosen, times[i])
		}
		var columns []column
		size := 0
		for i, at := range chosen {
			c := column{from: 0, to: w.scale.max}
			if i > 0 {
				c.from = columns[i-1].to
			}
			if i+1 < len(chosen) {
				c.to = (at + chosen[i+1]) / 2
			}
			half := max(at-c.from, c.to-at)
			c.text = w.write(at) + ": " + text(at-half, at+half) + w.marked(c.from, c.to)
			columns = append(columns, c)
			size += len(c.text) + columnBytes
		}
		if size <= limit && len(columns) <= maxColumns || every >= len(times) {
			return columns
		}
	}
}
