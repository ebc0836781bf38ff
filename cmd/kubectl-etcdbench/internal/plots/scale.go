package plots

import (
	"math"

	"gonum.org/v1/plot"
)

// scale is the range of an axis, in the values of its unit.
type scale struct {
	min, max float64
	log      bool
}

// leastLog is the smallest value on a logarithmic axis; with microseconds it is one nanosecond.
const leastLog = 1e-3

// logScale maps values by their logarithm. Gonum's panics at 0, which it also asks for, when it places labels.
type logScale struct{}

// Normalize implements plot.Normalizer.
func (logScale) Normalize(low, high, x float64) float64 {
	low = max(low, leastLog)
	return math.Log(max(x, leastLog)/low) / math.Log(high/low)
}

// has reports whether a value can be drawn on the axis.
func (s scale) has(v float64) bool {
	v, ok := bounded(v)
	return ok && (!s.log || v > 0)
}

// extent collects the least and the greatest of values.
type extent struct {
	min, max float64
	// least is the smallest value above 0.
	least float64
	known bool
}

func (e *extent) add(values ...float64) {
	for _, v := range values {
		v, ok := bounded(v)
		if !ok {
			continue
		}
		if !e.known {
			*e = extent{min: v, max: v, known: true}
		}
		e.min, e.max = min(e.min, v), max(e.max, v)
		if v > 0 && (e.least == 0 || v < e.least) {
			e.least = v
		}
	}
}

// addPositive ignores 0, which stands for unknown.
func (e *extent) addPositive(values ...float64) {
	for _, v := range values {
		if v > 0 {
			e.add(v)
		}
	}
}

// fromZero is a linear scale with 0 whose ends are round numbers.
func (e extent) fromZero() scale { return e.including(0) }

// including is a linear scale with a value, whose ends are round numbers.
func (e extent) including(v float64) scale {
	e.add(v)
	return e.close(0)
}

// close is a linear scale of little more than the values, but at least of a share of the greatest.
func (e extent) close(share float64) scale {
	greatest := max(math.Abs(e.min), math.Abs(e.max))
	if missing := max(share*greatest, 1e-6*greatest, 1e-6) - (e.max - e.min); missing > 0 {
		if e.min != 0 {
			e.min -= missing / 2
		}
		if e.max != 0 || e.min == 0 {
			e.max += missing / 2
		}
	}
	step := round125((e.max - e.min) / 10)
	return scale{min: math.Floor(e.min/step+1e-9) * step, max: math.Ceil(e.max/step-1e-9) * step}
}

// logarithmic is a scale whose ends are 1, 2 or 5 times a power of ten.
func (e extent) logarithmic() scale {
	low, high := max(e.least, leastLog), max(e.max, leastLog)
	low, high = below125(low), round125(high)
	if low == high {
		low, high = below125(low*0.99), round125(high*1.01)
	}
	return scale{min: low, max: high, log: true}
}

// ofLatency is logarithmic if the values span more than a decade.
func (e extent) ofLatency() scale {
	if e.least > 0 && e.max/e.least > 10 {
		return e.logarithmic()
	}
	return e.fromZero()
}

// round125 is the next number at or above v that is 1, 2 or 5 times a power of ten.
func round125(v float64) float64 {
	if v <= 0 {
		return leastLog
	}
	power := math.Pow10(int(math.Floor(math.Log10(v))))
	for _, factor := range []float64{1, 2, 5} {
		if v <= factor*power*(1+1e-9) {
			return factor * power
		}
	}
	return 10 * power
}

// below125 is the next number at or below v that is 1, 2 or 5 times a power of ten.
func below125(v float64) float64 {
	power := math.Pow10(int(math.Floor(math.Log10(v) + 1e-9)))
	for _, factor := range []float64{5, 2} {
		if v >= factor*power*(1-1e-9) {
			return factor * power
		}
	}
	return power
}

// apply sets the range and the ticks of an axis.
func (s scale) apply(a *plot.Axis, ticks []plot.Tick) {
	a.Min, a.Max = s.min, s.max
	a.Scale = plot.LinearScale{}
	if s.log {
		a.Scale = logScale{}
	}
	a.Tick.Marker = plot.ConstantTicks(ticks)
}
