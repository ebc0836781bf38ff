package arrival

import (
	"math"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
)

// Schedule is the rate of arrivals over time. The zero Schedule has no arrivals.
type Schedule struct {
	stages []stage
}

// endless is the length of a stage without an end.
const endless = math.MaxInt64

// PerSecond returns the endless schedule with this many arrivals per second.
func PerSecond(rate int64) Schedule {
	if rate <= 0 {
		return Schedule{}
	}
	return Schedule{[]stage{{
		from: uint64(rate), to: uint64(rate), length: endless, end: position{whole: math.MaxUint64},
	}}}
}

// Stages returns the schedule of these stages, one after the other. It ends with the last. Rates of up to 10,000,000
// per second over at most a week do not overflow.
func Stages(stages ...spec.Stage) Schedule {
	var s Schedule
	var next stage
	for _, given := range stages {
		next.from, next.to = uint64(given.From), uint64(given.To)
		next.length = uint64(given.Seconds) * uint64(time.Second)
		next.end = next.first.plus(half((next.from + next.to) * uint64(given.Seconds)))
		s.stages = append(s.stages, next)
		next = stage{start: next.start + next.length, first: next.end}
	}
	return s
}

// reach returns when the schedule exceeds a position, and the index of the stage in which it does. The search begins
// at stage from. Arrivals that are spread evenly are due when the schedule exceeds their number: the first one at 0, or
// when the rate first leaves zero. Arrivals after the last stage, or after 292 years, are due at math.MaxInt64.
func (s Schedule) reach(p position, from int) (due time.Duration, index int) {
	for i := from; i < len(s.stages); i++ {
		if stage := &s.stages[i]; p.isBefore(stage.end) {
			return stage.reach(p), i
		}
	}
	return math.MaxInt64, len(s.stages)
}

// stage is a stage at its place in the schedule.
type stage struct {
	// from and to are the rate at both ends, per second.
	from, to uint64
	// start and length are in nanoseconds.
	start, length uint64
	// first and end are the integrals of the schedule's rate at both ends.
	first, end position
}

// reach returns when the schedule exceeds a position of this stage.
func (s *stage) reach(p position) time.Duration {
	p = p.minus(s.first)
	if s.from != s.to {
		return time.Duration(s.start + s.climb(p))
	}
	target := p.times(wide{lo: uint64(time.Second)})
	return time.Duration(s.start + target.dividedBy(s.from, math.MaxInt64-s.start))
}

// climb returns the greatest whole nanosecond t at which a ramp's integral
//
//	from·t + (to - from)·t²/(2·length)
//
// with t in seconds, does not exceed p. Both sides are multiplied by 2·length and by the nanoseconds of a second, so
// that they are integers.
func (s *stage) climb(p position) uint64 {
	target := p.times(product(2*s.length, uint64(time.Second)))
	low, high := s.bracket(s.guess(p.arrivals()), target)
	for low < high {
		if middle := low + (high-low+1)/2; s.integral(middle).isAbove(target) {
			high = middle - 1
		} else {
			low = middle
		}
	}
	return low
}

// integral returns the left side of climb's equation, multiplied: t·(2·length·from ± slope·t).
func (s *stage) integral(t uint64) wide {
	rate := product(2*s.length, s.from)
	if s.to > s.from {
		return rate.plus(product(s.to-s.from, t)).times(t)
	}
	return rate.minus(product(s.from-s.to, t)).times(t)
}

// guess solves climb's equation in floating point. The error is some nanoseconds, and more where a falling rate nears
// zero.
func (s *stage) guess(arrivals float64) uint64 {
	from, to := float64(s.from), float64(s.to)
	length := float64(s.length) / float64(time.Second)
	root := math.Sqrt(max(0, from*from+2*(to-from)*arrivals/length))
	if from+root == 0 {
		return 0
	}
	return min(s.length, uint64(2*arrivals/(from+root)*float64(time.Second)))
}

// bracket moves from a guess, in doubling steps, to a lower and an upper bound of climb's result.
func (s *stage) bracket(guess uint64, target wide) (low, high uint64) {
	low, high = guess, guess
	for step := uint64(1); low > 0 && s.integral(low).isAbove(target); step *= 2 {
		low -= min(step, low)
	}
	for step := uint64(1); high < s.length && !s.integral(high).isAbove(target); step *= 2 {
		high += min(step, s.length-high)
	}
	return low, high
}
