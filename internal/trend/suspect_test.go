package trend

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// noisy is a history with normal noise of the logarithms. Level is the relative change of a value by its index.
func noisy(random *rand.Rand, n int, deviation float64, level func(i int) float64) []float64 {
	values := make([]float64, n)
	for i := range values {
		values[i] = math.Log(1000*(1+level(i))) + deviation*random.NormFloat64()
	}
	return values
}

func unchanged(int) float64 { return 0 }

// suspects is the share of values called Suspect, in histories without a change.
func suspects(n int, deviation float64, worse Direction, tolerance float64) float64 {
	const trials = 10_000
	random := rand.New(rand.NewPCG(3, 5))
	found := 0
	for range trials {
		values := noisy(random, n+1, deviation, unchanged)
		if Judge(values[:n], values[n], worse, tolerance).Verdict == Suspect {
			found++
		}
	}
	return float64(found) / trials
}

func TestFalseAlarmsOfJudge(t *testing.T) {
	for _, n := range []int{MinHistory, 20, 100} {
		for _, worse := range []Direction{HigherIsWorse, LowerIsWorse} {
			if got := suspects(n, 0.05, worse, 0); math.Abs(got-FalseAlarms) > 0.002 {
				t.Errorf("%d earlier values, direction %d: %.4f are suspect, wanted about %v", n, worse, got, FalseAlarms)
			}
		}
	}
	if got := suspects(20, 0.01, HigherIsWorse, 0.05); got > 0.0005 {
		t.Errorf("with a tolerance of five deviations %.4f are suspect", got)
	}
}

// A history of 20 values that spread by 3 %.
func TestSuspectsOfTrueChanges(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 5))
	const trials = 2000
	for _, tc := range []struct{ change, want float64 }{{0.05, 0.13}, {0.10, 0.59}, {0.15, 0.95}, {0.40, 1}} {
		found := 0
		for range trials {
			values := noisy(random, 21, 0.03, func(i int) float64 { return tc.change * float64(i/20) })
			if Judge(values[:20], values[20], HigherIsWorse, 0.05).Verdict == Suspect {
				found++
			}
		}
		if got := float64(found) / trials; math.Abs(got-tc.want) > 0.02 {
			t.Errorf("a change of %v is suspect in %.3f, wanted about %.2f", tc.change, got, tc.want)
		}
	}
}

// Eight values with the mean 7 and the deviation 0.01.
func quiet() []float64 {
	a := 0.01 * math.Sqrt(7.0/8)
	return []float64{7 + a, 7 - a, 7 + a, 7 - a, 7 + a, 7 - a, 7 + a, 7 - a}
}

// The quantile 0.995 of Student's t with 7 degrees of freedom is 3.4995.
func TestInterval(t *testing.T) {
	j := Judge(quiet(), 7, HigherIsWorse, 0.05)
	half := 3.4995 * 0.01 * math.Sqrt(1+1.0/8)
	if math.Abs(j.Mean-7) > 1e-9 || math.Abs(j.Low-(7-half)) > 1e-6 || math.Abs(j.High-(7+half)) > 1e-6 {
		t.Errorf("%+v, wanted 7 ± %v", j, half)
	}
}

func TestVerdicts(t *testing.T) {
	constant := []float64{5, 5, 5, 5, 5, 5, 5, 5, 5, 5}
	for name, tc := range map[string]struct {
		earlier   []float64
		latest    float64
		worse     Direction
		tolerance float64
		want      Verdict
		better    bool
	}{
		"as ever":                         {quiet(), 7, HigherIsWorse, 0.01, Usual, false},
		"within the interval":             {quiet(), 7.03, HigherIsWorse, 0.01, Usual, false},
		"higher latency":                  {quiet(), 7.04, HigherIsWorse, 0.01, Suspect, false},
		"lower latency":                   {quiet(), 6.96, HigherIsWorse, 0.01, Usual, true},
		"higher throughput":               {quiet(), 7.04, LowerIsWorse, 0.01, Usual, true},
		"lower throughput":                {quiet(), 6.96, LowerIsWorse, 0.01, Suspect, false},
		"higher, within the tolerance":    {quiet(), 7.04, HigherIsWorse, 0.05, Usual, false},
		"lower, within the tolerance":     {quiet(), 6.96, HigherIsWorse, 0.05, Usual, false},
		"the tolerance is of the value":   {quiet(), 7 + math.Log(1.0501), HigherIsWorse, 0.05, Suspect, false},
		"exactly 5 % more":                {slices.Repeat([]float64{math.Log(1000)}, 8), math.Log(1050), HigherIsWorse, 0.05, Usual, false},
		"5 % less in logarithms is more":  {quiet(), 7 + math.Log(0.951), LowerIsWorse, 0.05, Usual, false},
		"more than 5 % less":              {quiet(), 7 + math.Log(0.949), LowerIsWorse, 0.05, Suspect, false},
		"constant":                        {constant, 5, HigherIsWorse, 0, Usual, false},
		"constant, rounded":               {[]float64{.1, .1, .1, .1, .1, .1, .1, .1, .1}, .1 + 1e-12, HigherIsWorse, 0, Usual, false},
		"constant until now":              {constant, 5.1, HigherIsWorse, 0.05, Suspect, false},
		"constant, then within tolerance": {constant, 5.04, HigherIsWorse, 0.05, Usual, false},
		"too little history":              {quiet()[:7], 9, HigherIsWorse, 0.05, Unknown, false},
		"no history":                      {nil, 9, HigherIsWorse, 0.05, Unknown, false},
		"no direction":                    {quiet(), 9, 0, 0.05, Unknown, false},
		"latest is not a number":          {quiet(), math.NaN(), HigherIsWorse, 0.05, Unknown, false},
		"latest is the logarithm of 0":    {quiet(), math.Inf(-1), LowerIsWorse, 0.05, Unknown, false},
		"an earlier one is not a number":  {append(quiet(), math.NaN()), 9, HigherIsWorse, 0.05, Unknown, false},
		"an earlier one is infinite":      {append(quiet(), math.Inf(1)), 9, HigherIsWorse, 0.05, Unknown, false},
		"not the logarithm of a float64":  {append(quiet(), 1e300), 9, HigherIsWorse, 0.05, Unknown, false},
	} {
		t.Run(name, func(t *testing.T) {
			j := Judge(tc.earlier, tc.latest, tc.worse, tc.tolerance)
			if j.Verdict != tc.want || j.Better != tc.better {
				t.Errorf("%+v, wanted %s, better %v", j, tc.want, tc.better)
			}
			if j.Verdict == Unknown && j != (Judgement{Verdict: Unknown}) {
				t.Errorf("%+v has numbers", j)
			}
		})
	}
}
