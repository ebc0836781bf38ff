package suite

import (
	"fmt"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/compare"
)

// judges reports whether a suite has comparisons with a verdict. Published figures are only shown.
func judges(s *v1alpha1.EtcdBenchmarkSuite) bool {
	return s.Spec.Compare != nil && s.Spec.Compare.Baseline.Values == nil
}

// comparisons compares each cell with that of the baseline. With confirmRounds, the rounds of all cells only screen: what
// looks worse is decided by fresh rounds alone.
func comparisons(s *v1alpha1.EtcdBenchmarkSuite, cells []Cell) (out []v1alpha1.SuiteComparison) {
	c := s.Spec.Compare
	switch {
	case !judges(s):
		return nil
	case s.Status.Baseline != nil:
		return storedComparisons(s, cells)
	}
	var metrics []int
	var questions []compare.Question
	for _, candidate := range cells {
		i := slices.IndexFunc(cells, func(other Cell) bool { return isBaselineOf(c, other, candidate) })
		if i < 0 {
			continue
		}
		for metric, m := range c.Metrics {
			if !Measures(s, candidate, m) {
				continue
			}
			out = append(out, v1alpha1.SuiteComparison{Cell: candidate.Name, BaselineCell: cells[i].Name})
			metrics = append(metrics, metric)
			questions = append(questions, question(s, cells[i].Name, candidate.Name, metric, 1, s.Spec.Rounds))
		}
	}
	for i, result := range compare.Judge(questions) {
		out[i].Comparison = result
	}
	if _, more := next(s, everyCell(s)); c.ConfirmRounds > 0 && !more {
		confirm(s, out, metrics)
	}
	return out
}

// confirm answers what looks worse by the fresh rounds alone. These few questions are a family of their own.
func confirm(s *v1alpha1.EtcdBenchmarkSuite, all []v1alpha1.SuiteComparison, metrics []int) {
	var flagged []int
	var questions []compare.Question
	first := s.Spec.Rounds + 1
	for i, c := range all {
		if looksWorse(c.Comparison) {
			flagged = append(flagged, i)
			questions = append(questions, question(s, c.BaselineCell, c.Cell, metrics[i], first, first+s.Spec.Compare.ConfirmRounds-1))
		}
	}
	for i, result := range compare.Judge(questions) {
		all[flagged[i]].Comparison, all[flagged[i]].Confirming = result, true
	}
}

// looksWorse reports whether the mean is worse than the tolerance, or the whole interval is on the worse side.
func looksWorse(c v1alpha1.Comparison) bool {
	if c.ChangePerMillion == nil || c.LowPerMillion == nil || c.HighPerMillion == nil {
		return false
	}
	worse, nearest := *c.ChangePerMillion, *c.LowPerMillion
	if c.Metric.Type == v1alpha1.MetricThroughput {
		worse, nearest = -worse, -*c.HighPerMillion
	}
	return worse > 10_000*int64(c.Metric.WithTolerance().TolerancePercent) || nearest > 0
}

// confirming returns the fresh rounds of the cells that look worse, and of their baselines.
func confirming(s *v1alpha1.EtcdBenchmarkSuite) (plan []Planned) {
	var names []string
	for _, c := range s.Status.Comparisons {
		if c.Confirming {
			names = append(names, c.Cell, c.BaselineCell)
		}
	}
	if len(names) == 0 {
		return nil
	}
	cells := slices.DeleteFunc(Cells(s), func(c Cell) bool { return !slices.Contains(names, c.Name) })
	for i := range s.Spec.Compare.ConfirmRounds {
		round := s.Spec.Rounds + 1 + i
		for _, c := range order(s, round, cells) {
			plan = append(plan, Planned{Cell: c, Round: round, Name: fmt.Sprintf("%s-%d-%d", s.Name, c.number, round)})
		}
	}
	return plan
}

// question has the values of both cells in the rounds from first to last.
func question(s *v1alpha1.EtcdBenchmarkSuite, baseline, candidate string, metric int, first, last int32) compare.Question {
	q := compare.Question{Metric: s.Spec.Compare.Metrics[metric]}
	lost := 0
	var before, after, excludedBefore, excludedAfter []v1alpha1.Environment
	for round := first; round <= last; round++ {
		one, ran := Counted(s.Status.Results, baseline, round)
		other, also := Counted(s.Status.Results, candidate, round)
		if !ran || !also {
			continue
		}
		lost += failures(s.Status.Results, candidate, round) - failures(s.Status.Results, baseline, round)
		if one.Invalid != "" || other.Invalid != "" {
			if rank(one) > 0 && rank(other) > 0 {
				excludedBefore, excludedAfter = append(excludedBefore, one.Environment), append(excludedAfter, other.Environment)
			}
			continue
		}
		before, after = append(before, one.Environment), append(after, other.Environment)
		if metric < len(one.Values) && metric < len(other.Values) {
			q.Rounds = append(q.Rounds, compare.Round{Baseline: read(one.Values[metric], q.Metric), Candidate: read(other.Values[metric], q.Metric)})
		}
	}
	sides := compare.Sides{Axis: s.Spec.Compare.Axis, OneStorage: haveOneStorage(s, baseline, candidate)}
	if q.Doubt, q.Note = compare.Unlike(before, after, sides); len(before) == 0 {
		q.Doubt, q.Note = compare.UnlikeExcluded(excludedBefore, excludedAfter, sides)
	}
	q.Added = compare.AddedOf(before, after)
	if lost != 0 {
		q.Doubt = v1alpha1.ReasonExclusionsDiffer
	}
	return q
}

// haveOneStorage reports whether the members of two cells have equal storage and settings.
func haveOneStorage(s *v1alpha1.EtcdBenchmarkSuite, baseline, candidate string) bool {
	var members []*v1alpha1.EphemeralTarget
	for _, c := range Cells(s) {
		if c.Name == baseline || c.Name == candidate {
			members = append(members, c.Target.Target.Ephemeral)
		}
	}
	if len(members) != 2 || members[0] == nil || members[1] == nil {
		return false
	}
	return equality.Semantic.DeepEqual(members[0].Storage, members[1].Storage) && maps.Equal(members[0].Settings, members[1].Settings)
}
