package plots

import (
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/internal/text"
)

// Unit is the unit of values, which decides how they are written and scaled.
type Unit string

const (
	PerSecond    Unit = "PerSecond"
	Microseconds Unit = "Microseconds"
	Milliseconds Unit = "Milliseconds"
	Seconds      Unit = "Seconds"
	Bytes        Unit = "Bytes"
	// Percent is of 100: 12.5 is 12.5 %.
	Percent Unit = "Percent"
	Count   Unit = "Count"
)

// most bounds values, so that every text stays short and every scale finite.
const most = 1e15

// bounded reports whether a value is known, and limits it.
func bounded(v float64) (float64, bool) {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return 0, false
	}
	return max(-most, min(v, most)), true
}

// isDuration units have a logarithmic axis if their values span more than a decade.
func (u Unit) isDuration() bool { return u == Microseconds || u == Milliseconds || u == Seconds }

// axis is what an axis of the unit is called if the plot does not say it.
func (u Unit) axis() string {
	switch u {
	case PerSecond:
		return "per second"
	case Microseconds, Milliseconds, Seconds:
		return "time"
	case Bytes:
		return "bytes"
	case Percent:
		return "percent"
	}
	return "count"
}

// Text writes a value with its unit.
func (u Unit) Text(v float64) string {
	if v < 0 {
		out := u.Text(-v)
		if !strings.ContainsAny(out, "123456789") {
			return out
		}
		return "-" + out
	}
	switch u {
	case PerSecond:
		return text.RateOf(min(v, most)).String()
	case Microseconds:
		return micros(v)
	case Milliseconds:
		return micros(v * 1e3)
	case Seconds:
		return micros(v * 1e6)
	case Bytes:
		return prefixed(v) + "B"
	case Percent:
		return digits(v) + " %"
	}
	return digits(v)
}

// micros writes microseconds; those below 1 in nanoseconds.
func micros(us float64) string {
	if us < 1 {
		return text.Duration(time.Duration(math.Round(us * 1e3)))
	}
	return text.Micros(int64(min(math.Round(us), most)))
}

// digits writes three significant digits, and all digits before the point.
func digits(v float64) string {
	if math.Abs(v) >= 1000 {
		return text.Grouped(text.Integer(math.Round(v)))
	}
	if math.Abs(v) < 1e-6 {
		return "0"
	}
	r, _ := strconv.ParseFloat(strconv.FormatFloat(v, 'g', 3, 64), 64)
	return strconv.FormatFloat(r, 'f', -1, 64)
}

// prefixed writes a number with a decimal prefix, for example 1.5 M.
func prefixed(v float64) string {
	prefixes := []string{"", "k", "M", "G", "T"}
	i := 0
	for v >= 999.5 && i < len(prefixes)-1 {
		v, i = v/1000, i+1
	}
	return digits(v) + " " + prefixes[i]
}

// change writes a relative change in percent with its sign.
func change(v float64) string {
	out := digits(v*100) + " %"
	if v > 0 && !strings.HasPrefix(out, "0 ") {
		return "+" + out
	}
	return out
}

// times writes a ratio.
func times(v float64) string { return "×" + digits(v) }
