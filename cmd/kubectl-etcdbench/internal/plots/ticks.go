package plots

import (
	"math"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
)

// room is the space for the ticks of an axis.
type room struct {
	length vg.Length
	// gap is the least distance between the ends of two neighbouring labels.
	gap vg.Length
	// size of a label in the direction of the axis.
	size func(label string) vg.Length
}

// axisRoom is the length that a horizontal axis at least has beside the labels of the vertical one.
const axisRoom vg.Length = 240

// across is the room of a horizontal axis, up that of a vertical one.
func across(length vg.Length) room { return room{length: length, gap: 24, size: widthOf} }

func up(length vg.Length) room {
	return room{length: length, gap: 10, size: func(string) vg.Length { return fontSize }}
}

// ticks of a scale, with labels as format writes them.
func (r room) ticks(s scale, format func(float64) string) []plot.Tick {
	if s.log {
		return r.logTicks(s, format)
	}
	return r.linearTicks(s, format)
}

// linearTicks are the multiples of the least round step whose labels fit, and tell the ticks apart.
func (r room) linearTicks(s scale, format func(float64) string) []plot.Tick {
	span := s.max - s.min
	for step := round125(span / 10); step <= 2*span; step = round125(step * 1.01) {
		ticks := multiples(s, step, format)
		if r.fit(s, ticks) && areExact(ticks, step, format) {
			return ticks
		}
	}
	return []plot.Tick{{Value: s.min, Label: format(s.min)}}
}

func multiples(s scale, step float64, format func(float64) string) (ticks []plot.Tick) {
	for i := math.Ceil(s.min/step - 1e-9); i*step <= s.max*(1+1e-12)+step*1e-9; i++ {
		v := max(s.min, min(i*step, s.max))
		ticks = append(ticks, plot.Tick{Value: v, Label: format(v)})
	}
	return ticks
}

// areExact reports whether the labels are precise enough for the step: rounding must not give a value between two ticks
// the label of one of them.
func areExact(ticks []plot.Tick, step float64, format func(float64) string) bool {
	for _, t := range ticks {
		if format(t.Value+0.6*step) == t.Label {
			return false
		}
	}
	return len(ticks) > 0
}

// fit reports whether labels keep their distance.
func (r room) fit(s scale, ticks []plot.Tick) bool {
	at := func(v float64) vg.Length {
		if s.log {
			return r.length * vg.Length(logScale{}.Normalize(s.min, s.max, v))
		}
		return r.length * vg.Length((v-s.min)/(s.max-s.min))
	}
	end := vg.Length(math.Inf(-1))
	for _, t := range ticks {
		if t.IsMinor() {
			continue
		}
		half := r.size(t.Label) / 2
		if at(t.Value)-half < end+r.gap {
			return false
		}
		end = at(t.Value) + half
	}
	return true
}

// logTicks are 1, 2 and 5 times the powers of ten if their labels fit; else some of them have no label.
func (r room) logTicks(s scale, format func(float64) string) []plot.Tick {
	for _, labelled := range [][]float64{{1, 2, 5}, {1, 3}, {1}} {
		if ticks := powers(s, labelled, 1, format); r.fit(s, ticks) && countMajor(ticks) > 1 {
			return ticks
		}
	}
	for every := 2; every < 40; every++ {
		if ticks := powers(s, []float64{1}, every, format); r.fit(s, ticks) {
			return ticks
		}
	}
	return nil
}

// powers are the ticks of every so many decades that have labels, and those in between without one.
func powers(s scale, labelled []float64, every int, format func(float64) string) (ticks []plot.Tick) {
	for decade := int(math.Floor(math.Log10(s.min) + 1e-9)); decade <= int(math.Ceil(math.Log10(s.max))); decade++ {
		for factor := 1.0; factor < 10; factor++ {
			v := factor * math.Pow10(decade)
			if v < s.min*(1-1e-9) || v > s.max*(1+1e-9) || every > 1 && factor > 1 {
				continue
			}
			t := plot.Tick{Value: v}
			for _, l := range labelled {
				if l == factor && decade%every == 0 {
					t.Label = format(v)
				}
			}
			ticks = append(ticks, t)
		}
	}
	return ticks
}

func countMajor(ticks []plot.Tick) (n int) {
	for _, t := range ticks {
		if !t.IsMinor() {
			n++
		}
	}
	return n
}

// nominal are the ticks 0, 1, 2, … with these labels. If not all fit, only every second, third, … has one.
func (r room) nominal(s scale, labels []string) []plot.Tick {
	for every := 1; ; every++ {
		var ticks []plot.Tick
		for i, label := range labels {
			t := plot.Tick{Value: float64(i)}
			if i%every == 0 {
				t.Label = fitted(label, maxNominal)
			}
			ticks = append(ticks, t)
		}
		if r.fit(s, ticks) || every > len(labels) {
			return ticks
		}
	}
}

// maxNominal is the greatest width of a label below an axis.
const maxNominal = 90

// tail is the place of a percentile on a logarithmic axis: the number of requests of which one is slower.
func tail(percentile float64) float64 { return 1 / (1 - max(0, min(percentile, 1-1e-9))) }

// percentileTicks are 0 %, 50 %, 90 %, 99 %, 99.9 % and so on.
func (r room) percentileTicks(s scale) []plot.Tick {
	all := []plot.Tick{{Value: 1, Label: "0 %"}, {Value: 2, Label: "50 %"}}
	for power := 1; math.Pow10(power) <= s.max*(1+1e-9); power++ {
		all = append(all, plot.Tick{Value: math.Pow10(power), Label: nines(power)})
	}
	r.gap = 8
	for every := 1; ; every++ {
		for _, withMedian := range []bool{true, false} {
			var ticks []plot.Tick
			for i, t := range all {
				if i > 1 && (i-1)%every != 0 || i == 1 && !withMedian {
					t.Label = ""
				}
				ticks = append(ticks, t)
			}
			if r.fit(s, ticks) || every > len(all) {
				return ticks
			}
		}
	}
}

// nines is the percentile above which one in 10 to the power of so many requests lies.
func nines(power int) string {
	if power <= 2 {
		return strings.Repeat("9", power) + strings.Repeat("0", 2-power) + " %"
	}
	return "99." + strings.Repeat("9", power-2) + " %"
}
