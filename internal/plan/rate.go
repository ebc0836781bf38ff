package plan

import (
	"errors"
	"fmt"
)

// The greatest rate and length of a schedule; up to them its arithmetic is
// exact.
const (
	maxPerSecond = 10_000_000
	maxSeconds   = 7 * 24 * 60 * 60
)

// Stage is a stretch of an open-loop load in which the rate goes linearly from
// FromPerSecond to ToPerSecond.
type Stage struct {
	FromPerSecond int64 `json:"fromPerSecond"`
	ToPerSecond   int64 `json:"toPerSecond"`
	Seconds       int   `json:"seconds"`
}

// OpenLoop says whether requests start on a schedule.
func (l Load) OpenLoop() bool { return l.RatePerSecond > 0 || len(l.Stages) > 0 }

// WarmupRatePerSecond is the rate of the warm-up of an open-loop load: the one
// with which the measured window begins.
func (l Load) WarmupRatePerSecond() int64 {
	if len(l.Stages) > 0 {
		return l.Stages[0].FromPerSecond
	}
	return l.RatePerSecond
}

func (l Load) validateRate() error {
	seconds, highest := 0, int64(0)
	errs := []error{
		check(l.RatePerSecond >= 0 && l.RatePerSecond <= maxPerSecond, "load.ratePerSecond", fmt.Sprintf("0 to %d", maxPerSecond), l.RatePerSecond),
		check(l.RatePerSecond == 0 || len(l.Stages) == 0, "load.stages", "none beside ratePerSecond", len(l.Stages)),
		check(!l.Poisson || l.OpenLoop(), "load.poisson", "a rate or stages with it", l.Poisson),
	}
	for _, s := range l.Stages {
		lowest := min(s.FromPerSecond, s.ToPerSecond)
		highest = max(highest, s.FromPerSecond, s.ToPerSecond)
		seconds += s.Seconds
		errs = append(errs, check(lowest >= 0 && s.Seconds >= 1 && s.Seconds <= maxSeconds, "load.stages",
			fmt.Sprintf("rates from 0 and 1 to %d seconds", maxSeconds), s))
	}
	if len(l.Stages) > 0 {
		errs = append(errs,
			check(highest >= 1 && highest <= maxPerSecond, "load.stages", fmt.Sprintf("a highest rate of 1 to %d", maxPerSecond), highest),
			check(seconds == l.DurationSeconds, "load.durationSeconds", fmt.Sprintf("%d, the seconds of all stages", seconds), l.DurationSeconds))
	}
	return errors.Join(errs...)
}
