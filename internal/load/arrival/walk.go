package arrival

import (
	"math"
	"time"
)

// Share identifies a pod's part of a schedule.
type Share struct {
	Pods, Index int
}

// Walk iterates over one pod's arrivals in a schedule. It is used by one goroutine at a time and does not allocate.
type Walk struct {
	schedule Schedule
	// stage is the index of the current stage of the schedule.
	stage int
	at    position
	due   time.Duration
	// stride is the distance between evenly spaced arrivals; for a Poisson process, the mean distance.
	stride uint64
	// gaps is nil for evenly spaced arrivals.
	gaps *exponential
}

// Even returns the walk over the evenly spaced arrivals whose number is Index modulo Pods. So pods fire in turn, not at
// the same moment.
func (s Schedule) Even(share Share) *Walk {
	w := &Walk{schedule: s, stride: uint64(share.Pods)}
	w.moveTo(position{whole: uint64(share.Index)})
	return w
}

// Poisson returns the walk over a Poisson process with the pod's equal share of the schedule's rate. The pods'
// processes are independent. So their sum is a Poisson process of the whole rate, however far apart the pods' clocks
// are. The seed determines one process for each stream and pod.
func (s Schedule) Poisson(seed, stream uint64, share Share) *Walk {
	w := &Walk{schedule: s, stride: uint64(share.Pods), gaps: newExponential(seed, stream, uint64(share.Index))}
	w.Next()
	return w
}

// Due returns when the current arrival is due, at first the first one. It is math.MaxInt64 if there is none.
func (w *Walk) Due() time.Duration { return w.due }

// Next moves to the next arrival.
func (w *Walk) Next() {
	if w.gaps == nil {
		w.moveTo(w.at.plus(position{whole: w.stride}))
		return
	}
	w.moveTo(w.at.plus(w.gaps.next(w.stride)))
}

// Skip moves forward by n arrivals in one step. For a Poisson process, it uses the mean distance.
func (w *Walk) Skip(n int64) {
	w.moveTo(w.at.plus(position{whole: w.stride * uint64(n)}))
}

func (w *Walk) moveTo(p position) {
	w.at = p
	w.due, w.stage = w.schedule.reach(p, w.stage)
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

// next returns a gap with a mean of mean arrivals: the logarithm of a uniform number of 53 bits, which is never zero.
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
