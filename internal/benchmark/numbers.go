package benchmark

import (
	"math"
	"strconv"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// Micros writes a number of microseconds with three significant digits and the
// unit that suits it, for example 812µs, 25.1ms or 1.23s.
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

// Megabytes writes a number of bytes in units of a million bytes.
func Megabytes(bytes int64) string {
	return results.Grouped(int64(math.Round(float64(bytes)/1e6))) + " MB"
}

// significant rounds to three significant digits, so that 999.96 ms is shown
// as 1s and not as 1000ms.
func significant(v float64) float64 {
	r, _ := strconv.ParseFloat(strconv.FormatFloat(v, 'g', 3, 64), 64)
	return r
}

// threeDigits keeps all digits before the point, however many they are.
func threeDigits(v float64) string {
	if math.Abs(v) >= 1_000 {
		return results.Grouped(int64(math.Round(v)))
	}
	return strconv.FormatFloat(significant(v), 'f', -1, 64)
}

// Nanos writes a duration as Micros does, but nanoseconds where it is shorter
// than a microsecond.
func Nanos(d time.Duration) string {
	if d < time.Microsecond {
		return strconv.FormatInt(d.Nanoseconds(), 10) + "ns"
	}
	return Micros(toMicros(d))
}
