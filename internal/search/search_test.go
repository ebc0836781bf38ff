package search

import (
	"math"
	"math/rand/v2"
	"testing"
)

var usual = Settings{MinPerSecond: 10, MaxPerSecond: 1_000_000, Tolerance: 0.05, Confirmations: 3, MaxProbes: 40}

// play runs a search to its end against a target.
func play(t *testing.T, settings Settings, target func(Step) Probe) (Result, []Probe) {
	t.Helper()
	var past []Probe
	for range 1000 {
		step, more, result := Next(settings, past)
		if !more {
			return result, past
		}
		p := target(step)
		p.Step = step
		past = append(past, p)
	}
	t.Fatal("the search does not end")
	return Result{}, nil
}

// sharp is a target that meets up to a rate.
func sharp(highest int64) func(Step) Probe {
	return func(s Step) Probe {
		switch {
		case s.Role == Ceiling:
			return Probe{Throughput: 1.2 * float64(highest)}
		case s.PerSecond <= highest:
			return Probe{Verdict: Met, Throughput: float64(s.PerSecond)}
		}
		return Probe{Verdict: Missed, Limit: "p99"}
	}
}

func TestFound(t *testing.T) {
	for _, highest := range []int64{11, 100, 3333, 50_000, 400_000} {
		r, past := play(t, usual, sharp(highest))
		if r.State != Found || float64(r.PerSecond) < float64(highest)/1.06-1 || r.PerSecond > highest || r.FirstMissed <= highest || r.Limit != "p99" || r.Confirmed != 3 {
			t.Errorf("%d: got %+v", highest, r)
		}
		if len(past) > 25 {
			t.Errorf("%d: %d probes", highest, len(past))
		}
	}
}

func TestStates(t *testing.T) {
	unknownAbove := func(rate int64) func(Step) Probe {
		return func(s Step) Probe {
			if s.PerSecond > rate {
				return Probe{Verdict: Unknown, Limit: "the client was a limit"}
			}
			return Probe{Verdict: Met, Throughput: 10_000}
		}
	}
	flaky := 0
	bounded := usual
	bounded.MaxPerSecond = 2000
	short := usual
	short.MaxProbes = 6
	ceiling := func(verdict func(Step) Verdict) func(Step) Probe {
		return func(s Step) Probe {
			if s.Role == Ceiling {
				return Probe{Throughput: 10_000}
			}
			return Probe{Verdict: verdict(s), Limit: "p99"}
		}
	}
	for name, tc := range map[string]struct {
		settings  Settings
		target    func(Step) Probe
		state     State
		perSecond int64
	}{
		"the maximum meets":         {bounded, sharp(100_000), AtLeast, 2000},
		"the minimum misses":        {usual, ceiling(func(Step) Verdict { return Missed }), BelowMinimum, 0},
		"a probe is not judged":     {usual, unknownAbove(4000), Undecided, 4000},
		"the probes are used up":    {short, sharp(5000), Undecided, 4800},
		"higher is better than low": {usual, ceiling(func(s Step) Verdict { return map[bool]Verdict{true: Missed, false: Met}[s.PerSecond == 2000] }), Unstable, 1000},
		"no confirmation holds": {usual, ceiling(func(s Step) Verdict {
			return map[bool]Verdict{true: Missed, false: Met}[s.Role == Confirm || s.PerSecond > 5000]
		}), Unstable, 0},
		"one miss that is no miss": {usual, ceiling(func(s Step) Verdict {
			flaky++
			return map[bool]Verdict{true: Missed, false: Met}[flaky == 2 || s.PerSecond > 9000]
		}), Found, 0},
		"a confirmation misses near the minimum": {atMinimum(100), near(104, 104), Found, 100},
		"a confirmation misses at the minimum":   {atMinimum(100), near(100, 100), Unstable, 0},
		"a confirmation is judged later":         {usual, doubtful(Confirm, 1), Found, 7680},
		"a confirmation is not judged":           {usual, doubtful(Confirm, 2), Undecided, 7680},
		"the sentinel is judged later":           {usual, doubtful(Sentinel, 1), Found, 7680},
		"the sentinel is not judged":             {usual, doubtful(Sentinel, 2), Undecided, 7680},
		"no probe is left for the sentinel":      {withoutSentinel(t), sharp(5000), Undecided, 0},
		"everything below the sweep":             {usual, ceiling(func(s Step) Verdict { return map[bool]Verdict{true: Met, false: Missed}[s.PerSecond <= 300] }), Found, 0},
	} {
		t.Run(name, func(t *testing.T) {
			r, past := play(t, tc.settings, tc.target)
			if r.State != tc.state || tc.perSecond > 0 && math.Abs(float64(r.PerSecond-tc.perSecond)) > 0.02*float64(tc.perSecond) {
				t.Errorf("got %+v after %d probes, wanted %s at %d", r, len(past), tc.state, tc.perSecond)
			}
			if len(past) > tc.settings.MaxProbes {
				t.Errorf("%d probes, wanted at most %d", len(past), tc.settings.MaxProbes)
			}
		})
	}
}

func atMinimum(rate int64) Settings {
	s := usual
	s.MinPerSecond = rate
	return s
}

// near is a target that meets up to a rate, but for the second confirmation at another one.
func near(highest, flaky int64) func(Step) Probe {
	confirmations := 0
	return func(s Step) Probe {
		p := sharp(highest)(s)
		if s.Role == Confirm && s.PerSecond == flaky {
			if confirmations++; confirmations == 2 {
				p = Probe{Verdict: Missed, Limit: "p99"}
			}
		}
		return p
	}
}

// doubtful is a target of 8000/s of which the first n probes with a role, or that repeat one, cannot be judged.
func doubtful(role Role, n int) func(Step) Probe {
	before := Role("")
	return func(s Step) Probe {
		p := sharp(8000)(s)
		if n > 0 && (s.Role == role || s.Role == Repeat && before == role) {
			n, p.Verdict, p.Limit = n-1, Unknown, "the client was a limit"
		}
		before = s.Role
		return p
	}
}

// withoutSentinel are settings with just enough probes to confirm the answer for sharp(5000).
func withoutSentinel(t *testing.T) Settings {
	s := usual
	_, past := play(t, s, sharp(5000))
	s.MaxProbes = len(past) - 1
	return s
}

// A target that loses a third of its capacity or more after the answer was confirmed does not keep the answer.
func TestATargetThatBecomesSlowerAtTheEnd(t *testing.T) {
	for left, want := range map[float64]State{1: Found, 0.9: Found, 0.7: Unstable, 0.5: Unstable, 0.1: Unstable} {
		confirmed := 0
		r, past := play(t, usual, func(s Step) Probe {
			if confirmed == usual.Confirmations {
				return sharp(int64(left * 5000))(s)
			}
			if s.Role == Confirm {
				confirmed++
			}
			return sharp(5000)(s)
		})
		if r.State != want || past[len(past)-1].PerSecond < 3000 {
			t.Errorf("with %.0f %% of its capacity: got %+v, the last probe is %+v", 100*left, r, past[len(past)-1])
		}
	}
}

// queue is a target whose p99 grows as 1/(1-load), with noise and stalls.
type queue struct {
	capacity float64
	random   *rand.Rand
}

const (
	emptyP99 = 5.0
	limitP99 = 25.0
)

// truth is the rate at which the p99 without noise is at the limit.
func (q queue) truth() float64 { return q.capacity * (1 - emptyP99/limitP99) }

func (q queue) probe(s Step) Probe {
	if s.Role == Ceiling {
		return Probe{Throughput: q.capacity * math.Exp(0.05*q.random.NormFloat64())}
	}
	load := float64(s.PerSecond) / q.capacity
	p99 := math.Inf(1)
	if load < 1 {
		p99 = emptyP99 / (1 - load) * math.Exp(0.15*q.random.NormFloat64())
	}
	if q.random.IntN(20) == 0 {
		p99 *= 10
	}
	if p99 <= limitP99 {
		return Probe{Verdict: Met, Throughput: float64(s.PerSecond)}
	}
	return Probe{Verdict: Missed, Throughput: min(float64(s.PerSecond), q.capacity), Limit: "p99"}
}

// A thousand searches against a queue whose highest rate is computed: nine of ten answers are between 0.85 and 1.05 of it.
func TestAnswersAreNearTheTruth(t *testing.T) {
	const searches = 1000
	random := rand.New(rand.NewPCG(3, 5))
	near, found, probes := 0, 0, 0
	for range searches {
		q := queue{capacity: math.Exp(5 + 6*random.Float64()), random: random}
		r, past := play(t, usual, q.probe)
		probes += len(past)
		if r.State == Found || r.State == AtLeast {
			found++
		}
		if ratio := float64(r.PerSecond) / q.truth(); ratio >= 0.85 && ratio <= 1.05 {
			near++
		}
	}
	t.Logf("%d of %d near the truth, %d found, %.1f probes each", near, searches, found, float64(probes)/searches)
	if near < 900 {
		t.Errorf("%d of %d answers are within 0.85 to 1.05 of the truth, wanted 900", near, searches)
	}
}

func TestBest(t *testing.T) {
	met, missed := func(rate int64) Probe { return Probe{Step: Step{PerSecond: rate}, Verdict: Met} }, func(rate int64) Probe { return Probe{Step: Step{PerSecond: rate}, Verdict: Missed} }
	for name, tc := range map[string]struct {
		past []Probe
		want int64
	}{
		"nothing":            {[]Probe{{Step: Step{Role: Ceiling}}}, 0},
		"the highest":        {[]Probe{met(10), met(30), met(20)}, 30},
		"below every miss":   {[]Probe{met(10), met(20), met(40), missed(30)}, 20},
		"everything misses":  {[]Probe{missed(10)}, 0},
		"met and missed one": {[]Probe{met(10), met(20), missed(20)}, 10},
	} {
		if got := Best(tc.past); got != tc.want {
			t.Errorf("%s: got %d, wanted %d", name, got, tc.want)
		}
	}
}

// Where a search was interrupted, it goes on with the same probe.
func TestNextDependsOnThePastOnly(t *testing.T) {
	_, past := play(t, usual, sharp(3333))
	for i := range past {
		if step, more, _ := Next(usual, past[:i]); !more || step != past[i].Step {
			t.Errorf("after %d probes: %+v (%v), wanted %+v", i, step, more, past[i].Step)
		}
	}
}
