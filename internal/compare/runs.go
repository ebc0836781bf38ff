package compare

import (
	"fmt"
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

// VerdictOf is that of all comparisons together: Regressed if one is, else Unknown if one is.
func VerdictOf(comparisons []v1alpha1.Comparison) v1alpha1.ComparisonVerdict {
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
			if why := WhyInvalid(run); why != "" {
				isValid = false
				lost[run == pair.baseline]++
				r.Excluded = append(r.Excluded, Excluded{run.Name, why})
			}
		}
		if isValid {
			valid = append(valid, pair)
		}
	}
	doubt := v1alpha1.ComparisonReason("")
	switch {
	case lost[true] != lost[false]:
		doubt = v1alpha1.ReasonExclusionsDiffer
	case !alternate(rounds):
		doubt = v1alpha1.ReasonNotConcurrent
	}
	r.Comparisons = Judge(questions(valid, metrics, doubt))
	r.Verdict = VerdictOf(r.Comparisons)
	return r, nil
}

func questions(rounds []round, metrics []v1alpha1.Metric, doubt v1alpha1.ComparisonReason) (out []Question) {
	for _, m := range metrics {
		q := Question{Metric: m, Doubt: doubt}
		for _, r := range rounds {
			q.Rounds = append(q.Rounds, Round{ValueOf(r.baseline, m), ValueOf(r.candidate, m)})
		}
		out = append(out, q)
	}
	return out
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
