package benchmark

import (
	"math"
	"strconv"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// rate is in requests per million seconds. It is so fine that what is judged,
// written into status and shown is one number: each form of it is this one,
// rounded down, so that a rate below a limit never looks like the limit.
type rate int64

const (
	// onePerSecond is the rate of one request per second.
	onePerSecond rate = 1_000_000
	// coarse is the rate from which on whole requests per second say enough.
	coarse = 100 * onePerSecond
	// mostPerSecond bounds a rate that is computed from what pods tell.
	mostPerSecond = 1e12
)

// rateOf rounds down, but for what lies within a float64's own error below a whole
// number.
func rateOf(perSecond float64) rate {
	scaled := min(perSecond, mostPerSecond) * float64(onePerSecond)
	return rate(math.Floor(math.Nextafter(scaled, math.Inf(1))))
}

// whole is the rate in requests per second.
func (r rate) whole() int64 { return int64(r / onePerSecond) }

// fine is what status has beside the whole number, 0 where that says enough.
func (r rate) fine() int64 {
	if r >= coarse {
		return 0
	}
	return int64(r)
}

// digits writes three significant digits, and all of those before the point, for
// example 48,123 or 12.5 or 0.0166.
func (r rate) digits() string {
	if r >= coarse {
		return results.Grouped(r.whole())
	}
	unit := rate(1)
	for r/unit >= 1000 {
		unit *= 10
	}
	return strconv.FormatFloat((r / unit * unit).perSecond(), 'f', -1, 64)
}

// String writes the rate with its unit, for example 48,123/s.
func (r rate) String() string { return r.digits() + "/s" }

// perSecond is the rate in requests per second.
func (r rate) perSecond() float64 { return float64(r) / float64(onePerSecond) }

// Rate writes a number of requests per second, for example 48,123/s.
func Rate(perSecond int64) string { return rateIn(perSecond, 0).String() }

// rateIn is the rate that status has: in whole requests per second, and finer
// where those would be too coarse.
func rateIn(perSecond, perMillionSeconds int64) rate {
	if perMillionSeconds > 0 {
		return rate(perMillionSeconds)
	}
	return rate(perSecond) * onePerSecond
}

// PerSecond is the throughput of a whole run in requests per second.
func PerSecond(s *v1alpha1.Summary) float64 {
	return rateIn(s.ThroughputPerSecond, s.ThroughputPerMillionSeconds).perSecond()
}

// PerSecondSoFar is the throughput of a run that goes on in requests per second.
func PerSecondSoFar(p *v1alpha1.Progress) float64 {
	return rateIn(p.ThroughputPerSecond, p.ThroughputPerMillionSeconds).perSecond()
}
