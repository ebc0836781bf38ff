package compare

import (
	"math"
	"math/rand/v2"
	"testing"
)

// disturbed are rounds in which one run in ten, of either side, is 15 to 40 % larger. Each run has noise of its own.
func disturbed(rounds int, trueChange, own float64) simulation {
	run := func(random *rand.Rand, value float64) float64 {
		value *= math.Exp(own * random.NormFloat64())
		if random.Float64() < 0.1 {
			value *= 1.15 + 0.25*random.Float64()
		}
		return value
	}
	return func(random *rand.Rand) []pair {
		pairs := make([]pair, rounds)
		for i := range pairs {
			pairs[i] = pair{baseline: run(random, 1000), candidate: run(random, 1000*(1+trueChange))}
		}
		return pairs
	}
}

// Runs that something else disturbs hide changes. They do not invent any.
func TestFalseAlarmsAndPowerWithDisturbedRuns(t *testing.T) {
	const own = 0.03
	for name, tc := range map[string]struct {
		rounds     int
		trueChange float64
		want       float64
	}{
		"no change, 3 rounds":  {3, 0, 0.01},
		"no change, 5 rounds":  {5, 0, 0.01},
		"no change, 10 rounds": {10, 0, 0},
		"10 % more, 3 rounds":  {3, 0.10, 0.08},
		"10 % more, 5 rounds":  {5, 0.10, 0.25},
		"10 % more, 10 rounds": {10, 0.10, 0.22},
	} {
		t.Run(name, func(t *testing.T) {
			if got := shareOf(disturbed(tc.rounds, tc.trueChange, own), isDifferent); math.Abs(got-tc.want) > 0.02 {
				t.Errorf("%.3f of the comparisons are called different, wanted about %.2f", got, tc.want)
			}
		})
	}
}

// order returns when each run of the two sides takes place, as a number from 0 to 2*rounds-1.
type order func(random *rand.Rand, rounds int) (baseline, candidate []int)

// oneAfterTheOther runs all of the baseline first.
func oneAfterTheOther(_ *rand.Rand, rounds int) (baseline, candidate []int) {
	for i := range rounds {
		baseline, candidate = append(baseline, i), append(candidate, rounds+i)
	}
	return baseline, candidate
}

// shuffledPairs runs both sides in each round, in a random order.
func shuffledPairs(random *rand.Rand, rounds int) (baseline, candidate []int) {
	for i := range rounds {
		first := random.IntN(2)
		baseline, candidate = append(baseline, 2*i+first), append(candidate, 2*i+1-first)
	}
	return baseline, candidate
}

// drifting are two equal sides. From the first run to the last, the values grow by a drift.
func drifting(rounds int, drift, own float64, at order) simulation {
	return func(random *rand.Rand) []pair {
		run := func(position int) float64 {
			return 1000 * math.Exp(drift*float64(position)/float64(2*rounds-1)+own*random.NormFloat64())
		}
		baseline, candidate := at(random, rounds)
		pairs := make([]pair, rounds)
		for i := range pairs {
			pairs[i] = pair{baseline: run(baseline[i]), candidate: run(candidate[i])}
		}
		return pairs
	}
}

// A drift of 6 % is taken for a change in many comparisons if one side runs after the other. It is not if each round has
// both sides, as in a suite.
func TestFalseAlarmsOfADrift(t *testing.T) {
	const drift, own = 0.06, 0.02
	for name, tc := range map[string]struct {
		rounds int
		order  order
		want   float64
	}{
		"one after the other, 3 rounds":  {3, oneAfterTheOther, 0.05},
		"one after the other, 5 rounds":  {5, oneAfterTheOther, 0.19},
		"one after the other, 10 rounds": {10, oneAfterTheOther, 0.26},
		"shuffled pairs, 3 rounds":       {3, shuffledPairs, 0.01},
		"shuffled pairs, 5 rounds":       {5, shuffledPairs, 0.01},
		"shuffled pairs, 10 rounds":      {10, shuffledPairs, 0.001},
	} {
		t.Run(name, func(t *testing.T) {
			if got := shareOf(drifting(tc.rounds, drift, own, tc.order), isDifferent); math.Abs(got-tc.want) > 0.02 {
				t.Errorf("%.3f of the comparisons are called different, wanted about %.2f", got, tc.want)
			}
		})
	}
}
