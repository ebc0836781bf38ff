package suite

import (
	"fmt"
	"slices"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/compare"
)

// Session is one of two suites that are compared.
type Session struct {
	Suite string `json:"suite"`
	// CompletionTime is when it finished.
	CompletionTime *time.Time `json:"completionTime,omitempty"`
	Rounds         int32      `json:"rounds"`
}

// Sessions is what a comparison of two suites found.
type Sessions struct {
	Baseline  Session `json:"baseline"`
	Candidate Session `json:"candidate"`
	// Schedule is the one whose history says how much equal sessions differ; empty if there is none.
	Schedule string `json:"schedule,omitempty"`
	// Verdict is that of all comparisons together: Regressed if one is, else Unknown if one is.
	Verdict     v1alpha1.ComparisonVerdict `json:"verdict"`
	Comparisons []v1alpha1.SuiteComparison `json:"comparisons"`
	// Left are the cells that only one of the suites has.
	Left []string `json:"left,omitempty"`
}

// Against compares the cells of a suite with those of the same names in a suite of another session. Without metrics,
// they are the throughput of closed loops and the highest percentile that all runs have. It returns an error if there is
// nothing to compare, or if a cell did not do the same in both.
func Against(baseline, candidate *v1alpha1.EtcdBenchmarkSuite, metrics []v1alpha1.Metric, h Histories) (*Sessions, error) {
	for _, s := range []*v1alpha1.EtcdBenchmarkSuite{baseline, candidate} {
		if err := whyNoBaseline(s); err != nil {
			return nil, fmt.Errorf("the suite %s cannot be compared: %w", s.Name, err)
		}
	}
	out := &Sessions{Baseline: sessionOf(baseline), Candidate: sessionOf(candidate), Schedule: h.Schedule}
	var questions []compare.StoredQuestion
	others, cells := Cells(baseline), Cells(candidate)
	for _, c := range cells {
		i := slices.IndexFunc(others, func(o Cell) bool { return o.Name == c.Name })
		if i < 0 {
			out.Left = append(out.Left, c.Name)
			continue
		}
		if err := sameWork(baseline, candidate, others[i], c); err != nil {
			return nil, fmt.Errorf("comparing with the suite %s: %w", baseline.Name, err)
		}
		in := EnvironmentOf(valid(baseline, c.Name))
		for _, m := range cellMetrics(baseline, candidate, c, metrics) {
			v := storedNumber(baseline, others[i], m)
			if h.Of != nil {
				v.History.Rounds = int(h.Rounds)
				v.History.Sessions, v.History.Spread = h.Of(c.Name, m, in)
			}
			out.Comparisons = append(out.Comparisons, v1alpha1.SuiteComparison{Cell: c.Name, BaselineCell: c.Name})
			questions = append(questions, storedQuestion(candidate, c, m, v, in, invalidRuns(baseline, c.Name)))
		}
	}
	for _, o := range others {
		if !slices.ContainsFunc(cells, func(c Cell) bool { return o.Name == c.Name }) {
			out.Left = append(out.Left, o.Name)
		}
	}
	if len(questions) == 0 {
		return nil, fmt.Errorf("found nothing that both suites have. The cells of %s are %s; those of %s are %s", baseline.Name, namesOf(others), candidate.Name, namesOf(cells))
	}
	var all []v1alpha1.Comparison
	for i, result := range compare.JudgeStored(questions) {
		out.Comparisons[i].Comparison, all = result, append(all, result)
	}
	out.Verdict = compare.VerdictOf(all)
	return out, nil
}

func sessionOf(s *v1alpha1.EtcdBenchmarkSuite) Session {
	out := Session{Suite: s.Name, Rounds: max(s.Spec.Rounds, 1)}
	if t := s.Status.CompletionTime; t != nil {
		out.CompletionTime = &t.Time
	}
	return out
}

// cellMetrics are the wanted metrics that the cell can have, or the usual ones of the cell.
func cellMetrics(baseline, candidate *v1alpha1.EtcdBenchmarkSuite, c Cell, wanted []v1alpha1.Metric) (out []v1alpha1.Metric) {
	for _, m := range wanted {
		if Measures(candidate, c, m) {
			out = append(out, m)
		}
	}
	if len(wanted) > 0 {
		return out
	}
	if c.Load.Load.Rate == nil {
		out = append(out, v1alpha1.Metric{Type: v1alpha1.MetricThroughput})
	}
	all := slices.Concat(valid(baseline, c.Name), valid(candidate, c.Name))
	if len(all) == 0 {
		return out
	}
	for _, o := range all[0].Operations {
		m := v1alpha1.Metric{Type: v1alpha1.MetricLatency, Operation: o.Operation}
		for _, m.Statistic = range compare.UsualStatistics([]v1alpha1.Environment{EnvironmentOf(all)}) {
			lacks := func(r v1alpha1.SuiteResult) bool { _, known := NumberOf(r, m); return !known }
			if !slices.ContainsFunc(all, lacks) {
				break
			}
		}
		out = append(out, m)
	}
	return out
}
