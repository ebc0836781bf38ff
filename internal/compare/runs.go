package compare

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
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
	// Clients are the different processors of the client pods, with how much of them a pod may use.
	Clients []string `json:"clients,omitempty"`
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

// VerdictOf is that of all comparisons together: Regressed if one is, else Unknown if one is. A throughput that was asked
// for counts only if there is nothing else.
func VerdictOf(comparisons []v1alpha1.Comparison) v1alpha1.ComparisonVerdict {
	verdict := v1alpha1.NotCompared
	for _, c := range comparisons {
		switch {
		case c.Verdict == v1alpha1.Regressed:
			return v1alpha1.Regressed
		case c.Verdict == v1alpha1.NotRegressed:
			verdict = v1alpha1.NotRegressed
		}
	}
	open := func(c v1alpha1.Comparison) bool {
		return c.Verdict == v1alpha1.NotCompared && c.Reason != v1alpha1.ReasonNotInformative
	}
	if slices.ContainsFunc(comparisons, open) {
		return v1alpha1.NotCompared
	}
	return verdict
}

// round has one run of each side.
type round struct{ baseline, candidate *v1alpha1.EtcdBenchmark }

// Runs compares two sides with as many runs each. The earliest run of one side and the earliest of the other are the
// first round, and so on. It returns an error if they cannot be compared.
func Runs(baseline, candidate []*v1alpha1.EtcdBenchmark, metrics []v1alpha1.Metric) (Result, error) {
	if len(baseline) == 0 || len(baseline) != len(candidate) {
		return Result{}, fmt.Errorf("wanted as many runs of the candidate as of the baseline, found %d and %d: a round is one run of each", len(candidate), len(baseline))
	}
	if name := repeated(slices.Concat(baseline, candidate)); name != "" {
		return Result{}, fmt.Errorf("found the run %s twice: wanted each run once", name)
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
	lost := 0
	for _, pair := range rounds {
		why, other := WhyInvalid(pair.baseline), WhyInvalid(pair.candidate)
		if why != "" {
			lost--
			r.Excluded = append(r.Excluded, Excluded{pair.baseline.Name, why})
		}
		if other != "" {
			lost++
			r.Excluded = append(r.Excluded, Excluded{pair.candidate.Name, other})
		}
		if why == "" && other == "" {
			valid = append(valid, pair)
		}
	}
	var before, after []v1alpha1.Environment
	for _, pair := range valid {
		before, after = append(before, EnvironmentOf(pair.baseline)), append(after, EnvironmentOf(pair.candidate))
	}
	doubt, note := Unlike(before, after, Sides{})
	switch {
	case lost != 0:
		doubt = v1alpha1.ReasonExclusionsDiffer
	case doubt == "" && !alternate(rounds):
		doubt = v1alpha1.ReasonNotConcurrent
	}
	r.Comparisons = Judge(questions(valid, metrics, Question{Doubt: doubt, Note: note, Added: AddedOf(before, after)}))
	r.Verdict = VerdictOf(r.Comparisons)
	return r, nil
}

// questions asks the same about each metric.
func questions(rounds []round, metrics []v1alpha1.Metric, q Question) (out []Question) {
	for _, m := range metrics {
		q.Metric, q.Rounds = m, nil
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
		if c := clientText(run); c != "" && !slices.Contains(s.Clients, c) {
			s.Clients = append(s.Clients, c)
		}
		if t := run.Status.Target; t != nil {
			target := fmt.Sprintf("%s %s, %s", run.Spec.Target.Datastore, t.Version, text.Plural(len(t.Members), "member"))
			if i := run.Spec.Target.MemberIndex; i != nil {
				target += fmt.Sprintf(", load on member %d", *i)
			} else if m := run.Spec.Target.Members; m != "" && m != spec.MembersAll {
				target += ", load on " + strings.ToLower(string(m))
			}
			if EnvironmentOf(run).DataInMemory {
				target += ", data in memory"
			}
			if !slices.Contains(s.Targets, target) {
				s.Targets = append(s.Targets, target)
			}
		}
	}
	return s
}

// repeated returns the name of a run that is there twice; empty if there is none.
func repeated(runs []*v1alpha1.EtcdBenchmark) string {
	seen := map[string]bool{}
	for _, run := range runs {
		start, _ := windowOf(run)
		key := fmt.Sprint(run.UID, run.Namespace, run.Name, start)
		if seen[key] {
			return run.Name
		}
		seen[key] = true
	}
	return ""
}

// byStart returns the runs in the order of their start.
func byStart(runs []*v1alpha1.EtcdBenchmark) []*v1alpha1.EtcdBenchmark {
	return slices.SortedStableFunc(slices.Values(runs), func(a, b *v1alpha1.EtcdBenchmark) int { return startOf(a).Compare(startOf(b)) })
}

// startOf is when a run measured; if it did not, when it was first handled.
func startOf(run *v1alpha1.EtcdBenchmark) time.Time {
	start, _ := windowOf(run)
	if start.IsZero() && run.Status.StartTime != nil {
		start = run.Status.StartTime.Time
	}
	return start
}

// windowOf is when a run measured; zero if it did not.
func windowOf(run *v1alpha1.EtcdBenchmark) (start, end time.Time) {
	s := run.Status.Summary
	if s == nil || s.WindowStart == nil || s.WindowEnd == nil {
		return time.Time{}, time.Time{}
	}
	return s.WindowStart.Time, s.WindowEnd.Time
}

// alternate reports whether no two runs overlapped, and both of each round ended before a run of the next one began.
func alternate(rounds []round) bool {
	var last time.Time
	for _, pair := range rounds {
		begun, ended := windowOf(pair.baseline)
		otherBegun, otherEnded := windowOf(pair.candidate)
		if begun.IsZero() || otherBegun.IsZero() {
			continue
		}
		overlap := begun.Before(otherEnded) && otherBegun.Before(ended)
		if overlap || begun.Before(last) || otherBegun.Before(last) {
			return false
		}
		if last = ended; otherEnded.After(last) {
			last = otherEnded
		}
	}
	return true
}
