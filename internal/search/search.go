package search

import (
	"errors"
	"math"
)

// Verdict is the result of a probe.
type Verdict string

// The verdicts of a probe: the condition Passed of its run.
const (
	Met     Verdict = "Met"
	Missed  Verdict = "Missed"
	Unknown Verdict = "Unknown"
)

// Role is what a probe is for.
type Role string

// The roles of probes.
const (
	// Ceiling is a closed loop, which shows the most that the target can do.
	Ceiling Role = "Ceiling"
	// Sweep is one of the first rates, from low to high.
	Sweep Role = "Sweep"
	// Bisect halves the interval between a rate that met and one that missed.
	Bisect Role = "Bisect"
	// Repeat is the second probe at a rate that missed or was unknown.
	Repeat Role = "Repeat"
	// Confirm is a further probe at the answer.
	Confirm Role = "Confirm"
	// Sentinel is a rate somewhat below the answer at the end, to see whether the target has changed.
	Sentinel Role = "Sentinel"
)

// Step is a probe that should run.
type Step struct {
	Role Role `json:"role"`
	// PerSecond is the rate; 0 for Ceiling, which has none.
	PerSecond int64 `json:"askedPerSecond,omitempty"`
}

// Probe is a step that has run.
type Probe struct {
	Step
	Verdict Verdict `json:"verdict"`
	// Throughput is the rate of successful requests.
	Throughput float64 `json:"throughputPerSecond"`
	// Limit is the objective that was missed first, or why the verdict is Unknown.
	Limit string `json:"limit,omitempty"`
}

// State says what a search has found.
type State string

// The states of a finished search.
const (
	// Found: the rate meets the objectives, and one slightly above it does not.
	Found State = "Found"
	// AtLeast: the highest rate that could be tried meets the objectives.
	AtLeast State = "AtLeast"
	// BelowMinimum: the lowest rate misses.
	BelowMinimum State = "BelowMinimum"
	// Unstable: a rate met the objectives once, and missed them later.
	Unstable State = "Unstable"
	// Undecided: a probe could not be judged, or the probes are used up.
	Undecided State = "Unknown"
)

// Settings bound a search. All fields are required.
type Settings struct {
	MinPerSecond, MaxPerSecond int64
	// Tolerance is the relative distance between the answer and the rate that missed: 0.05 is 5 %.
	Tolerance float64
	// Confirmations is how many further probes the answer must meet.
	Confirmations int
	// MaxProbes bounds all probes.
	MaxProbes int
}

// Result is the answer of a search.
type Result struct {
	State State `json:"state"`
	// PerSecond is the highest rate that meets the objectives; 0 if none does.
	PerSecond int64 `json:"ratePerSecond"`
	// FirstMissed is the lowest rate that misses; 0 if none did.
	FirstMissed int64 `json:"firstMissedPerSecond,omitempty"`
	// Limit is the objective that FirstMissed missed, or why the search is undecided.
	Limit string `json:"limitedBy,omitempty"`
	// Confirmed is how many further probes at PerSecond met, of Tried.
	Confirmed int `json:"confirmed"`
	Tried     int `json:"tried"`
}

var (
	// errPending ends a search whose next probe has not run.
	errPending = errors.New("the next probe has not run")
	errUsedUp  = errors.New("the probes are used up")
)

// Next returns the probe that comes next after the given ones; false, and the result, if the search is over.
func Next(settings Settings, past []Probe) (step Step, more bool, result Result) {
	s := &searching{settings: settings, past: past}
	result, err := s.run()
	switch {
	case err != nil:
		return s.next, true, Result{}
	case result.State == Undecided || result.State == Unstable:
		// The rate on the way may never have been tried.
		result.PerSecond = Best(past)
	}
	return Step{}, false, result
}

// searching runs a search along the probes that have run, until one is missing.
type searching struct {
	settings Settings
	past     []Probe
	used     int
	next     Step
}

// probe returns the result of the next probe if it has run.
func (s *searching) probe(role Role, perSecond int64) (Probe, error) {
	if s.used >= s.settings.MaxProbes {
		return Probe{}, errUsedUp
	}
	s.next = Step{role, perSecond}
	if s.used == len(s.past) {
		return Probe{}, errPending
	}
	s.used++
	return s.past[s.used-1], nil
}

// judged is a probe whose miss or doubt is repeated once: the second verdict counts.
func (s *searching) judged(role Role, perSecond int64) (Probe, error) {
	p, err := s.probe(role, perSecond)
	if err != nil || p.Verdict == Met {
		return p, err
	}
	return s.probe(Repeat, perSecond)
}

// bracket is what is known: the highest rate that met below every miss, and the lowest that missed. 0 is none.
type bracket struct {
	met, missed int64
	limit       string
}

func (s *searching) run() (Result, error) {
	ceiling, err := s.probe(Ceiling, 0)
	if err != nil {
		return Result{}, err
	}
	b, stop, err := s.sweep(ceiling.Throughput)
	if stop == nil && err == nil && b.met == 0 {
		b, stop, err = s.descend(b)
	}
	if stop == nil && err == nil {
		b, stop, err = s.bisect(b)
	}
	switch {
	case err != nil:
		return bounded(b, err)
	case stop != nil:
		return *stop, nil
	}
	return s.confirm(b)
}

// bounded decides a search that has no probe left.
func bounded(b bracket, err error) (Result, error) {
	if errors.Is(err, errUsedUp) {
		return *undecided(b, err.Error()), nil
	}
	return Result{}, err
}

func undecided(b bracket, why string) *Result {
	return &Result{State: Undecided, PerSecond: b.met, FirstMissed: b.missed, Limit: why}
}

// sweepShares are the rates of the sweep, in shares of the ceiling.
var sweepShares = []float64{0.10, 0.20, 0.40, 0.60, 0.80, 0.95}

// sweep probes rates from low to high, until two in a row miss.
func (s *searching) sweep(ceiling float64) (b bracket, stop *Result, err error) {
	missesInARow := 0
	for _, rate := range s.rates(ceiling) {
		p, err := s.judged(Sweep, rate)
		switch {
		case err != nil:
			return b, nil, err
		case p.Verdict == Unknown:
			return b, undecided(b, p.Limit), nil
		case p.Verdict == Met && b.missed > 0:
			// A rate above a miss has met: there is no single highest rate.
			return b, &Result{State: Unstable, PerSecond: b.met, FirstMissed: b.missed, Limit: b.limit}, nil
		case p.Verdict == Met:
			b.met, missesInARow = rate, 0
		default:
			if missesInARow++; b.missed == 0 {
				b.missed, b.limit = rate, p.Limit
			}
		}
		if missesInARow == 2 || b.met == 0 && missesInARow == 1 {
			break
		}
	}
	return b, nil, nil
}

// rates are those of the sweep, within the bounds and without repetitions.
func (s *searching) rates(ceiling float64) (out []int64) {
	for _, share := range sweepShares {
		rate := s.clamp(int64(math.Round(share * ceiling)))
		if len(out) == 0 || rate > out[len(out)-1] {
			out = append(out, rate)
		}
	}
	return out
}

func (s *searching) clamp(rate int64) int64 {
	return max(s.settings.MinPerSecond, min(rate, s.settings.MaxPerSecond))
}

// descend halves a rate that missed until one meets.
func (s *searching) descend(b bracket) (bracket, *Result, error) {
	for b.missed > s.settings.MinPerSecond {
		rate := s.clamp(b.missed / 2)
		p, err := s.judged(Sweep, rate)
		switch {
		case err != nil:
			return b, nil, err
		case p.Verdict == Unknown:
			return b, undecided(b, p.Limit), nil
		case p.Verdict == Met:
			b.met = rate
			return b, nil, nil
		}
		b.missed, b.limit = rate, p.Limit
	}
	return b, &Result{State: BelowMinimum, FirstMissed: b.missed, Limit: b.limit}, nil
}

// bisect narrows the bracket geometrically until its ends are within the tolerance. Without a miss, it goes up by
// doubling first.
func (s *searching) bisect(b bracket) (bracket, *Result, error) {
	for b.met < s.settings.MaxPerSecond && (b.missed == 0 || float64(b.missed) > float64(b.met)*(1+s.settings.Tolerance) && b.missed > b.met+1) {
		rate, role := s.clamp(2*b.met), Sweep
		if b.missed > 0 {
			rate, role = int64(math.Round(math.Sqrt(float64(b.met)*float64(b.missed)))), Bisect
		}
		p, err := s.judged(role, rate)
		switch {
		case err != nil:
			return b, nil, err
		case p.Verdict == Unknown:
			return b, undecided(b, p.Limit), nil
		case p.Verdict == Met:
			b.met = rate
		default:
			b.missed, b.limit = rate, p.Limit
		}
	}
	return b, nil, nil
}

// maxStepsDown is how often an answer that is not confirmed is lowered by the tolerance.
const maxStepsDown = 5

// confirm repeats the answer. All repetitions must meet; else the answer is lowered, at last to the minimum.
func (s *searching) confirm(b bracket) (Result, error) {
	for range maxStepsDown + 1 {
		missed, err := s.repeat(b.met)
		switch {
		case err != nil:
			return bounded(b, err)
		case missed == nil:
			return s.result(b)
		case missed.Verdict == Unknown:
			return *undecided(b, missed.Limit), nil
		}
		b.missed, b.limit = b.met, missed.Limit
		if b.met == s.settings.MinPerSecond {
			break
		}
		b.met = s.clamp(int64(math.Floor(float64(b.met) / (1 + s.settings.Tolerance))))
	}
	return Result{State: Unstable, PerSecond: b.met, FirstMissed: b.missed, Limit: b.limit, Tried: s.settings.Confirmations}, nil
}

// repeat probes a rate again and again. It returns the first probe that did not meet; nil if all met. A probe that could
// not be judged is repeated once.
func (s *searching) repeat(perSecond int64) (missed *Probe, err error) {
	for range s.settings.Confirmations {
		p, err := s.probe(Confirm, perSecond)
		if err == nil && p.Verdict == Unknown {
			p, err = s.probe(Repeat, perSecond)
		}
		if err != nil {
			return nil, err
		}
		if p.Verdict != Met {
			return &p, nil
		}
	}
	return nil, nil
}

// sentinelShare is the rate of the sentinel, as a share of the answer. A target that has lost less than that keeps the
// answer, which is then too high by at most a third.
const sentinelShare = 0.75

// result checks that the target has not changed since the answer was confirmed.
func (s *searching) result(b bracket) (Result, error) {
	sentinel, err := s.judged(Sentinel, s.clamp(int64(sentinelShare*float64(b.met))))
	switch {
	case err != nil:
		return bounded(b, err)
	case sentinel.Verdict == Unknown:
		return *undecided(b, sentinel.Limit), nil
	}
	r := Result{State: Found, PerSecond: b.met, FirstMissed: b.missed, Limit: b.limit, Confirmed: s.settings.Confirmations, Tried: s.settings.Confirmations}
	switch {
	case sentinel.Verdict == Missed:
		r.State, r.FirstMissed, r.Limit = Unstable, sentinel.PerSecond, sentinel.Limit
	case b.missed == 0:
		r.State = AtLeast
	}
	return r, nil
}

// Best is the highest rate that met the objectives and lies below every rate that missed; 0 if there is none.
func Best(past []Probe) (best int64) {
	lowestMissed := int64(math.MaxInt64)
	for _, p := range past {
		if p.Verdict == Missed {
			lowestMissed = min(lowestMissed, p.PerSecond)
		}
	}
	for _, p := range past {
		if p.Verdict == Met && p.PerSecond < lowestMissed {
			best = max(best, p.PerSecond)
		}
	}
	return best
}
