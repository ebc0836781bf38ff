package arrival

import (
	"math"
	"time"
)

// Share says which of the pods a walk is for.
type Share struct {
	Pods, Index int
}

// Walk is one pod's way through a schedule, from arrival to arrival. A walk is
// used by one goroutine at a time and allocates nothing as it goes on.
type Walk struct {
	schedule Schedule
	// segment is where the walk is in the schedule.
	segment int
	at      position
	due     time.Duration
	// stride is how far apart evenly spaced arrivals are; for a Poisson
	// process, how far they are on average.
	stride uint64
	// gaps is nil for evenly spaced arrivals.
	gaps *exponential
}

// Even returns the walk over the evenly spaced arrivals whose number is Index
// modulo Pods: pods fire in turn and not at the same moment.
func (s Schedule) Even(share Share) *Walk {
	w := &Walk{schedule: s, stride: uint64(share.Pods)}
	w.moveTo(position{whole: uint64(share.Index)})
	return w
}

// Poisson returns the walk over a Poisson process whose rate is the pod's equal
// share of the schedule's. The pods' processes are independent, so that all of
// them together are a Poisson process of the whole rate, however far apart the
// pods' clocks are. The seed gives one process for each stream and pod.
func (s Schedule) Poisson(seed, stream uint64, share Share) *Walk {
	w := &Walk{schedule: s, stride: uint64(share.Pods), gaps: newExponential(seed, stream, uint64(share.Index))}
	w.Next()
	return w
}

// Due returns when the arrival is due at which the walk stands, the first one
// to begin with. It is math.MaxInt64 if there is none.
func (w *Walk) Due() time.Duration { return w.due }

// Next goes on to the next arrival.
func (w *Walk) Next() {
	if w.gaps == nil {
		w.moveTo(w.at.plus(position{whole: w.stride}))
		return
	}
	w.moveTo(w.at.plus(w.gaps.next(w.stride)))
}

// Skip goes on by n arrivals in one step. Those of a Poisson process are as far
// apart then as they are on average.
func (w *Walk) Skip(n int64) {
	w.moveTo(w.at.plus(position{whole: w.stride * uint64(n)}))
}

func (w *Walk) moveTo(p position) {
	w.at = p
	w.due, w.segment = w.schedule.reach(p, w.segment)
}

// exponential draws independent gaps of an exponential distribution.
type exponential struct {
	// state is that of a splitmix64 generator.
	state uint64
}

// golden is 2^64 divided by the golden ratio, made odd: the step of splitmix64.
const golden = 0x9e3779b97f4a7c15

func newExponential(seed, stream, index uint64) *exponential {
	return &exponential{mix(mix(mix(seed)+stream) + index)}
}

// next returns a gap that is mean arrivals long on average: the logarithm of a
// uniform number of 53 bits, none of which is zero.
func (e *exponential) next(mean uint64) position {
	e.state += golden
	uniform := float64(mix(e.state)>>11+1) / (1 << 53)
	gap := uint64(-math.Log(uniform)*(1<<places)) * mean
	return position{gap >> places, uint32(gap)}
}

// mix is the output function of splitmix64: a bijection in which every input
// bit reaches every output bit.
func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
