package compare

import (
	"cmp"
	"math"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
)

// MinSessions is how many sessions, beside the two that are compared, must show how much equal sessions differ.
const MinSessions = 5

// Stored is a number of a baseline that was measured in another session.
type Stored struct {
	// Value is the geometric mean of the valid rounds.
	Value Value
	// Rounds is how many these are. Deviation is the standard deviation of their logarithms.
	Rounds    int
	Deviation float64
	History   History
}

// History says how much equal sessions differ.
type History struct {
	// Sessions is how many there are, beside those that are compared. Spread is the standard deviation of the logarithms
	// of their numbers, each of which is the geometric mean of this many Rounds.
	Sessions int
	Spread   float64
	Rounds   int
}

// variance is that of the logarithm of one session's number. A session with fewer rounds than those of the history
// varies more.
func (h History) variance(rounds int, deviation float64) float64 {
	fewer := max(0, 1/float64(max(rounds, 1))-1/float64(max(h.Rounds, 1)))
	return h.Spread*h.Spread + deviation*deviation*fewer
}

// StoredQuestion is whether one metric of a candidate is worse than the number of another session.
type StoredQuestion struct {
	Metric   v1alpha1.Metric
	Baseline Stored
	// Candidate has the values of valid runs.
	Candidate []Value
	// Doubt is why it cannot be judged at all; empty if it can. Note says what differs between the two sides.
	Doubt v1alpha1.ComparisonReason
	Note  string
	// Added is what the load generators may have added.
	Added Added
}

// JudgeStored answers questions that belong together, as Judge does. Rounds of different sessions are no pairs: all of
// one session share what was special about it, and more rounds do not improve that. So the error of a change is that of
// the difference of two sessions, of which the history gives the spread.
func JudgeStored(questions []StoredQuestion) []v1alpha1.Comparison {
	var all []comparing
	for _, q := range questions {
		all = append(all, newStored(q))
	}
	return judgeAll(all)
}

func newStored(q StoredQuestion) comparing {
	c := comparing{metric: q.Metric, side: sideOfMetric(q.Metric), stored: true, note: q.Note, added: q.Added, baseline: q.Baseline.Value.Number, baselineAtLeast: q.Baseline.Value.AtLeast}
	var pairs []pair
	uninformative, resolution := 0, 0.0
	for _, v := range append([]Value{q.Baseline.Value}, q.Candidate...) {
		if v.Reason == v1alpha1.ReasonNotInformative {
			uninformative++
		} else {
			c.reason = cmp.Or(c.reason, v.Reason)
		}
	}
	for _, v := range q.Candidate {
		c.candidateAtLeast = c.candidateAtLeast || v.AtLeast
		if v.Number > 0 {
			pairs, resolution = append(pairs, pair{whole(c.baseline), whole(v.Number)}), max(resolution, v.Error)
		}
	}
	if uninformative == 1+len(q.Candidate) {
		c.reason = cmp.Or(c.reason, v1alpha1.ReasonNotInformative)
	}
	c.reason = cmp.Or(c.reason, q.Doubt, c.hiddenByClients())
	if len(pairs) == 0 || !(c.baseline > 0) {
		return c
	}
	all := changeOf(pairs)
	c.candidate = c.baseline * math.Exp(all.mean)
	c.change = change{rounds: min(len(pairs), q.Baseline.Rounds), mean: all.mean, resolution: resolution + q.Baseline.Value.Error}
	h := q.Baseline.History
	if h.Sessions < MinSessions {
		c.reason = cmp.Or(c.reason, v1alpha1.ReasonNotConcurrent)
		return c
	}
	c.change.between = &between{sessions: h.Sessions, err: math.Sqrt(h.variance(len(pairs), all.deviation) + h.variance(q.Baseline.Rounds, q.Baseline.Deviation))}
	return c
}
