package compare

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
)

var putMean = v1alpha1.Metric{Type: v1alpha1.MetricLatency, Operation: spec.OperationPut, Statistic: spec.StatisticMean}

// waited makes the load generator a limit that has added at most this share of the mean latency, in per cent.
func waited(percent int64) editing {
	return func(run *v1alpha1.EtcdBenchmark) {
		run.Status.Summary.Validity = &v1alpha1.Validity{Verdict: v1alpha1.ValidityClientBound, AddedPerMillion: new(10_000 * percent)}
	}
}

// harmless is a load generator that was no limit, with the same share.
func harmless(percent int64) editing {
	return func(run *v1alpha1.EtcdBenchmark) {
		waited(percent)(run)
		run.Status.Summary.Validity.Verdict = v1alpha1.ValidityValid
	}
}

// hidingSides are five rounds in turn, with a mean of 4 ms and one that is longer by this many per mill.
func hidingSides(perMill int64, ofBaseline, ofCandidate editing) (baseline, candidate []*v1alpha1.EtcdBenchmark) {
	baseline, candidate = sides(5, 4000)
	for i := range baseline {
		baseline[i].Status.Summary.Operations[0].Latency.MeanMicroseconds = 4000 + jitter[i]
		candidate[i].Status.Summary.Operations[0].Latency.MeanMicroseconds = 4*(1000+perMill) - jitter[i]
		ofBaseline(baseline[i])
		ofCandidate(candidate[i])
	}
	return baseline, candidate
}

// Targets that are equal are not called worse because of unlike load generators, which have added any part of their shares.
func TestUnlikeLoadGeneratorsRaiseNoAlarm(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	alarms := 0
	const trials = 400
	for range trials {
		var q Question
		q.Metric, q.Added = putMean.WithTolerance(), Added{baseline: 10_000 * random.Int64N(10), candidate: 10_000 * (25 + random.Int64N(25)), bound: true}
		for range 5 {
			target := 4000 * math.Exp(random.NormFloat64()/20)
			slower := func(most int64) Value {
				return Value{Number: target * math.Exp(random.NormFloat64()/50) / (1 - float64(most)/1e6)}
			}
			q.Rounds = append(q.Rounds, Round{slower(0), slower(q.Added.candidate)})
		}
		if Judge([]Question{q})[0].Verdict == v1alpha1.Regressed {
			alarms++
		}
	}
	if alarms > trials/40 {
		t.Errorf("%d of %d equal targets regressed", alarms, trials)
	}
}

// The interval is about ±2 %, and the tolerance 10 %. Behind 30 % of the latency, a change of 10 % looks like one of 7 %.
func TestLoadGeneratorsHideChanges(t *testing.T) {
	const regressed, not, unknown, bound = v1alpha1.Regressed, v1alpha1.NotRegressed, v1alpha1.NotCompared, v1alpha1.ReasonComparedClientBound
	for name, tc := range map[string]struct {
		perMill             int64
		baseline, candidate editing
		metric              v1alpha1.Metric
		want                v1alpha1.ComparisonVerdict
		reason              v1alpha1.ComparisonReason
		improved            bool
	}{
		"no limit":                       {75, harmless(0), harmless(0), putMean, not, "", false},
		"nothing is hidden":              {75, waited(0), waited(0), putMean, not, "", false},
		"a change that can be hidden":    {75, waited(30), waited(30), putMean, unknown, bound, false},
		"one that cannot":                {40, waited(30), waited(30), putMean, not, "", false},
		"a change that shows":            {200, waited(30), waited(30), putMean, regressed, "", false},
		"half of the latency":            {0, waited(50), waited(50), putMean, not, "", false},
		"half of it hides twice as much": {40, waited(50), waited(50), putMean, v1alpha1.NotCompared, v1alpha1.ReasonTooFewRounds, false},
		"on one side":                    {75, waited(30), waited(21), putMean, unknown, bound, false},
		"the sides differ":               {0, waited(20), waited(31), putMean, unknown, bound, false},
		"the other side":                 {200, waited(31), waited(20), putMean, unknown, bound, false},
		"beyond all that was added":      {450, waited(31), waited(20), putMean, regressed, "", false},
		"beyond what the baseline added": {600, waited(10), waited(40), putMean, unknown, bound, false},
		"just below the limit":           {0, harmless(30), waited(31), putMean, not, "", false},
		"no limit, and much added":       {75, harmless(60), harmless(10), putMean, not, "", false},
		"more than half beside a limit":  {0, harmless(55), waited(50), putMean, unknown, bound, false},
		"better":                         {-100, waited(30), waited(30), putMean, not, "", true},
		"better by what was not added":   {-100, waited(30), waited(21), putMean, not, "", false},
		"a percentile":                   {0, waited(10), waited(10), putP99, unknown, bound, false},
		"throughput":                     {0, waited(30), waited(30), throughput, not, "", false},
	} {
		t.Run(name, func(t *testing.T) {
			baseline, candidate := hidingSides(tc.perMill, tc.baseline, tc.candidate)
			r, err := Runs(baseline, candidate, []v1alpha1.Metric{tc.metric})
			if err != nil || len(r.Excluded) > 0 {
				t.Fatalf("got %v and left out %v", err, r.Excluded)
			}
			c := r.Comparisons[0]
			if c.Verdict != tc.want || c.Reason != tc.reason || c.Improved != tc.improved {
				t.Errorf("got %+v, wanted %s %s, improved %v", c, tc.want, tc.reason, tc.improved)
			}
			if said := strings.Contains(c.Message, "may have added"); said != (c.BaselineAddedPerMillion+c.CandidateAddedPerMillion > 0) {
				t.Errorf("the shares are %d and %d, and the message is %q", c.BaselineAddedPerMillion, c.CandidateAddedPerMillion, c.Message)
			}
		})
	}
}

// A percentile that is worse is worse, however much the load generator has added to it on both sides.
func TestPercentilesCanRegress(t *testing.T) {
	baseline, candidate := sides(5, 6000, waited(10))
	r, err := Runs(baseline, candidate, []v1alpha1.Metric{putP99})
	if err != nil || r.Verdict != v1alpha1.Regressed {
		t.Errorf("got %+v (%v), wanted Regressed", r, err)
	}
}

// Behind half of the latency, a loss of 5 % of the throughput looks like one of 2.6 %.
func TestThroughputIsHiddenByTheInverse(t *testing.T) {
	for value, want := range map[string]v1alpha1.ComparisonVerdict{"4880": v1alpha1.NotRegressed, "4860": v1alpha1.NotCompared} {
		baseline, candidate := sides(3, 4000, waited(50))
		for _, run := range candidate {
			perSecond(value)(run)
		}
		if r, err := Runs(baseline, candidate, []v1alpha1.Metric{throughput}); err != nil || r.Verdict != want {
			t.Errorf("%s: got %+v (%v), wanted %s", value, r, err, want)
		}
	}
}

// A load generator that added more than half of the latency, or an unknown part, ends the comparison of its run.
func TestLoadGeneratorsThatInvalidate(t *testing.T) {
	for name, tc := range map[string]struct {
		change editing
		want   bool
	}{
		"half":           {waited(50), false},
		"more than half": {waited(51), true},
		"not known":      {clientBound, true},
		"no limit":       {harmless(90), false},
		"no limit, unknown": {func(run *v1alpha1.EtcdBenchmark) {
			run.Status.Summary.Validity = &v1alpha1.Validity{Verdict: v1alpha1.ValidityUnknown}
		}, false},
		"no word about that": {func(run *v1alpha1.EtcdBenchmark) { run.Status.Summary.Validity = nil }, false},
	} {
		if why := WhyInvalid(finished("a", 0, tc.change)); (why != "") != tc.want {
			t.Errorf("%s: %q", name, why)
		}
	}
}

// A slow client is no reason to say that a rate was reached.
func TestThroughputOfARateThatWasNotReached(t *testing.T) {
	for name, tc := range map[string]struct {
		perSecond string
		want      v1alpha1.ComparisonReason
	}{
		"reached": {"5000", v1alpha1.ReasonNotInformative}, "not reached": {"4000", v1alpha1.ReasonComparedClientBound},
	} {
		run := finished("a", 0, atRate, waited(10), perSecond(tc.perSecond), func(run *v1alpha1.EtcdBenchmark) {
			run.Status.Summary.DurationMicroseconds, run.Status.Summary.MeasuredRequests = 60e6, 300_000
		})
		if got := ValueOf(run, throughput).Reason; got != tc.want {
			t.Errorf("%s: got %q, wanted %q", name, got, tc.want)
		}
	}
}

// Nothing bounds what a client adds to a percentile, so the mean is compared.
func TestUsualMetricsOfALimitedLoadGenerator(t *testing.T) {
	got := UsualMetrics([]*v1alpha1.EtcdBenchmark{finished("a", 0), finished("b", 1, waited(10))})
	if len(got) != 2 || got[0] != throughput || got[1] != putMean {
		t.Errorf("got %v, wanted the throughput and the mean", got)
	}
}

// hiding are rounds of a target that is slower by a change, behind a load generator that adds a fixed time: this share of
// the baseline's latency.
func hiding(rounds int, trueChange, share, own float64) simulation {
	return func(random *rand.Rand) []pair {
		pairs := noisy(rounds, trueChange, 0.06, own)(random)
		for i := range pairs {
			// noisy has 1,000 µs of the target on average.
			wait := 1000 * share / (1 - share) * math.Exp(own*random.NormFloat64())
			pairs[i].baseline, pairs[i].candidate = pairs[i].baseline+wait, pairs[i].candidate+wait
		}
		return pairs
	}
}

// within reports whether a comparison of means with a tolerance of 10 % is NotRegressed.
func within(share float64, m v1alpha1.Metric) func(change) bool {
	return func(c change) bool {
		perMillion := int64(1e6 * share)
		return comparing{metric: m, side: sideOfMetric(m), change: c, added: Added{perMillion, perMillion, perMillion > 0}}.isWithin()
	}
}

// A change of the target that is at the tolerance is called NotRegressed in no more comparisons than without a load generator
// that hides it, if it adds all that it can or less. Without the bound, it would be in most.
func TestHiddenChangesAreNotMissed(t *testing.T) {
	for _, rounds := range []int{3, 5, 10} {
		for _, share := range []float64{0.1, 0.3, 0.5} {
			for _, part := range []float64{0, 0.5, 1} {
				if got := shareOf(hiding(rounds, 0.10, part*share, 0.02), within(share, putMean)); got > levelOf(rounds)+0.005 {
					t.Errorf("%d rounds, %v of the share %v: NotRegressed in %.4f, wanted at most %.4f", rounds, part, share, got, levelOf(rounds))
				}
			}
		}
	}
	if got := shareOf(hiding(10, 0.10, 0.5, 0.02), within(0, putMean)); got < 0.5 {
		t.Errorf("without the bound: NotRegressed in %.3f, so the simulation shows nothing", got)
	}
}

// What the bound costs: how often an unchanged target is NotRegressed. Ratios spread by 3 %.
func TestPowerBehindALoadGenerator(t *testing.T) {
	for _, tc := range []struct {
		rounds             int
		none, tenth, third float64
	}{{3, 0.27, 0.23, 0.15}, {5, 0.92, 0.85, 0.65}, {10, 1, 1, 0.97}} {
		for share, want := range map[float64]float64{0: tc.none, 0.1: tc.tenth, 0.3: tc.third} {
			got := shareOf(hiding(tc.rounds, 0, 0, 0.03/math.Sqrt2), within(share, putMean))
			if math.Abs(got-want) > 0.02 {
				t.Errorf("%d rounds, a share of %v: NotRegressed in %.3f, wanted about %.2f", tc.rounds, share, got, want)
			}
		}
	}
}

// Pauses that are few and long are a small part of the mean, and fill the tail: behind them, a target that takes twice as
// long has the same p99. So the share of the mean does not bound what is hidden of a percentile.
func TestPausesHideAPercentile(t *testing.T) {
	random := rand.New(rand.NewPCG(19, 34))
	p99Of := func(slower float64) (p99, added float64) {
		var all []float64
		total, waits := 0.0, 0.0
		for range 20_000 {
			l, wait := slower*random.ExpFloat64(), 0.0
			if random.Float64() < 0.02 {
				wait = 20 + random.Float64()
			}
			all, total, waits = append(all, l+wait), total+l+wait, waits+wait
		}
		slices.Sort(all)
		return all[len(all)*99/100], waits / total
	}
	var pairs []pair
	share := 0.0
	for range 5 {
		one, added := p99Of(1)
		two, _ := p99Of(2)
		pairs, share = append(pairs, pair{one, two}), max(share, added)
	}
	c := changeOf(pairs)
	if share > 0.5 || !within(share, putMean)(c) {
		t.Fatalf("%+v with a share of %.2f: the simulation shows nothing", c, share)
	}
	if within(share, putP99)(c) {
		t.Errorf("%+v is called NotRegressed, and the target takes twice as long", c)
	}
}
