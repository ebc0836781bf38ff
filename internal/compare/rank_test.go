package compare

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
)

// TestSignedRank has p-values of tables of the Wilcoxon signed-rank test, and of an enumeration of all signs.
func TestSignedRank(t *testing.T) {
	for name, tc := range map[string]struct {
		ratios []float64
		want   float64
	}{
		"none":          {nil, 1},
		"only zeros":    {[]float64{0, 0}, 1},
		"six alike":     {[]float64{1, 2, 3, 4, 5, 6}, 2.0 / 64},
		"one against":   {[]float64{-1, 2, 3, 4, 5, 6}, 4.0 / 64},
		"the largest":   {[]float64{1, 2, 3, 4, 5, -6}, 28.0 / 64},
		"shared ranks":  {[]float64{1, 1, 1, -1}, 10.0 / 16},
		"with a zero":   {[]float64{0, 1, 2, 3, 4, 5, 6}, 2.0 / 64},
		"half and half": {[]float64{1, -1}, 1},
	} {
		if got := signedRank(tc.ratios); math.Abs(got-tc.want) > 1e-12 {
			t.Errorf("%s: p is %g, wanted %g", name, got, tc.want)
		}
	}
	random := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		ratios := make([]float64, 8)
		for i := range ratios {
			ratios[i] = math.Round(4*random.NormFloat64()) / 4
		}
		if got, want := signedRank(ratios), enumerated(ratios); math.Abs(got-want) > 1e-9 {
			t.Errorf("%v: p is %g, wanted %g", ratios, got, want)
		}
	}
}

// enumerated counts the signs that are as extreme.
func enumerated(ratios []float64) float64 {
	var sizes []float64
	observed := 0.0
	rank := func(size float64) (r float64) {
		for _, other := range ratios {
			switch {
			case other == 0:
			case math.Abs(other) < size:
				r++
			case math.Abs(other) == size:
				r += 0.5
			}
		}
		return r + 0.5
	}
	for _, v := range ratios {
		if v != 0 {
			sizes = append(sizes, rank(math.Abs(v)))
			observed += math.Copysign(rank(math.Abs(v)), v)
		}
	}
	extreme := 0
	for signs := range 1 << len(sizes) {
		sum := 0.0
		for i, s := range sizes {
			if signs>>i&1 == 0 {
				s = -s
			}
			sum += s
		}
		if math.Abs(sum) >= math.Abs(observed)-1e-9 {
			extreme++
		}
	}
	return float64(extreme) / float64(int(1)<<len(sizes))
}

// TestTrendChance has p-values of tables of the Mann-Kendall test.
func TestTrendChance(t *testing.T) {
	for name, tc := range map[string]struct {
		values []float64
		want   float64
	}{
		"five that rise":  {[]float64{1, 2, 3, 4, 5}, 2.0 / 120},
		"five that fall":  {[]float64{5, 4, 3, 2, 1}, 2.0 / 120},
		"one out of turn": {[]float64{1, 2, 3, 5, 4}, 10.0 / 120},
		"equal ones":      {[]float64{7, 7, 7, 7, 7}, 1},
		"up and down":     {[]float64{1, 3, 2, 3, 1}, 1},
	} {
		if got := trendChance(tc.values); math.Abs(got-tc.want) > 1e-12 {
			t.Errorf("%s: p is %g, wanted %g", name, got, tc.want)
		}
	}
	random, alarms := rand.New(rand.NewPCG(3, 4)), 0
	for range 2000 {
		values := make([]float64, 9)
		for i := range values {
			values[i] = random.NormFloat64()
		}
		if trendChance(values) <= trendLevel {
			alarms++
		}
	}
	if alarms > 60 {
		t.Errorf("%d of 2,000 series without a trend are said to have one, wanted about 40 or fewer", alarms)
	}
}

// A comparison says if the two tests disagree, and if the baseline has drifted; neither changes the verdict.
func TestSecondOpinion(t *testing.T) {
	judged := func(baseline, candidate []float64) v1alpha1.Comparison {
		q := Question{Metric: v1alpha1.Metric{Type: v1alpha1.MetricThroughput}}
		for i := range baseline {
			q.Rounds = append(q.Rounds, Round{Value{Number: baseline[i]}, Value{Number: candidate[i]}})
		}
		return Judge([]Question{q})[0]
	}
	flat, drifting := []float64{1000, 1002, 999, 1001, 998, 1003, 1000}, []float64{1000, 1010, 1020, 1030, 1040, 1050, 1060}
	faster := func(by float64, of []float64) (out []float64) {
		for i, v := range of {
			out = append(out, v*(1+by+0.001*float64(i%3)))
		}
		return out
	}
	agreeing := judged(flat, faster(0.02, flat))
	if p := agreeing.SignedRankPerMillion; p == nil || *p != 15625 || agreeing.BaselineDrifts || agreeing.Message != "" {
		t.Errorf("found %+v, wanted that both tests agree", agreeing)
	}
	outlier := faster(0.002, flat)
	outlier[6] *= 1.4
	if c := judged(flat, outlier); c.LowPerMillion == nil || *c.LowPerMillion > 0 || !strings.Contains(c.Message, "signed-rank") {
		t.Errorf("found %+v, wanted that the tests disagree", c)
	}
	if c := judged(drifting, faster(0.02, drifting)); !c.BaselineDrifts || c.Verdict != v1alpha1.NotRegressed || !strings.Contains(c.Message, "baseline") {
		t.Errorf("found %+v, wanted a drift that changes no verdict", c)
	}
	if c := judged(flat[:5], faster(0.02, flat[:5])); c.SignedRankPerMillion != nil {
		t.Errorf("found %+v, wanted no second opinion with five rounds", c)
	}
}
