package compare

import (
	"math"
	"math/rand/v2"
	"testing"

	"golang.org/x/perf/benchmath"
)

// The interval is that of benchstat's library for the mean of the log ratios.
func TestIntervalAgreesWithBenchmath(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 500 {
		c := changeOf(noisy(2+random.IntN(12), 0.2*random.Float64()-0.1, 0.06, 0.01+0.1*random.Float64())(random))
		low, high := c.interval()
		sample := append([]float64(nil), c.ratios...)
		want := benchmath.AssumeNormal.Summary(benchmath.NewSample(sample, &benchmath.DefaultThresholds), 1-2*levelOf(c.rounds))
		for name, pair := range map[string][2]float64{"low": {low, want.Lo}, "mean": {c.mean, want.Center}, "high": {high, want.Hi}} {
			if math.Abs(pair[0]-pair[1]) > 1e-6 {
				t.Fatalf("%d rounds: %s is %v, wanted %v", c.rounds, name, pair[0], pair[1])
			}
		}
	}
}
