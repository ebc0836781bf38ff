package suite

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

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
	// maxText is the bound of SuiteResult.Invalid and Missed. A suite of many runs keeps less of each, and fewer kinds of
	// requests, so that the results have room in one object.
	maxText      = 512
	leastText    = 64
	allText      = 32 << 10
	allOperation = 500
)

// room is how long a text, and how many kinds of requests, each result of a suite can have.
func room(s *v1alpha1.EtcdBenchmarkSuite) (length, operations int) {
	planned := plannedRuns(s)
	return min(max(allText/planned, leastText), maxText), max(allOperation/planned, 1)
}

// KeptOperations is how many kinds of requests each result of a suite can have.
func KeptOperations(s *v1alpha1.EtcdBenchmarkSuite) int {
	_, operations := room(s)
	return operations
}

// plannedRuns is how many runs a suite has at least, or how many probes it can have; at least 1.
func plannedRuns(s *v1alpha1.EtcdBenchmarkSuite) int {
	if f := s.Spec.Search; f != nil {
		return max(len(Cells(s))*int(f.MaxProbes), 1)
	}
	return max(len(Plan(s)), 1)
}

// Result returns what a suite keeps of a finished run.
func Result(s *v1alpha1.EtcdBenchmarkSuite, p Planned, run *v1alpha1.EtcdBenchmark) v1alpha1.SuiteResult {
	length, operations := room(s)
	out := v1alpha1.SuiteResult{Name: p.Name, Cell: p.Cell.Name, Round: p.Round, Invalid: text.Shorten(compare.WhyInvalid(run), length), Probe: probeResult(p, run, length)}
	if finished := meta.FindStatusCondition(run.Status.Conditions, v1alpha1.ConditionFinished); finished != nil {
		if out.Reason = finished.Reason; out.Probe != nil && out.Reason == v1alpha1.ReasonMissedEarly {
			// The probe has its answer.
			out.Invalid = ""
		}
	}
	if passed := meta.FindStatusCondition(run.Status.Conditions, v1alpha1.ConditionPassed); passed != nil {
		if out.Passed = passed.Status; passed.Status == metav1.ConditionFalse {
			out.Missed = text.Shorten(passed.Message, length)
		}
	}
	if cleaned := meta.FindStatusCondition(run.Status.Conditions, v1alpha1.ConditionCleaned); cleaned != nil {
		out.Cleaned = cleaned.Status
	}
	if run.Status.Summary == nil {
		return out
	}
	out.Environment, out.Warnings = compare.EnvironmentOf(run), keptWarnings(s, run)
	for _, o := range run.Status.Summary.Operations {
		out.Operations = append(out.Operations, operation(o))
	}
	out.Operations = most(out.Operations, operations)
	out.ServerMemoryBytes = serverMemory(run.Status.Target)
	if judges(s) {
		for _, m := range s.Spec.Compare.Metrics {
			out.Values = append(out.Values, kept(compare.ValueOf(run, m), m))
		}
	}
	return out
}

// most returns the n kinds of requests with the most requests, in their order.
func most(all []v1alpha1.SuiteOperation, n int) []v1alpha1.SuiteOperation {
	bySize := slices.SortedStableFunc(slices.Values(all), func(a, b v1alpha1.SuiteOperation) int {
		return cmp.Compare(b.Succeeded+b.Failed, a.Succeeded+a.Failed)
	})
	return slices.DeleteFunc(all, func(o v1alpha1.SuiteOperation) bool {
		return slices.IndexFunc(bySize, func(other v1alpha1.SuiteOperation) bool { return other.Operation == o.Operation }) >= n
	})
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
		out.MeanMicroseconds, out.AtLeast = l.MeanMicroseconds, len(l.AtLeast) > 0
		out.P50Microseconds, out.P90Microseconds, out.P99Microseconds = percentile(spec.StatisticP50), percentile(spec.StatisticP90), percentile(spec.StatisticP99)
		out.P999Microseconds, out.MaxMicroseconds = percentile(spec.StatisticP999), l.MaxMicroseconds
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
	out := v1alpha1.SuiteValue{Value: int64(math.Round(unitOf(m) * v.Number)), AtLeast: v.AtLeast, Reason: v.Reason}
	if v.Reason != v1alpha1.ReasonNotMeasured {
		out.ErrorPerMillion = int64(math.Ceil(v.Error * 1e6))
	}
	return out
}

func read(v v1alpha1.SuiteValue, m v1alpha1.Metric) compare.Value {
	return compare.Value{Number: float64(v.Value) / unitOf(m), AtLeast: v.AtLeast, Error: float64(v.ErrorPerMillion) / 1e6, Reason: v.Reason}
}

// unitOf is what a value is multiplied by in status.
func unitOf(m v1alpha1.Metric) float64 {
	if m.Type == v1alpha1.MetricThroughput {
		return milli
	}
	return 1
}

// NumberOf returns the number of a metric in a result, in the unit of status; known is false if it was not measured.
func NumberOf(r v1alpha1.SuiteResult, m v1alpha1.Metric) (number float64, known bool) {
	for _, o := range r.Operations {
		switch {
		case o.Operation.IsPart() || o.Operation.IsEvent() && m.Type == v1alpha1.MetricThroughput:
		case m.Type == v1alpha1.MetricThroughput:
			number += float64(o.ThroughputMilliPerSecond)
		case o.Operation == m.Operation:
			number += float64(keptStatistics(o)[m.Statistic])
		}
	}
	return number, number > 0
}

// Keeps reports whether the results of a suite have a metric.
func Keeps(m v1alpha1.Metric) bool {
	_, kept := keptStatistics(v1alpha1.SuiteOperation{})[m.Statistic]
	return m.Type == v1alpha1.MetricThroughput || kept
}

// Micros is a statistic that a result keeps, in microseconds; 0 if it is not known.
func Micros(o v1alpha1.SuiteOperation, s spec.Statistic) int64 { return keptStatistics(o)[s] }

// keptStatistics are those that the result of a suite has, in microseconds.
func keptStatistics(o v1alpha1.SuiteOperation) map[spec.Statistic]int64 {
	return map[spec.Statistic]int64{
		spec.StatisticMean: o.MeanMicroseconds, spec.StatisticP50: o.P50Microseconds, spec.StatisticP90: o.P90Microseconds,
		spec.StatisticP99: o.P99Microseconds, spec.StatisticP999: o.P999Microseconds, spec.StatisticMax: o.MaxMicroseconds,
	}
}

// Counted returns the result of a cell in a round that counts: a valid one before a complete one, that before all others,
// and the run before its repetition.
func Counted(results []v1alpha1.SuiteResult, cell string, round int32) (found v1alpha1.SuiteResult, ok bool) {
	for _, r := range results {
		if r.Cell == cell && r.Round == round && (!ok || rank(r) > rank(found)) {
			found, ok = r, true
		}
	}
	return found, ok
}

// rank orders results by how much they say: valid ones, complete ones, all others.
func rank(r v1alpha1.SuiteResult) int {
	switch {
	case r.Invalid == "":
		return 2
	case r.Reason == v1alpha1.ReasonCompleted:
		return 1
	}
	return 0
}

// Update computes everything in status that follows from the results.
func Update(s *v1alpha1.EtcdBenchmarkSuite) {
	cells := Cells(s)
	s.Status.Comparisons, s.Status.Capacities = comparisons(s, cells), capacities(s)
	countWarnings(s)
	s.Status.Runs = v1alpha1.SuiteRuns{Cells: int32(len(cells)), Finished: int32(len(s.Status.Results))}
	if s.Spec.Search != nil {
		s.Status.Runs.Planned = s.Status.Runs.Finished + int32(Left(s))
	} else {
		s.Status.Runs.Planned = int32(len(Plan(s)))
		s.Status.Runs.Finished = s.Status.Runs.Planned - int32(Left(s))
		s.Status.Runs.Repeated = int32(len(s.Status.Results)) - s.Status.Runs.Finished
	}
	for _, r := range s.Status.Results {
		if r.Invalid != "" {
			s.Status.Runs.Invalid++
		}
		if r.Passed == metav1.ConditionFalse {
			s.Status.Runs.Missed++
		}
	}
	if judges(s) {
		s.Status.Runs.Regressed = new(int32(len(slices.DeleteFunc(slices.Clone(s.Status.Comparisons), isNotRegressed))))
	}
	s.Status.Display = &v1alpha1.SuiteDisplay{Runs: fmt.Sprintf("%d/%d", s.Status.Runs.Finished, s.Status.Runs.Planned)}
}

func isNotRegressed(c v1alpha1.SuiteComparison) bool { return c.Verdict != v1alpha1.Regressed }

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
	if Entry(c.Axis, baseline) != c.Baseline.Entry || Entry(c.Axis, candidate) == c.Baseline.Entry {
		return false
	}
	return DifferOnlyIn(c.Axis, baseline, candidate)
}

// DifferOnlyIn reports whether two cells have the same entries on all other axes.
func DifferOnlyIn(axis v1alpha1.Axis, a, b Cell) bool {
	for _, other := range []v1alpha1.Axis{v1alpha1.AxisTargets, v1alpha1.AxisWorkloads, v1alpha1.AxisLoads} {
		if other != axis && Entry(other, a) != Entry(other, b) {
			return false
		}
	}
	return true
}

// failures is how many runs of a cell are invalid in a round: all that the target caused, also if the repetition is
// valid, because a repetition must not hide them; and those of the load generator if the repetition is invalid, too.
func failures(results []v1alpha1.SuiteResult, cell string, round int32) (n int) {
	counted, _ := Counted(results, cell, round)
	for _, r := range results {
		if r.Cell == cell && r.Round == round && r.Invalid != "" && r.Reason != v1alpha1.ReasonStopped && (!r.ClientBound || counted.Invalid != "") {
			n++
		}
	}
	return n
}

// Failed reports whether a run could not do its load, or none of its requests succeeded. At a rate that is too high for
// the target, all requests of a probe may fail: that is a result.
func Failed(r v1alpha1.SuiteResult) bool {
	succeeded := func(o v1alpha1.SuiteOperation) bool { return o.Succeeded > 0 }
	return verdict.CouldNotRun(r.Reason) || r.Probe == nil && r.Reason == v1alpha1.ReasonCompleted && !slices.ContainsFunc(r.Operations, succeeded)
}

// Unmeasured is how many planned runs could not do their load, and neither could their repetition.
func Unmeasured(s *v1alpha1.EtcdBenchmarkSuite) (n int) {
	for _, p := range Plan(s) {
		if r, ran := Counted(s.Status.Results, p.Cell.Name, p.Round); ran && Failed(r) {
			n++
		}
	}
	return n
}

// Incomparable is how many of the planned runs that have ended have numbers that cannot be compared, and how many have
// ended. A run that was repeated counts once, with its repetition. A search judges its probes itself, so none counts.
func Incomparable(s *v1alpha1.EtcdBenchmarkSuite) (invalid, ended int) {
	if s.Spec.Search != nil {
		return 0, 0
	}
	for _, p := range Plan(s) {
		if r, ran := Counted(s.Status.Results, p.Cell.Name, p.Round); ran {
			if ended++; r.Invalid != "" {
				invalid++
			}
		}
	}
	return invalid, ended
}

// Judge returns the condition Passed, without times; nil if nothing is judged.
func Judge(s *v1alpha1.EtcdBenchmarkSuite) *metav1.Condition {
	if s.Spec.Search != nil {
		return judgeSearches(s)
	}
	if !slices.ContainsFunc(s.Spec.Workloads, v1alpha1.SuiteWorkload.IsJudged) && !judges(s) {
		return nil
	}
	missed, open := 0, 0
	for _, r := range s.Status.Results {
		if r.Passed == metav1.ConditionFalse {
			missed++
		}
	}
	for _, c := range Cells(s) {
		for round := int32(1); round <= max(s.Spec.Rounds, 1); round++ {
			r, ran := Counted(s.Status.Results, c.Name, round)
			if c.Workload.IsJudged() && (!ran || r.Passed != metav1.ConditionTrue && r.Passed != metav1.ConditionFalse) {
				open++
			}
		}
	}
	regressed, undecided := 0, 0
	var all []v1alpha1.Comparison
	for _, c := range s.Status.Comparisons {
		all = append(all, c.Comparison)
		switch c.Verdict {
		case v1alpha1.Regressed:
			regressed++
		case v1alpha1.NotCompared:
			undecided++
		}
	}
	if judges(s) && compare.VerdictOf(all) != v1alpha1.NotCompared {
		undecided = 0
	}
	c := &metav1.Condition{Type: v1alpha1.ConditionPassed, Status: metav1.ConditionTrue, Reason: v1alpha1.ReasonObjectivesMet, Message: "No run missed an objective, and no metric regressed."}
	switch {
	case missed > 0:
		c.Status, c.Reason = metav1.ConditionFalse, v1alpha1.ReasonObjectivesMissed
		c.Message = counted(missed, "run", "missed an objective") + counted(regressed, "comparison", "regressed")
	case regressed > 0:
		c.Status, c.Reason = metav1.ConditionFalse, v1alpha1.ReasonRegressed
		c.Message = counted(regressed, "comparison", "regressed")
	case open+undecided > 0 || judges(s) && len(all) == 0:
		c.Status, c.Reason = metav1.ConditionUnknown, v1alpha1.ReasonNotJudged
		c.Message = counted(open, "run", "with objectives could not be judged") + counted(undecided, "comparison", "could not be decided")
	}
	c.Message = strings.TrimSpace(c.Message)
	return c
}

// counted is a sentence about a number of things; empty for none.
func counted(n int, noun, did string) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("%s %s. ", text.Plural(n, noun), did)
}

// didNotRun is a sentence about the runs that are left, after a space; empty if none is.
func didNotRun(s *v1alpha1.EtcdBenchmarkSuite) string {
	n := Left(s)
	if n == 0 || s.Spec.Search != nil {
		return ""
	}
	return fmt.Sprintf(" %s of %d planned runs did not run.", text.Grouped(n), s.Status.Runs.Planned)
}

// Finish returns the reason and the message with which a suite ends, given that no run is left or wanted. stopped: a user
// stopped it.
func Finish(s *v1alpha1.EtcdBenchmarkSuite, stopped bool) (reason, message string) {
	failed := Unmeasured(s)
	left, doubt := didNotRun(s), ""
	if invalid, ended := Incomparable(s); invalid > failed {
		doubt = fmt.Sprintf(" The numbers of %s of %s cannot be compared.", text.Grouped(invalid), text.Plural(ended, "run"))
	}
	switch {
	case stopped:
		return v1alpha1.ReasonStopped, "The suite was stopped." + left
	case failed > 0 && s.Spec.OnRunFailed == v1alpha1.RunFailedStop:
		return v1alpha1.ReasonRunFailed, "A run could not do its load, and spec.onRunFailed is Stop." + left
	case failed > 0:
		return v1alpha1.ReasonCompleted, fmt.Sprintf("All runs have ended. %s could not send the load.", text.Plural(failed, "run")) + doubt
	}
	return v1alpha1.ReasonCompleted, cmp.Or(left, "All runs have ended.") + doubt
}
