package compare

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/text"
)

// Excluded is a run whose numbers are not compared.
type Excluded struct {
	Name string `json:"name"`
	Why  string `json:"why"`
}

// Side is what one side of a comparison consists of.
type Side struct {
	// Runs are their names, by start.
	Runs []string `json:"runs"`
	// Targets are the different stores with their versions and numbers of members.
	Targets []string `json:"targets"`
}

// Result is what a comparison found.
type Result struct {
	Baseline  Side `json:"baseline"`
	Candidate Side `json:"candidate"`
	// Rounds is how many pairs of runs there are, valid or not.
	Rounds int `json:"rounds"`
	// Verdict is that of all comparisons together: Regressed if one is, else Unknown if one is.
	Verdict v1alpha1.ComparisonVerdict `json:"verdict"`
	// Comparisons are in the order of the metrics.
	Comparisons []v1alpha1.Comparison `json:"comparisons"`
	Excluded    []Excluded            `json:"excluded,omitempty"`
}

func verdictOf(comparisons []v1alpha1.Comparison) v1alpha1.ComparisonVerdict {
	for _, v := range []v1alpha1.ComparisonVerdict{v1alpha1.Regressed, v1alpha1.NotCompared} {
		if slices.ContainsFunc(comparisons, func(c v1alpha1.Comparison) bool { return c.Verdict == v }) {
			return v
		}
	}
	return v1alpha1.NotRegressed
}

// round has one run of each side.
type round struct{ baseline, candidate *v1alpha1.EtcdBenchmark }

// Runs compares two sides with as many runs each. The earliest run of one side and the earliest of the other are the
// first round, and so on. It returns an error if they cannot be compared.
func Runs(baseline, candidate []*v1alpha1.EtcdBenchmark, metrics []v1alpha1.Metric) (Result, error) {
	if len(baseline) == 0 || len(baseline) != len(candidate) {
		return Result{}, fmt.Errorf("wanted as many runs of the candidate as of the baseline, found %d and %d: a round is one run of each", len(candidate), len(baseline))
	}
	baseline, candidate = byStart(baseline), byStart(candidate)
	for _, other := range slices.Concat(baseline[1:], candidate) {
		if err := sameLoad(baseline[0], other); err != nil {
			return Result{}, err
		}
	}
	var rounds []round
	for i := range baseline {
		rounds = append(rounds, round{baseline[i], candidate[i]})
	}
	r := Result{Rounds: len(rounds), Baseline: sideOf(baseline), Candidate: sideOf(candidate)}
	var valid []round
	lost := map[bool]int{}
	for _, pair := range rounds {
		isValid := true
		for _, run := range []*v1alpha1.EtcdBenchmark{pair.baseline, pair.candidate} {
			if why := whyInvalid(run); why != "" {
				isValid = false
				lost[run == pair.baseline]++
				r.Excluded = append(r.Excluded, Excluded{run.Name, why})
			}
		}
		if isValid {
			valid = append(valid, pair)
		}
	}
	doubt := reason("")
	switch {
	case lost[true] != lost[false]:
		doubt = v1alpha1.ReasonExclusionsDiffer
	case !alternate(rounds):
		doubt = v1alpha1.ReasonNotConcurrent
	}
	r.Comparisons = judge(valid, metrics, doubt)
	r.Verdict = verdictOf(r.Comparisons)
	return r, nil
}

func sideOf(runs []*v1alpha1.EtcdBenchmark) (s Side) {
	for _, run := range runs {
		s.Runs = append(s.Runs, run.Name)
		if t := run.Status.Target; t != nil {
			target := fmt.Sprintf("%s %s, %s", run.Spec.Target.Datastore, t.Version, text.Plural(len(t.Members), "member"))
			if !slices.Contains(s.Targets, target) {
				s.Targets = append(s.Targets, target)
			}
		}
	}
	return s
}

type reason = v1alpha1.ComparisonReason

// byStart returns the runs in the order of their start.
func byStart(runs []*v1alpha1.EtcdBenchmark) []*v1alpha1.EtcdBenchmark {
	return slices.SortedStableFunc(slices.Values(runs), func(a, b *v1alpha1.EtcdBenchmark) int {
		begun, _ := windowOf(a)
		other, _ := windowOf(b)
		return begun.Compare(other)
	})
}

// windowOf is when a run measured; zero if it did not.
func windowOf(run *v1alpha1.EtcdBenchmark) (start, end time.Time) {
	s := run.Status.Summary
	if s == nil || s.WindowStart == nil || s.WindowEnd == nil {
		return time.Time{}, time.Time{}
	}
	return s.WindowStart.Time, s.WindowEnd.Time
}

// alternate reports whether both runs of each round ended before a run of the next one began.
func alternate(rounds []round) bool {
	var last time.Time
	for _, pair := range rounds {
		begun, ended := windowOf(pair.baseline)
		otherBegun, otherEnded := windowOf(pair.candidate)
		if begun.IsZero() || otherBegun.IsZero() {
			continue
		}
		if begun.Before(last) || otherBegun.Before(last) {
			return false
		}
		if last = ended; otherEnded.After(last) {
			last = otherEnded
		}
	}
	return true
}

// comparing is one metric on the way to its verdict.
type comparing struct {
	metric v1alpha1.Metric
	side   side
	change change
	// reason is why it cannot be judged at all.
	reason reason
	// baselineAtLeast and candidateAtLeast: some value of that side is only a lower bound.
	baselineAtLeast, candidateAtLeast bool
	// baseline and candidate are geometric means.
	baseline, candidate float64
}

// judge compares all metrics of the valid rounds. doubt is a reason against all of them.
func judge(rounds []round, metrics []v1alpha1.Metric, doubt reason) []v1alpha1.Comparison {
	var all []comparing
	var tested []int
	var p []float64
	for _, m := range metrics {
		c := newComparing(rounds, m)
		if c.reason = cmp.Or(c.reason, doubt); c.reason == "" && c.change.rounds >= minRounds {
			tested = append(tested, len(all))
			p = append(p, c.change.chanceOfNoRegression(c.side, c.limit()))
		}
		all = append(all, c)
	}
	regressed := make([]bool, len(all))
	for i, significant := range holm(p, errorRate) {
		regressed[tested[i]] = significant
	}
	var out []v1alpha1.Comparison
	for i, c := range all {
		out = append(out, c.concluded(regressed[i], max(len(tested), 1)))
	}
	return out
}

func newComparing(rounds []round, m v1alpha1.Metric) comparing {
	c := comparing{metric: m, side: higherIsWorse}
	if m.Type == v1alpha1.MetricThroughput {
		c.side = lowerIsWorse
	}
	var pairs []Pair
	uninformative := 0
	for _, r := range rounds {
		a, b := valueOf(r.baseline, m), valueOf(r.candidate, m)
		for _, v := range []value{a, b} {
			switch v.reason {
			case "":
			case v1alpha1.ReasonNotInformative:
				uninformative++
			default:
				c.reason = v.reason
			}
		}
		c.baselineAtLeast, c.candidateAtLeast = c.baselineAtLeast || a.atLeast, c.candidateAtLeast || b.atLeast
		if a.number > 0 && b.number > 0 {
			pairs = append(pairs, Pair{a.number, b.number})
			c.baseline += math.Log(a.number)
			c.candidate += math.Log(b.number)
		}
	}
	// If one side did not reach the rate, the throughput says so.
	if uninformative == 2*len(rounds) {
		c.reason = cmp.Or(c.reason, v1alpha1.ReasonNotInformative)
	}
	c.change = changeOf(pairs)
	if n := float64(len(pairs)); n > 0 {
		c.baseline, c.candidate = math.Exp(c.baseline/n), math.Exp(c.candidate/n)
	}
	return c
}

func (c comparing) limit() float64 { return c.side.limit(c.metric.Tolerance()) }

// concluded returns the comparison with its verdict. tested is how many comparisons share the error rate.
func (c comparing) concluded(regressed bool, tested int) v1alpha1.Comparison {
	out := v1alpha1.Comparison{
		Metric: c.metric, Rounds: int32(c.change.rounds), Verdict: v1alpha1.NotCompared, Reason: c.reason,
		Baseline: int64(math.Round(c.baseline)), Candidate: int64(math.Round(c.candidate)),
	}
	if c.change.rounds > 0 {
		out.ChangePerMillion = perMillion(c.change.mean)
	}
	if c.change.rounds > 1 {
		low, high := c.change.interval()
		out.LowPerMillion, out.HighPerMillion = perMillion(low), perMillion(high)
		out.Improved = c.reason == "" && c.change.isImproved(c.side)
	}
	if c.change.rounds >= minRounds {
		out.SmallestRegressionPerMillion = perMillion(float64(c.side) * c.change.smallestRegression(c.limit(), tested))
	}
	switch {
	case c.reason != "":
	case c.change.rounds < minRounds:
		out.Reason, out.RoundsNeeded = v1alpha1.ReasonTooFewRounds, minRounds
	case regressed && !c.baselineAtLeast:
		out.Verdict = v1alpha1.Regressed
	case c.change.isWithin(c.side, c.limit()) && !c.candidateAtLeast:
		out.Verdict = v1alpha1.NotRegressed
	case regressed || c.change.isWithin(c.side, c.limit()):
		out.Reason = v1alpha1.ReasonUnanswered
	default:
		out.Reason = v1alpha1.ReasonNoisy
		if out.RoundsNeeded = int32(c.change.needed(c.side, c.limit(), tested)); out.RoundsNeeded > 0 {
			out.Reason = v1alpha1.ReasonTooFewRounds
		}
	}
	out.Message = text.Shorten(explain(out), maxMessage)
	return out
}

const maxMessage = 512

// perMillion converts a log ratio to a relative change. What is beyond a factor of a million is of no use.
func perMillion(logRatio float64) *int64 {
	const most = 1e12
	return new(int64(math.Round(max(-1e6, min(math.Expm1(logRatio)*1e6, most)))))
}
