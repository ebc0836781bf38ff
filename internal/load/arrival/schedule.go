package arrival

import (
	"math"
	"math/bits"
	"time"
)

// Schedule is an endless row of arrivals at a constant rate: Freq arrivals in
// every Per, the first at 0. The zero Schedule has no arrivals.
type Schedule struct {
	Freq uint64
	Per  time.Duration
}

// PerSecond is the schedule with this many arrivals each second.
func PerSecond(rate int64) Schedule {
	return Schedule{Freq: uint64(max(rate, 0)), Per: time.Second}
}

// At returns when arrival n is due, n·Per/Freq rounded down to a nanosecond.
// The product has 128 bits: a rounded period, summed up, would drift by a
// millisecond in every 100 s at 300,000 arrivals per second. Arrivals after
// 292 years are due at the end of time.
func (s Schedule) At(n uint64) time.Duration {
	hi, lo := bits.Mul64(n, uint64(s.Per))
	if hi >= s.Freq {
		return math.MaxInt64
	}
	due, _ := bits.Div64(hi, lo, s.Freq)
	return time.Duration(min(due, math.MaxInt64))
}

// Before returns how many arrivals are due before d: ⌈d·Freq/Per⌉, since the
// first is due at 0.
func (s Schedule) Before(d time.Duration) uint64 {
	if d <= 0 || s.Freq == 0 {
		return 0
	}
	hi, lo := bits.Mul64(uint64(d), s.Freq)
	lo, carry := bits.Add64(lo, uint64(s.Per)-1, 0)
	hi += carry
	if hi >= uint64(s.Per) {
		return math.MaxUint64
	}
	n, _ := bits.Div64(hi, lo, uint64(s.Per))
	return n
}

// Share is one pod's part of a schedule: the arrivals whose number is Index
// modulo Pods. Pods therefore fire in turn and not at the same moment.
type Share struct {
	Schedule
	Pods, Index int
}

// Number returns the number, in the whole schedule, of this pod's k-th arrival.
func (s Share) Number(k int64) int64 { return k*int64(s.Pods) + int64(s.Index) }

// At returns when this pod's k-th arrival is due.
func (s Share) At(k int64) time.Duration { return s.Schedule.At(uint64(s.Number(k))) }

// Before returns how many of this pod's arrivals are due before d.
func (s Share) Before(d time.Duration) int64 {
	all := s.Schedule.Before(d)
	if all <= uint64(s.Index) {
		return 0
	}
	return int64((all-uint64(s.Index)-1)/uint64(s.Pods) + 1)
}
