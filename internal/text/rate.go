package text

import (
	"math"
	"strconv"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
)

// Rate is in requests per million seconds. Objectives, status and tables all use this number, rounded down: a rate
// below a limit never looks like the limit.
type Rate int64

const (
	// onePerSecond is the rate of one request per second.
	onePerSecond Rate = 1_000_000
	// coarse is the rate from which whole requests per second are exact enough: the error is below a thousandth.
	coarse = 1000 * onePerSecond
	// mostPerSecond bounds a rate that is computed from the pods' reports.
	mostPerSecond = 1e12
)

// RateOf rounds down, except for a number that is within a float64's error below a whole number.
func RateOf(perSecond float64) Rate {
	scaled := min(perSecond, mostPerSecond) * float64(onePerSecond)
	return Rate(math.Floor(math.Nextafter(scaled, math.Inf(1))))
}

// RateIn is the rate of a decimal in status.
func RateIn(d spec.Decimal) Rate { return RateOf(d.Float64()) }

// Decimal is the rate in requests per second for status, in whole requests from coarse on.
func (r Rate) Decimal() spec.Decimal {
	if r >= coarse {
		r -= r % onePerSecond
	}
	return spec.DecimalOf(r.PerSecond())
}

// Digits writes three significant digits, and tenths below coarse, for example 48,123 or 149.9 or 12.5 or 0.0166.
func (r Rate) Digits() string {
	if r >= coarse {
		return Grouped(int64(r / onePerSecond))
	}
	unit := Rate(1)
	for r/unit >= 1000 && unit < onePerSecond/10 {
		unit *= 10
	}
	return strconv.FormatFloat((r / unit * unit).PerSecond(), 'f', -1, 64)
}

// String writes the rate with its unit, for example 48,123/s.
func (r Rate) String() string { return r.Digits() + "/s" }

// PerSecond is the rate in requests per second.
func (r Rate) PerSecond() float64 { return float64(r) / float64(onePerSecond) }

// PerSecond writes a number of requests per second, for example 48,123/s.
func PerSecond(n int64) string { return Grouped(n) + "/s" }
