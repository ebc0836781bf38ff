package compare

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/stat"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
)

// sessions are simulated: each has a level of its own, and its rounds vary around it.
type sessions struct {
	random       *rand.Rand
	between, own float64
}

// logs are the logarithms of the rounds of one session whose true level is this.
func (s sessions) logs(level float64, rounds int) (out []float64) {
	level += s.between * s.random.NormFloat64()
	for range rounds {
		out = append(out, level+s.own*s.random.NormFloat64())
	}
	return out
}

// stored compares two sessions, given the history of others.
func (s sessions) stored(history, historyRounds, rounds int, change float64) v1alpha1.Comparison {
	var past []float64
	for range history {
		past = append(past, stat.Mean(s.logs(math.Log(5000), historyRounds), nil))
	}
	mean, deviation := stat.MeanStdDev(s.logs(math.Log(5000), historyRounds), nil)
	q := StoredQuestion{
		Metric:   v1alpha1.Metric{Type: v1alpha1.MetricThroughput, TolerancePercent: 10},
		Baseline: Stored{Value: Value{Number: math.Exp(mean)}, Rounds: historyRounds, Deviation: deviation, History: History{Sessions: history, Rounds: historyRounds}},
	}
	if history > 1 {
		q.Baseline.History.Spread = stat.StdDev(past, nil)
	}
	for _, log := range s.logs(math.Log(5000*(1+change)), rounds) {
		q.Candidate = append(q.Candidate, Value{Number: math.Exp(log)})
	}
	return JudgeStored([]StoredQuestion{q})[0]
}

// With 5 % between sessions, a comparison that looks only at the rounds is wrong in two of three cases. One that knows the
// spread between sessions is not. The true change of the first rows is the tolerance, where errors are most frequent.
func TestStoredBaselines(t *testing.T) {
	for name, tc := range map[string]struct {
		between, own                   float64
		history, historyRounds, rounds int
		change                         float64
		verdict                        v1alpha1.ComparisonVerdict
		least, most                    float64
		withinInterval                 bool
	}{
		"a change of the tolerance":        {between: 0.05, own: 0.03, history: 8, historyRounds: 5, rounds: 5, change: -0.10, verdict: v1alpha1.Regressed, most: 0.035, withinInterval: true},
		"five sessions are enough":         {between: 0.05, own: 0.03, history: 5, historyRounds: 5, rounds: 5, change: -0.10, verdict: v1alpha1.Regressed, most: 0.035, withinInterval: true},
		"fewer rounds than in the history": {between: 0.01, own: 0.10, history: 8, historyRounds: 20, rounds: 3, change: -0.10, verdict: v1alpha1.Regressed, most: 0.05},
		"no change, called within":         {between: 0.05, own: 0.03, history: 8, historyRounds: 5, rounds: 5, change: -0.10, verdict: v1alpha1.NotRegressed, most: 0.035},
		"a great change":                   {between: 0.05, own: 0.03, history: 8, historyRounds: 5, rounds: 5, change: -0.40, verdict: v1alpha1.Regressed, least: 0.95, most: 1},
		"no change in quiet sessions":      {between: 0.01, own: 0.03, history: 8, historyRounds: 5, rounds: 5, verdict: v1alpha1.NotRegressed, least: 0.90, most: 1},
		"four sessions are not enough":     {between: 0.01, own: 0.01, history: 4, historyRounds: 5, rounds: 5, change: -0.40, verdict: v1alpha1.NotCompared, least: 1, most: 1},
		"no history":                       {between: 0.01, own: 0.01, historyRounds: 5, rounds: 5, change: -0.40, verdict: v1alpha1.NotCompared, least: 1, most: 1},
		"two rounds are not enough":        {between: 0.01, own: 0.01, history: 8, historyRounds: 5, rounds: 2, change: -0.40, verdict: v1alpha1.NotCompared, least: 1, most: 1},
	} {
		t.Run(name, func(t *testing.T) {
			const trials = 2000
			s := sessions{rand.New(rand.NewPCG(5, 7)), tc.between, tc.own}
			found, within := 0, 0
			for range trials {
				c := s.stored(tc.history, tc.historyRounds, tc.rounds, tc.change)
				if c.Verdict == tc.verdict {
					found++
				}
				if c.LowPerMillion != nil && float64(*c.LowPerMillion) <= 1e6*tc.change && 1e6*tc.change <= float64(*c.HighPerMillion) {
					within++
				}
			}
			if share := float64(found) / trials; share < tc.least || share > tc.most {
				t.Errorf("%.3f are %s, wanted %v to %v", share, tc.verdict, tc.least, tc.most)
			}
			if share := float64(within) / trials; tc.withinInterval && (share < 0.93 || share > 0.97) {
				t.Errorf("the interval has the true change in %.3f, wanted 0.95", share)
			}
		})
	}
}

func TestStoredReasons(t *testing.T) {
	value := func(changes ...func(*StoredQuestion)) StoredQuestion {
		q := StoredQuestion{
			Metric:    v1alpha1.Metric{Type: v1alpha1.MetricThroughput},
			Baseline:  Stored{Value: Value{Number: 5000}, Rounds: 3, Deviation: 0.01, History: History{Sessions: 8, Spread: 0.01, Rounds: 3}},
			Candidate: []Value{{Number: 3000}, {Number: 3010}, {Number: 2990}},
		}
		for _, change := range changes {
			change(&q)
		}
		return q
	}
	history := func(n int) func(*StoredQuestion) { return func(q *StoredQuestion) { q.Baseline.History.Sessions = n } }
	asked := func(q *StoredQuestion) { q.Baseline.Value.Reason = v1alpha1.ReasonNotInformative }
	for name, tc := range map[string]struct {
		q       StoredQuestion
		verdict v1alpha1.ComparisonVerdict
		reason  v1alpha1.ComparisonReason
		bounded bool
	}{
		"worse":               {value(), v1alpha1.Regressed, "", true},
		"no history":          {value(history(0)), v1alpha1.NotCompared, v1alpha1.ReasonNotConcurrent, false},
		"four other sessions": {value(history(4)), v1alpha1.NotCompared, v1alpha1.ReasonNotConcurrent, false},
		"other clients": {value(func(q *StoredQuestion) {
			q.Doubt, q.Note = v1alpha1.ReasonEnvironmentDiffers, "The client pods differ."
		}), v1alpha1.NotCompared, v1alpha1.ReasonEnvironmentDiffers, true},
		"sessions that differ":         {value(func(q *StoredQuestion) { q.Baseline.History.Spread = 0.3 }), v1alpha1.NotCompared, v1alpha1.ReasonNoisy, true},
		"only the baseline had a rate": {value(asked), v1alpha1.Regressed, "", true},
		"both reached the rate": {value(asked, func(q *StoredQuestion) {
			for i := range q.Candidate {
				q.Candidate[i].Reason = v1alpha1.ReasonNotInformative
			}
		}), v1alpha1.NotCompared, v1alpha1.ReasonNotInformative, true},
		"no baseline":              {value(func(q *StoredQuestion) { q.Baseline = Stored{Value: Value{Reason: v1alpha1.ReasonNotMeasured}} }), v1alpha1.NotCompared, v1alpha1.ReasonNotMeasured, false},
		"no candidate":             {value(func(q *StoredQuestion) { q.Candidate = nil }), v1alpha1.NotCompared, v1alpha1.ReasonTooFewRounds, false},
		"a baseline at least this": {value(func(q *StoredQuestion) { q.Baseline.Value.AtLeast = true }), v1alpha1.NotCompared, v1alpha1.ReasonUnanswered, true},
	} {
		c := JudgeStored([]StoredQuestion{tc.q})[0]
		if c.Verdict != tc.verdict || c.Reason != tc.reason || (c.LowPerMillion != nil) != tc.bounded || c.SignedRankPerMillion != nil || c.BaselineDrifts {
			t.Errorf("%s: found %+v, wanted %s %s", name, c, tc.verdict, tc.reason)
		}
		if (c.Verdict == v1alpha1.NotCompared) != (c.Message != "") {
			t.Errorf("%s: found the message %q", name, c.Message)
		}
	}
}
