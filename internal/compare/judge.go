package compare

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/text"
)

// comparing is one metric on the way to its verdict.
type comparing struct {
	metric v1alpha1.Metric
	side   side
	change change
	// stored: the baseline was measured in another session.
	stored bool
	// reason is why it cannot be judged at all.
	reason v1alpha1.ComparisonReason
	// note says what differs between the two sides.
	note string
	// added is what the load generators may have added.
	added Added
	// baselineAtLeast and candidateAtLeast: some value of that side is only a lower bound.
	baselineAtLeast, candidateAtLeast bool
	// baseline and candidate are geometric means.
	baseline, candidate float64
}

// Question is whether one metric of a candidate is worse than that of a baseline.
type Question struct {
	Metric v1alpha1.Metric
	// Rounds have the values of valid runs of both sides.
	Rounds []Round
	// Doubt is why it cannot be judged at all; empty if it can.
	Doubt v1alpha1.ComparisonReason
	// Note says what differs between the two sides. It stands before the explanation of the verdict.
	Note string
	// Added is what the load generators may have added.
	Added Added
}

// Round has one value of each side.
type Round struct{ Baseline, Candidate Value }

// Judge answers questions that belong together: the probability that any unchanged metric is called Regressed is
// errorRate for all of them.
func Judge(questions []Question) []v1alpha1.Comparison {
	var all []comparing
	for _, q := range questions {
		all = append(all, newComparing(q))
	}
	return judgeAll(all)
}

func judgeAll(all []comparing) (out []v1alpha1.Comparison) {
	var tested []int
	var p []float64
	for i, c := range all {
		if c.reason == "" && c.change.rounds >= minRounds {
			tested = append(tested, i)
			p = append(p, c.change.chanceOfNoRegression(c.side, c.beyond()))
		}
	}
	regressed := make([]bool, len(all))
	for i, significant := range holm(p, errorRate) {
		regressed[tested[i]] = significant
	}
	for i, c := range all {
		out = append(out, c.judged(regressed[i], max(len(tested), 1)))
	}
	return out
}

func newComparing(q Question) comparing {
	c := comparing{metric: q.Metric, side: sideOfMetric(q.Metric), note: q.Note, added: q.Added}
	var pairs []pair
	uninformative, resolution := 0, 0.0
	for _, r := range q.Rounds {
		for _, v := range []Value{r.Baseline, r.Candidate} {
			switch v.Reason {
			case "":
			case v1alpha1.ReasonNotInformative:
				uninformative++
			default:
				c.reason = v.Reason
			}
		}
		c.baselineAtLeast, c.candidateAtLeast = c.baselineAtLeast || r.Baseline.AtLeast, c.candidateAtLeast || r.Candidate.AtLeast
		if r.Baseline.Number > 0 && r.Candidate.Number > 0 {
			pairs = append(pairs, pair{whole(r.Baseline.Number), whole(r.Candidate.Number)})
			resolution = max(resolution, r.Baseline.Error+r.Candidate.Error)
			c.baseline += math.Log(r.Baseline.Number)
			c.candidate += math.Log(r.Candidate.Number)
		}
	}
	// If one side did not reach the rate, the throughput says so.
	if len(q.Rounds) > 0 && uninformative == 2*len(q.Rounds) {
		c.reason = cmp.Or(c.reason, v1alpha1.ReasonNotInformative)
	}
	c.reason = cmp.Or(c.reason, q.Doubt, c.hiddenByClients())
	c.change = changeOf(pairs)
	c.change.resolution = resolution
	if n := float64(len(pairs)); n > 0 {
		c.baseline, c.candidate = math.Exp(c.baseline/n), math.Exp(c.candidate/n)
	}
	return c
}

// whole is a value in millionths of its unit. No value has more digits, so the quotient of two of them is rounded only
// once.
func whole(v float64) float64 { return math.Round(1e6 * v) }

func sideOfMetric(m v1alpha1.Metric) side {
	if m.Type == v1alpha1.MetricThroughput {
		return lowerIsWorse
	}
	return higherIsWorse
}

// hasInterval reports whether the error of the change is known. The rounds of two sessions say nothing about it.
func (c comparing) hasInterval() bool {
	return c.change.between != nil || !c.stored && c.change.rounds > 1
}

func (c comparing) limit() float64 { return c.side.limit(c.metric.Tolerance()) }

// judged returns the comparison with its verdict. tested is how many comparisons share the error rate.
func (c comparing) judged(regressed bool, tested int) v1alpha1.Comparison {
	out := v1alpha1.Comparison{
		Metric: c.metric.WithTolerance(), Rounds: int32(c.change.rounds), Verdict: v1alpha1.NotCompared, Reason: c.reason,
		Baseline: c.kept(c.baseline), Candidate: c.kept(c.candidate),
		BaselineAddedPerMillion: c.added.baseline, CandidateAddedPerMillion: c.added.candidate,
	}
	if c.change.rounds > 0 {
		out.ChangePerMillion = perMillion(c.change.mean)
	}
	if c.hasInterval() {
		low, high := c.change.interval()
		out.LowPerMillion, out.HighPerMillion = perMillion(low), perMillion(high)
	}
	if c.hasInterval() && c.change.rounds >= minRounds {
		out.SmallestRegressionPerMillion = perMillion(float64(c.side) * c.change.smallestRegression(c.beyond(), tested))
	}
	switch {
	case c.reason != "":
	case c.change.rounds < minRounds:
		out.Reason, out.RoundsNeeded = v1alpha1.ReasonTooFewRounds, minRounds
	case regressed && !c.baselineAtLeast:
		out.Verdict = v1alpha1.Regressed
	case c.isUnlike():
		out.Reason = v1alpha1.ReasonComparedClientBound
	case c.isWithin() && !c.candidateAtLeast:
		out.Verdict, out.Improved = v1alpha1.NotRegressed, c.isImproved()
	case regressed || c.isWithin():
		out.Reason = v1alpha1.ReasonUnanswered
	default:
		out.Reason, out.RoundsNeeded = c.undecided(tested)
	}
	if len(c.change.ratios) >= minSecondOpinion {
		out.SignedRankPerMillion = new(int64(math.Round(1e6 * signedRank(c.change.ratios))))
	}
	out.BaselineDrifts = len(c.change.values) >= minTrend && trendChance(c.change.values) <= trendLevel
	explained := explain
	if c.stored {
		explained = explainStored
	}
	out.Message = text.Shorten(strings.TrimSpace(c.note+" "+explained(out)), maxMessage)
	return out
}

// undecided is why the interval decides nothing, and how many rounds would decide; 0 if that is not known.
func (c comparing) undecided(tested int) (reason v1alpha1.ComparisonReason, rounds int32) {
	limit, known := c.harmless()
	switch better := float64(c.side)*c.change.mean <= c.limit(); {
	case better && (!known || float64(c.side)*c.change.mean > limit):
		return v1alpha1.ReasonComparedClientBound, 0
	case c.stored:
		return v1alpha1.ReasonNoisy, 0
	case better:
		rounds = int32(c.change.needed(c.side, limit, tested))
	default:
		rounds = int32(c.change.needed(c.side, c.limit(), tested))
	}
	if rounds > 0 {
		return v1alpha1.ReasonTooFewRounds, rounds
	}
	return v1alpha1.ReasonNoisy, 0
}

// kept is a value in the unit of the API.
func (c comparing) kept(v float64) int64 {
	if c.metric.Type == v1alpha1.MetricThroughput {
		v *= milli
	}
	return int64(math.Round(v))
}

const (
	maxMessage = 512
	// milli converts requests per second to the unit of the API.
	milli = 1000
)

// perMillion converts a log ratio to a relative change. What is beyond a factor of a million is of no use.
func perMillion(logRatio float64) *int64 {
	const most = 1e12
	return new(int64(math.Round(max(-1e6, min(math.Expm1(logRatio)*1e6, most)))))
}

// holm reports which of several tests are significant, so that the probability of any wrong one is at most level (Holm's
// procedure). p are the p-values.
func holm(p []float64, level float64) []bool {
	order := make([]int, len(p))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch {
		case p[a] < p[b]:
			return -1
		case p[a] > p[b]:
			return 1
		}
		return 0
	})
	significant := make([]bool, len(p))
	for rank, i := range order {
		if !(p[i] <= level/float64(len(p)-rank)) {
			break
		}
		significant[i] = true
	}
	return significant
}
