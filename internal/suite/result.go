package suite

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/compare"
	"github.com/etcdbench/etcd-benchmark-operator/internal/text"
	"github.com/etcdbench/etcd-benchmark-operator/internal/verdict"
)

const (
	// milli converts requests per second to the unit of status.
	milli = 1000
	// maxInvalid is the bound of SuiteResult.Invalid.
	maxInvalid = 128
)

// Result returns what a suite keeps of a finished run.
func Result(s *v1alpha1.EtcdBenchmarkSuite, p Planned, run *v1alpha1.EtcdBenchmark) v1alpha1.SuiteResult {
	out := v1alpha1.SuiteResult{Name: p.Name, Cell: p.Cell.Name, Round: p.Round, Invalid: text.Shorten(compare.WhyInvalid(run), maxInvalid)}
	if finished := meta.FindStatusCondition(run.Status.Conditions, v1alpha1.ConditionFinished); finished != nil {
		out.Reason = finished.Reason
	}
	if passed := meta.FindStatusCondition(run.Status.Conditions, v1alpha1.ConditionPassed); passed != nil {
		out.Passed = passed.Status
	}
	if run.Status.Summary == nil {
		return out
	}
	for _, o := range run.Status.Summary.Operations {
		out.Operations = append(out.Operations, operation(o))
	}
	out.ServerMemoryBytes = serverMemory(run.Status.Target)
	if s.Spec.Compare != nil {
		for _, m := range s.Spec.Compare.Metrics {
			out.Values = append(out.Values, kept(compare.ValueOf(run, m), m))
		}
	}
	return out
}

func operation(o v1alpha1.OperationSummary) v1alpha1.SuiteOperation {
	out := v1alpha1.SuiteOperation{
		Operation: o.Operation, Succeeded: o.Succeeded, Failed: o.Failed + o.Censored,
		ThroughputMilliPerSecond: int64(math.Round(milli * o.ThroughputPerSecond.Float64())),
	}
	if l := o.Latency; l != nil {
		percentile := func(s spec.Statistic) int64 {
			if slices.Contains(l.Thin, s) {
				return 0
			}
			return l.Micros(s)
		}
		out.MeanMicroseconds = l.MeanMicroseconds
		out.P50Microseconds, out.P90Microseconds, out.P99Microseconds = percentile(spec.StatisticP50), percentile(spec.StatisticP90), percentile(spec.StatisticP99)
	}
	return out
}

// serverMemory is the mean of the members whose memory is known, 0 if none is.
func serverMemory(target *v1alpha1.TargetStatus) int64 {
	if target == nil {
		return 0
	}
	sum, n := int64(0), int64(0)
	for _, m := range target.Members {
		if m.ResidentMemoryBytes != nil {
			sum, n = sum+*m.ResidentMemoryBytes, n+1
		}
	}
	return sum / max(n, 1)
}

// kept is a value in the units of status.
func kept(v compare.Value, m v1alpha1.Metric) v1alpha1.SuiteValue {
	unit := 1.0
	if m.Type == v1alpha1.MetricThroughput {
		unit = milli
	}
	return v1alpha1.SuiteValue{Value: int64(math.Round(unit * v.Number)), AtLeast: v.AtLeast, Reason: v.Reason}
}

func read(v v1alpha1.SuiteValue, m v1alpha1.Metric) compare.Value {
	unit := 1.0
	if m.Type == v1alpha1.MetricThroughput {
		unit = milli
	}
	return compare.Value{Number: float64(v.Value) / unit, AtLeast: v.AtLeast, Reason: v.Reason}
}

// Counted returns the result of a cell in a round that counts: the repetition of an invalid run if that is valid, else the
// run itself.
func Counted(results []v1alpha1.SuiteResult, cell string, round int32) (found v1alpha1.SuiteResult, ok bool) {
	for _, r := range results {
		if r.Cell == cell && r.Round == round && (!ok || r.Invalid == "") {
			found, ok = r, true
		}
	}
	return found, ok
}

// Update computes everything in status that follows from the results.
func Update(s *v1alpha1.EtcdBenchmarkSuite) {
	cells := Cells(s)
	s.Status.Runs = v1alpha1.SuiteRuns{Cells: int32(len(cells)), Planned: int32(len(cells)) * max(s.Spec.Rounds, 1), Finished: int32(len(s.Status.Results))}
	for _, r := range s.Status.Results {
		if r.Invalid != "" {
			s.Status.Runs.Invalid++
		}
		if r.Passed == metav1.ConditionFalse {
			s.Status.Runs.Missed++
		}
	}
	s.Status.Comparisons = comparisons(s, cells)
}

// comparisons compares each cell with that of the baseline.
func comparisons(s *v1alpha1.EtcdBenchmarkSuite, cells []Cell) (out []v1alpha1.SuiteComparison) {
	c := s.Spec.Compare
	if c == nil {
		return nil
	}
	var questions []compare.Question
	for _, candidate := range cells {
		i := slices.IndexFunc(cells, func(other Cell) bool { return isBaselineOf(c, other, candidate) })
		if i < 0 {
			continue
		}
		for metric := range c.Metrics {
			out = append(out, v1alpha1.SuiteComparison{Cell: candidate.Name, BaselineCell: cells[i].Name})
			questions = append(questions, question(s, cells[i].Name, candidate.Name, metric))
		}
	}
	for i, result := range compare.Judge(questions) {
		out[i].Comparison = result
	}
	return out
}

// Entry is the name of a cell's entry on an axis.
func Entry(axis v1alpha1.Axis, c Cell) v1alpha1.EntryName {
	switch axis {
	case v1alpha1.AxisTargets:
		return c.Target.Name
	case v1alpha1.AxisWorkloads:
		return c.Workload.Name
	}
	return c.Load.Name
}

// isBaselineOf reports whether two cells differ in the compared axis only, and the first is of the baseline.
func isBaselineOf(c *v1alpha1.SuiteCompare, baseline, candidate Cell) bool {
	if Entry(c.Axis, baseline) != c.Baseline || Entry(c.Axis, candidate) == c.Baseline {
		return false
	}
	for _, axis := range []v1alpha1.Axis{v1alpha1.AxisTargets, v1alpha1.AxisWorkloads, v1alpha1.AxisLoads} {
		if axis != c.Axis && Entry(axis, baseline) != Entry(axis, candidate) {
			return false
		}
	}
	return true
}

func question(s *v1alpha1.EtcdBenchmarkSuite, baseline, candidate string, metric int) compare.Question {
	q := compare.Question{Metric: s.Spec.Compare.Metrics[metric]}
	lost := map[string]int{}
	for round := int32(1); round <= s.Spec.Rounds; round++ {
		one, ran := Counted(s.Status.Results, baseline, round)
		other, also := Counted(s.Status.Results, candidate, round)
		if !ran || !also {
			continue
		}
		if one.Invalid != "" {
			lost[baseline]++
		}
		if other.Invalid != "" {
			lost[candidate]++
		}
		if one.Invalid == "" && other.Invalid == "" {
			q.Rounds = append(q.Rounds, compare.Round{Baseline: read(one.Values[metric], q.Metric), Candidate: read(other.Values[metric], q.Metric)})
		}
	}
	if lost[baseline] != lost[candidate] {
		q.Doubt = v1alpha1.ReasonExclusionsDiffer
	}
	return q
}

// Failed reports whether a run could not do its load.
func Failed(r v1alpha1.SuiteResult) bool { return verdict.CouldNotRun(r.Reason) }

// Judge returns the condition Passed, without times; nil if nothing is judged.
func Judge(s *v1alpha1.EtcdBenchmarkSuite) *metav1.Condition {
	hasObjectives := slices.ContainsFunc(s.Spec.Workloads, func(w v1alpha1.SuiteWorkload) bool { return len(w.Objectives) > 0 })
	if !hasObjectives && s.Spec.Compare == nil {
		return nil
	}
	missed, open := 0, 0
	for _, c := range Cells(s) {
		for round := int32(1); round <= max(s.Spec.Rounds, 1); round++ {
			r, ran := Counted(s.Status.Results, c.Name, round)
			switch {
			case len(c.Workload.Objectives) == 0:
			case ran && r.Passed == metav1.ConditionFalse:
				missed++
			case !ran || r.Passed != metav1.ConditionTrue:
				open++
			}
		}
	}
	regressed, undecided := 0, 0
	for _, c := range s.Status.Comparisons {
		switch c.Verdict {
		case v1alpha1.Regressed:
			regressed++
		case v1alpha1.NotCompared:
			undecided++
		}
	}
	c := &metav1.Condition{Type: v1alpha1.ConditionPassed, Status: metav1.ConditionTrue, Reason: v1alpha1.ReasonObjectivesMet, Message: "No run missed an objective, and no metric regressed."}
	switch {
	case missed > 0:
		c.Status, c.Reason = metav1.ConditionFalse, v1alpha1.ReasonObjectivesMissed
		c.Message = fmt.Sprintf("%s missed an objective, and %s regressed.", text.Plural(missed, "run"), text.Plural(regressed, "metric"))
	case regressed > 0:
		c.Status, c.Reason = metav1.ConditionFalse, v1alpha1.ReasonRegressed
		c.Message = fmt.Sprintf("%s of %d regressed.", text.Plural(regressed, "metric"), len(s.Status.Comparisons))
	case open+undecided > 0:
		c.Status, c.Reason = metav1.ConditionUnknown, v1alpha1.ReasonNotJudged
		c.Message = fmt.Sprintf("Not judged: the objectives of %s, and %s.", text.Plural(open, "run"), text.Plural(undecided, "comparison"))
	}
	return c
}

// Finish returns the reason and the message with which a suite ends, given that no run is left or wanted. stopped: a user
// stopped it.
func Finish(s *v1alpha1.EtcdBenchmarkSuite, stopped bool) (reason, message string) {
	failed := 0
	for _, r := range s.Status.Results {
		if Failed(r) {
			failed++
		}
	}
	left := ""
	if n := s.Status.Runs.Planned - int32(len(s.Status.Results)); n > 0 {
		left = fmt.Sprintf(" %s did not start.", text.Plural(n, "run"))
	}
	switch {
	case stopped:
		return v1alpha1.ReasonStopped, "The suite was stopped." + left
	case failed > 0 && s.Spec.OnRunFailed == v1alpha1.RunFailedStop:
		return v1alpha1.ReasonRunFailed, "A run could not do its load, and spec.onRunFailed is Stop." + left
	case failed > 0:
		return v1alpha1.ReasonCompleted, fmt.Sprintf("All runs have ended. %s could not do their load.", text.Plural(failed, "run"))
	}
	return v1alpha1.ReasonCompleted, cmp.Or(left, "All runs have ended.")
}
