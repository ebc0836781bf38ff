package compare

import (
	"math"
	"math/rand/v2"
	"testing"
)

// The interval is that of Student's t distribution for the mean of the log ratios, from its density and nothing else.
func TestIntervalAgreesWithTheDensity(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 100 {
		pairs := noisy(2+random.IntN(12), 0.2*random.Float64()-0.1, 0.06, 0.01+0.1*random.Float64())(random)
		n, sum, squares := float64(len(pairs)), 0.0, 0.0
		for _, p := range pairs {
			sum += math.Log(p.candidate / p.baseline)
		}
		for _, p := range pairs {
			squares += math.Pow(math.Log(p.candidate/p.baseline)-sum/n, 2)
		}
		standardError := math.Sqrt(squares / (n - 1) / n)
		low, high := changeOf(pairs).interval()
		for name, distance := range map[string]float64{"low": sum/n - low, "high": high - sum/n} {
			if got, want := tail(n-1, distance/standardError), levelOf(len(pairs)); math.Abs(got/want-1) > 1e-5 {
				t.Fatalf("%v rounds: the true change is beyond %s with probability %v, wanted %v", n, name, got, want)
			}
		}
	}
}

// tail is the probability that Student's t exceeds a value, by Simpson's rule.
func tail(freedom, value float64) float64 {
	const steps = 5000
	up, _ := math.Lgamma((freedom + 1) / 2)
	down, _ := math.Lgamma(freedom / 2)
	area := 0.0
	for i := range steps + 1 {
		weight := 2.0 + 2*float64(i%2)
		if i == 0 || i == steps {
			weight = 1
		}
		x := value * float64(i) / steps
		area += weight * math.Pow(1+x*x/freedom, -(freedom+1)/2)
	}
	return 0.5 - math.Exp(up-down)/math.Sqrt(freedom*math.Pi)*area*value/steps/3
}
