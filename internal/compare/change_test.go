package compare

import (
	"math"
	"math/rand/v2"
	"testing"
)

// simulation returns the rounds of one comparison.
type simulation func(random *rand.Rand) []pair

// noisy are rounds with log-normal noise: a part that both sides of a round share, and a part of each side.
func noisy(rounds int, trueChange, shared, own float64) simulation {
	return func(random *rand.Rand) []pair {
		pairs := make([]pair, rounds)
		for i := range pairs {
			common := 1000 * math.Exp(shared*random.NormFloat64())
			pairs[i] = pair{
				baseline:  common * math.Exp(own*random.NormFloat64()),
				candidate: common * (1 + trueChange) * math.Exp(own*random.NormFloat64()),
			}
		}
		return pairs
	}
}

const simulations = 4000

// shareOf is how often a condition holds in simulated comparisons.
func shareOf(simulated simulation, holds func(change) bool) float64 {
	random := rand.New(rand.NewPCG(7, 11))
	n := 0
	for range simulations {
		if holds(changeOf(simulated(random))) {
			n++
		}
	}
	return float64(n) / simulations
}

// isDifferent reports whether the interval excludes "no change".
func isDifferent(c change) bool {
	low, high := c.interval()
	return low > 0 || high < 0
}

// The interval excludes "no change" in the comparisons without a change as often as the error rate of their number of rounds
// says, whatever noise both sides share; and in most of those with a change of 10 %.
func TestFalseAlarmsAndPower(t *testing.T) {
	for name, tc := range map[string]struct {
		rounds                  int
		trueChange, shared, own float64
		want                    float64
	}{
		"no change, 3 rounds":     {3, 0, 0.06, 0.03, 0.01},
		"no change, 5 rounds":     {5, 0, 0.06, 0.03, 0.01},
		"no change, 10 rounds":    {10, 0, 0.06, 0.03, 0.001},
		"no change, own noise":    {5, 0, 0, 0.05, 0.01},
		"10 % more, 3 rounds":     {3, 0.10, 0.06, 0.03, 0.15},
		"10 % more, 5 rounds":     {5, 0.10, 0.06, 0.03, 0.66},
		"10 % more, 10 rounds":    {10, 0.10, 0.06, 0.03, 0.96},
		"10 % more, all is noise": {5, 0.10, 0, 0.30, 0.02},
	} {
		t.Run(name, func(t *testing.T) {
			if got := shareOf(noisy(tc.rounds, tc.trueChange, tc.shared, tc.own), isDifferent); math.Abs(got-tc.want) > 0.01 {
				t.Errorf("%.3f of the comparisons are called different, wanted about %.2f", got, tc.want)
			}
		})
	}
}

// Five rounds whose ratios spread by 3 %, with a tolerance of 10 %.
func TestVerdictsOfTrueChanges(t *testing.T) {
	limit := higherIsWorse.limit(0.10)
	regressed := func(c change) bool { return c.chanceOfNoRegression(higherIsWorse, limit) <= errorRate }
	within := func(c change) bool { return c.isWithin(higherIsWorse, limit) }
	for _, tc := range []struct{ trueChange, regressed, within float64 }{
		{0, 0, 0.93}, {0.05, 0, 0.35}, {0.10, 0.005, 0.005}, {0.15, 0.31, 0}, {0.20, 0.88, 0},
	} {
		own := 0.03 / math.Sqrt2
		if got := shareOf(noisy(5, tc.trueChange, 0.06, own), regressed); math.Abs(got-tc.regressed) > 0.02 {
			t.Errorf("a change of %.2f is called Regressed in %.3f, wanted about %.3f", tc.trueChange, got, tc.regressed)
		}
		if got := shareOf(noisy(5, tc.trueChange, 0.06, own), within); math.Abs(got-tc.within) > 0.02 {
			t.Errorf("a change of %.2f is called NotRegressed in %.3f, wanted about %.3f", tc.trueChange, got, tc.within)
		}
	}
}

// A change of exactly the smallest regression is found in about 80 % of the cases; with three rounds, or as the first of 20
// comparisons, in about three of four.
func TestSmallestRegression(t *testing.T) {
	const own = 0.03
	for _, tc := range []struct {
		rounds, comparisons int
		want                float64
	}{
		{3, 1, 0.73}, {4, 1, 0.76}, {5, 1, 0.79}, {10, 1, 0.80}, {20, 1, 0.82}, {5, 20, 0.71}, {10, 20, 0.75},
	} {
		smallest := change{rounds: tc.rounds, deviation: own * math.Sqrt2}.smallestRegression(0, tc.comparisons)
		isFound := func(c change) bool {
			return c.chanceOfNoRegression(higherIsWorse, 0)*float64(tc.comparisons) <= errorRate
		}
		if got := shareOf(noisy(tc.rounds, math.Expm1(smallest), 0, own), isFound); math.Abs(got-tc.want) > 0.02 {
			t.Errorf("%d rounds, %d comparisons: %.3f are found, wanted about %.2f", tc.rounds, tc.comparisons, got, tc.want)
		}
	}
}

// The errors of all looks add up to the error rate at most, so the rate holds for every noise that a single look may have.
func TestAllLooksShareOneErrorRate(t *testing.T) {
	sum := 0.0
	for rounds := minRounds; rounds < 100_000; rounds++ {
		sum += levelOf(rounds)
	}
	if sum > errorRate || sum < 0.99*errorRate {
		t.Errorf("the levels add up to %.5f, wanted %v and nothing more", sum, errorRate)
	}
}

// heavyTailed are rounds whose log ratios have Student's t distribution with 3 degrees of freedom: a few of them are very
// large.
func heavyTailed(rounds int, trueChange, spread float64) simulation {
	return func(random *rand.Rand) []pair {
		pairs := make([]pair, rounds)
		for i := range pairs {
			squares := 0.0
			for range 3 {
				squares += math.Pow(random.NormFloat64(), 2)
			}
			pairs[i] = pair{1000, 1000 * (1 + trueChange) * math.Exp(spread*random.NormFloat64()/math.Sqrt(squares/3))}
		}
		return pairs
	}
}

// drifted are rounds in a random order. From the first run of a round to the second, the values grow by a log-normal part.
func drifted(rounds int, trueChange, own float64) simulation {
	return func(random *rand.Rand) []pair {
		pairs := noisy(rounds, trueChange, 0, own)(random)
		for i := range pairs {
			growth := math.Exp(0.02 * math.Exp(random.NormFloat64()))
			if random.IntN(2) == 0 {
				growth = 1 / growth
			}
			pairs[i].candidate *= growth
		}
		return pairs
	}
}

// A user who adds the rounds that are said to decide, until there is a verdict, gets a wrong one in no more cases than the
// error rate: Regressed and NotRegressed of a change that is just at the limit. The same holds for a look after each round.
func TestFollowingTheAdviceCostsNoGuarantee(t *testing.T) {
	limit := higherIsWorse.limit(0.10)
	verdictOf := func(c change) string {
		switch {
		case c.chanceOfNoRegression(higherIsWorse, limit) <= errorRate:
			return "Regressed"
		case c.isWithin(higherIsWorse, limit):
			return "NotRegressed"
		}
		return ""
	}
	advice := func(c change) int { return c.needed(higherIsWorse, limit, 1) }
	each := func(c change) int { return c.rounds + 1 }
	normal, heavy := noisy(maxNeeded, 0.10, 0.06, 0.03), heavyTailed(maxNeeded, 0.10, 0.03)
	for name, tc := range map[string]struct {
		noise simulation
		first int
		next  func(change) int
		want  float64
	}{
		"from 3 rounds":                   {normal, 3, advice, 0.010},
		"from 5 rounds":                   {normal, 5, advice, 0.006},
		"each round, from 3":              {normal, 3, each, 0.014},
		"heavy tails, from 3 rounds":      {heavy, 3, advice, 0.008},
		"heavy tails, each round, from 3": {heavy, 3, each, 0.010},
		"a drift, each round, from 3":     {drifted(maxNeeded, 0.10, 0.01), 3, each, 0.010},
	} {
		t.Run(name, func(t *testing.T) {
			random := rand.New(rand.NewPCG(5, 34))
			found := map[string]float64{}
			for range simulations {
				all := tc.noise(random)
				verdict := ""
				for rounds := tc.first; rounds > 0 && rounds <= maxNeeded && verdict == ""; {
					c := changeOf(all[:rounds])
					verdict, rounds = verdictOf(c), tc.next(c)
				}
				found[verdict] += 1.0 / simulations
			}
			for _, verdict := range []string{"Regressed", "NotRegressed"} {
				if share := found[verdict]; share > errorRate || math.Abs(share-tc.want) > 0.005 {
					t.Errorf("%s in %.4f of the comparisons of a change at the limit, wanted about %v and at most %v", verdict, share, tc.want, errorRate)
				}
			}
		})
	}
}

// The number of rounds that would decide is the first one with which the interval no longer reaches the limit.
func TestRoundsNeeded(t *testing.T) {
	limit := higherIsWorse.limit(0.10)
	for name, tc := range map[string]struct {
		change change
		want   int
	}{
		"no change, wide":    {change{rounds: 3, deviation: 0.08}, 16},
		"worse":              {change{rounds: 4, mean: 0.15, deviation: 0.04}, 12},
		"just at the limit":  {change{rounds: 5, mean: limit, deviation: 0.01}, 0},
		"close to the limit": {change{rounds: 5, mean: limit - 0.002, deviation: 0.03}, 0},
	} {
		if got := tc.change.needed(higherIsWorse, limit, 1); got != tc.want {
			t.Errorf("%s: %d rounds, wanted %d", name, got, tc.want)
		}
	}
}

// Beyond the limit, Holm's first step needs more rounds.
func TestRoundsNeededOfMany(t *testing.T) {
	c := change{rounds: 4, mean: 0.15, deviation: 0.04}
	limit := higherIsWorse.limit(0.10)
	if one, many := c.needed(higherIsWorse, limit, 1), c.needed(higherIsWorse, limit, 20); many <= one {
		t.Errorf("20 comparisons need %d rounds, and one %d", many, one)
	}
}

// 10 % less is further away than 10 % more.
func TestLimits(t *testing.T) {
	if got := math.Exp(-lowerIsWorse.limit(0.10)); math.Abs(got-0.90) > 1e-9 {
		t.Errorf("a loss of 10 %% leaves %v", got)
	}
	if got := math.Exp(higherIsWorse.limit(0.10)); math.Abs(got-1.10) > 1e-9 {
		t.Errorf("10 %% more is %v", got)
	}
}

func TestEqualRounds(t *testing.T) {
	c := changeOf([]pair{{10, 11}, {10, 11}, {10, 11}})
	for tolerance, want := range map[float64]float64{0.05: 0, 0.20: 1} {
		if got := c.chanceOfNoRegression(higherIsWorse, higherIsWorse.limit(tolerance)); got != want {
			t.Errorf("with a tolerance of %v: %v, wanted %v", tolerance, got, want)
		}
	}
	if c.isWithin(higherIsWorse, higherIsWorse.limit(0.05)) || !c.isWithin(lowerIsWorse, 0.01) || c.worst(lowerIsWorse) >= 0 {
		t.Errorf("%+v is on the wrong side", c)
	}
}

func TestHolm(t *testing.T) {
	for name, tc := range map[string]struct {
		p    []float64
		want []bool
	}{
		"none":                      {nil, []bool{}},
		"one":                       {[]float64{0.02}, []bool{true}},
		"each by its rank":          {[]float64{0.012, 0.024, 0.008}, []bool{true, true, true}},
		"the first is not enough":   {[]float64{0.02, 0.02}, []bool{false, false}},
		"the second is not enough":  {[]float64{0.02, 0.005, 0.03}, []bool{false, true, false}},
		"later ones do not count":   {[]float64{0.005, 0.013, 0.02}, []bool{true, false, false}},
		"order does not matter":     {[]float64{0.02, 0.013, 0.005}, []bool{false, false, true}},
		"certain":                   {[]float64{0, 1}, []bool{true, false}},
		"equal and few enough":      {[]float64{0.0125, 0.0125}, []bool{true, true}},
		"a test with no chance":     {[]float64{1}, []bool{false}},
		"exactly the level of rank": {[]float64{0.025}, []bool{true}},
	} {
		t.Run(name, func(t *testing.T) {
			got := holm(tc.p, 0.025)
			for i, want := range tc.want {
				if got[i] != want {
					t.Errorf("got %v, wanted %v", got, tc.want)
					break
				}
			}
		})
	}
}
