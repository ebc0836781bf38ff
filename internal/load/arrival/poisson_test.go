package arrival

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
)

// merged returns the due times of all pods' Poisson arrivals before an end, in order.
func merged(s Schedule, seed, stream uint64, pods int, end time.Duration) []time.Duration {
	var all []time.Duration
	for index := range pods {
		for w := s.Poisson(seed, stream, Share{Pods: pods, Index: index}); w.Due() < end; w.Next() {
			all = append(all, w.Due())
		}
	}
	slices.Sort(all)
	return all
}

// The number of arrivals in each of many equal intervals has mean and variance
// λ, whatever the number of pods. Bounds are five standard errors.
func TestPoissonCounts(t *testing.T) {
	const rate, seconds, perSecond = 1_000, 200, 100
	const intervals, mean = seconds * perSecond, float64(rate) / perSecond
	for _, pods := range []int{1, 2, 5} {
		var counts [intervals]float64
		for _, due := range merged(PerSecond(rate), 7, 1, pods, seconds*time.Second) {
			counts[due*perSecond/time.Second]++
		}
		var sum, squares float64
		for _, n := range counts {
			sum += n
			squares += (n - mean) * (n - mean)
		}
		if got := sum / intervals; math.Abs(got-mean) > 5*math.Sqrt(mean/intervals) {
			t.Errorf("%d pods: %.3f arrivals in an interval, wanted %.0f", pods, got, mean)
		}
		if got := squares / intervals / mean; math.Abs(got-1) > 5*math.Sqrt(2./intervals) {
			t.Errorf("%d pods: the variance is %.3f times the mean, wanted 1", pods, got)
		}
	}
}

// The gaps between arrivals are exponential and independent of each other.
// Kolmogorov's distance stays below 1.95/√n in all but one of a thousand seeds.
func TestPoissonGaps(t *testing.T) {
	const rate = 1_000
	for _, pods := range []int{1, 3} {
		all := merged(PerSecond(rate), 11, 2, pods, 100*time.Second)
		gaps := make([]float64, len(all)-1)
		var product float64
		for i := range gaps {
			gaps[i] = (all[i+1] - all[i]).Seconds() * rate
			if i > 0 {
				product += (gaps[i] - 1) * (gaps[i-1] - 1)
			}
		}
		if n := float64(len(gaps)); math.Abs(product/n) > 5/math.Sqrt(n) {
			t.Errorf("%d pods: neighbouring gaps are correlated by %.4f", pods, product/n)
		}
		if d, limit := distance(gaps, func(x float64) float64 { return -math.Expm1(-x) }), 1.95/math.Sqrt(float64(len(gaps))); d > limit {
			t.Errorf("%d pods: gaps are %.4f away from an exponential distribution, wanted below %.4f", pods, d, limit)
		}
	}
}

// distance is the greatest difference between the distribution of a sample and
// the one it should have.
func distance(sample []float64, want func(float64) float64) (d float64) {
	slices.Sort(sample)
	for i, x := range sample {
		n := float64(len(sample))
		d = max(d, math.Abs(want(x)-float64(i)/n), math.Abs(want(x)-float64(i+1)/n))
	}
	return d
}

// If the rate changes, the arrivals follow it: mapped to the numbers that an even schedule has at these times, they are
// uniform.
func TestPoissonFollowsTheRate(t *testing.T) {
	for name, stages := range map[string][]spec.Stage{
		"ramp up": {over(0, 2_000, 60)}, "ramp down": {over(2_000, 0, 60)}, "stages": {over(100, 100, 10), over(0, 0, 10), over(3_000, 3_000, 20)},
	} {
		s, total := Stages(stages...), float64(totalOf(stages))
		all := merged(s, 3, 2, 4, math.MaxInt64)
		if n := float64(len(all)); math.Abs(n-total) > 5*math.Sqrt(total) {
			t.Errorf("%s: %v arrivals, wanted some %v", name, n, total)
		}
		var sample []float64
		for _, due := range all {
			sample = append(sample, integralOf(stages, due.Seconds())/total)
		}
		if d, limit := distance(sample, func(x float64) float64 { return x }), 1.95/math.Sqrt(float64(len(all))); d > limit {
			t.Errorf("%s: arrivals are %.4f away from the rate, wanted below %.4f", name, d, limit)
		}
	}
}

// integralOf returns the mean number of arrivals before a time.
func integralOf(stages []spec.Stage, seconds float64) (n float64) {
	for _, s := range stages {
		t := min(seconds, float64(s.Seconds))
		n += float64(s.From)*t + float64(s.To-s.From)*t*t/float64(2*s.Seconds)
		seconds -= t
	}
	return n
}

func TestSeedsStreamsAndPodsHaveProcessesOfTheirOwn(t *testing.T) {
	first := func(seed, stream uint64, index int) (row [8]time.Duration) {
		w := PerSecond(1_000).Poisson(seed, stream, Share{Pods: 2, Index: index})
		for i := range row {
			row[i] = w.Due()
			w.Next()
		}
		return row
	}
	seen := map[[8]time.Duration]bool{}
	for seed := range uint64(3) {
		for stream := range uint64(3) {
			for index := range 2 {
				row := first(seed, stream, index)
				if row != first(seed, stream, index) {
					t.Errorf("seed %d, stream %d, pod %d: not the same again", seed, stream, index)
				}
				if seen[row] || !slices.IsSorted(row[:]) {
					t.Errorf("seed %d, stream %d, pod %d: %v, seen: %v", seed, stream, index, row, seen[row])
				}
				seen[row] = true
			}
		}
	}
}
