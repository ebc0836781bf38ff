package text

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// Grouped writes n with commas between groups of three digits. All texts for people use it for counts; values of
// manifests and flags, and output for programs, have no commas.
func Grouped[T ~int | ~int32 | ~int64 | ~uint64](n T) string {
	digits, sign := strconv.FormatUint(uint64(n), 10), ""
	if n < 0 {
		digits, sign = strconv.FormatUint(-uint64(n), 10), "-"
	}
	var out strings.Builder
	out.WriteString(sign)
	for i, d := range digits {
		if i > 0 && (len(digits)-i)%3 == 0 {
			out.WriteByte(',')
		}
		out.WriteRune(d)
	}
	return out.String()
}

// Micros writes microseconds with three significant digits and a suitable unit, for example 812µs, 25.1ms or 1.23s.
func Micros(us int64) string {
	switch abs := max(us, -us); {
	case abs < 1_000:
		return strconv.FormatInt(us, 10) + "µs"
	case significant(float64(abs)/1e3) < 1_000:
		return threeDigits(float64(us)/1e3) + "ms"
	default:
		return threeDigits(float64(us)/1e6) + "s"
	}
}

// significant rounds to three significant digits, so that 999.96 ms is shown as 1s and not as 1000ms.
func significant(v float64) float64 {
	r, _ := strconv.ParseFloat(strconv.FormatFloat(v, 'g', 3, 64), 64)
	return r
}

// threeDigits writes three significant digits, and all digits before the point.
func threeDigits(v float64) string {
	if math.Abs(v) >= 1_000 {
		return Grouped(int64(math.Round(v)))
	}
	return strconv.FormatFloat(significant(v), 'f', -1, 64)
}

// Duration writes a duration as Micros does, and one below a microsecond in nanoseconds.
func Duration(d time.Duration) string {
	if d < time.Microsecond {
		return strconv.FormatInt(d.Nanoseconds(), 10) + "ns"
	}
	return Micros(d.Round(time.Microsecond).Microseconds())
}

// Exact writes a duration to the microsecond, rounded up, so that a value above a limit never looks like the limit.
func Exact(d time.Duration) string {
	us := int64(math.Ceil(float64(d) / float64(time.Microsecond)))
	if us < 1_000 {
		return strconv.FormatInt(us, 10) + "µs"
	}
	return strconv.FormatFloat(float64(us)/1e3, 'f', -1, 64) + "ms"
}

// PerMillion writes a share in millionths, rounded up to a tenth of a millionth.
func PerMillion(share float64) string {
	return strconv.FormatFloat(math.Ceil(share*10)/10, 'f', -1, 64) + " per million"
}

// Megabytes writes a number of bytes in units of a million bytes.
func Megabytes(bytes int64) string {
	return Grouped(int64(math.Round(float64(bytes)/1e6))) + " MB"
}

// Bytes writes a number of bytes.
func Bytes(n float64) string { return Grouped(Integer(n)) + " B" }

// Integer is v, limited to the range of exact integers: a member can report any number.
func Integer(v float64) int64 { return int64(max(-MostExact, min(v, MostExact))) }

// MostExact is the largest number up to which a float64 holds every integer.
const MostExact = 1 << 53

// SignedPercent writes a share, such as a relative change, as a percentage with its sign and one digit after the point,
// or none from 100 % on.
func SignedPercent(share float64) string {
	digits := 1
	if share >= 1 || share <= -1 {
		digits = 0
	}
	// No "-0.0 %".
	if share > -0.0005 && share < 0.0005 {
		share = 0
	}
	return fmt.Sprintf("%+.*f %%", digits, 100*share)
}

// Beside writes a duration as Duration does, so that it looks the same everywhere, unless that would move it across a
// limit or onto it. Then it is Exact.
func Beside(limit, d time.Duration) string {
	out := Duration(d)
	shown, err := time.ParseDuration(strings.ReplaceAll(out, ",", ""))
	if err != nil || shown == limit && d != limit || (shown > limit) != (d > limit) {
		return Exact(d)
	}
	return out
}
