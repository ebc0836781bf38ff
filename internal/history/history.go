package history

import (
	"fmt"
	"math"
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/benchmark"
	"github.com/etcdbench/etcd-benchmark-operator/internal/compare"
	"github.com/etcdbench/etcd-benchmark-operator/internal/suite"
	"github.com/etcdbench/etcd-benchmark-operator/internal/text"
)

// TemplateID identifies the template of a suite: two templates with the same one are equal. A stop is no part of it.
func TemplateID(s v1alpha1.EtcdBenchmarkSuiteSpec) string {
	s.Stop = false
	return benchmark.HashOf(s)
}

// Of returns the session of the active suite, which has ended. s is nil if the suite does not exist.
func Of(sch *v1alpha1.EtcdBenchmarkSchedule, s *v1alpha1.EtcdBenchmarkSuite) v1alpha1.ScheduleSession {
	out := v1alpha1.ScheduleSession{Name: sch.Status.Active, Template: sch.Status.ActiveTemplate, Reason: v1alpha1.ReasonDeleted}
	if last := sch.Status.LastScheduleTime; last != nil {
		out.StartTime = *last
	}
	if s == nil {
		return out
	}
	out.Environment = suite.EnvironmentOf(s.Status.Results)
	out.StartTime, out.CompletionTime, out.FailedRuns = s.CreationTimestamp, s.Status.CompletionTime, int32(suite.Unmeasured(s))
	if i := slices.IndexFunc(s.Status.Results, func(r v1alpha1.SuiteResult) bool { return r.Invalid != "" }); i >= 0 {
		out.Invalid = text.Shorten(s.Status.Results[i].Cell+": "+s.Status.Results[i].Invalid, maxInvalid)
	}
	if c := meta.FindStatusCondition(s.Status.Conditions, v1alpha1.ConditionFinished); c != nil && c.Status == metav1.ConditionTrue {
		out.Reason = c.Reason
	}
	if c := meta.FindStatusCondition(s.Status.Conditions, v1alpha1.ConditionPassed); c != nil {
		out.Passed = c.Status
	}
	return out
}

// Add adds a session with its numbers to the history, and removes the oldest one if there are too many. s is nil if the
// suite does not exist.
func Add(sch *v1alpha1.EtcdBenchmarkSchedule, session v1alpha1.ScheduleSession, s *v1alpha1.EtcdBenchmarkSuite) {
	status := &sch.Status
	status.Series = series(sch)
	status.Sessions = append(status.Sessions, session)
	for i := range status.Series {
		v := int64(0)
		if s != nil {
			v = value(s, status.Series[i])
		}
		status.Series[i].Values = append(status.Series[i].Values, v)
	}
	if extra := len(status.Sessions) - v1alpha1.MaxSessions; extra > 0 {
		status.Sessions = slices.Delete(status.Sessions, 0, extra)
		for i := range status.Series {
			status.Series[i].Values = slices.Delete(status.Series[i].Values, 0, extra)
		}
	}
	status.LastPassed = session.Passed
	if succeeded(session) {
		status.LastSuccessfulTime = session.CompletionTime
	}
}

// maxInvalid is the length of a session's field invalid, in bytes.
const maxInvalid = 128

func succeeded(s v1alpha1.ScheduleSession) bool {
	return s.Reason == v1alpha1.ReasonCompleted && s.FailedRuns == 0 && (s.Passed == "" || s.Passed == metav1.ConditionTrue)
}

// series returns the series that the schedule keeps now, each with a value per session: those that it already has, or 0.
func series(sch *v1alpha1.EtcdBenchmarkSchedule) (out []v1alpha1.ScheduleSeries) {
	s := template(sch)
	for _, c := range suite.Cells(s) {
		if f := s.Spec.Search; f != nil {
			out = append(out, v1alpha1.ScheduleSeries{Cell: c.Name, Type: v1alpha1.SeriesHighestRate, TolerancePercent: f.TolerancePercent})
			continue
		}
		for _, m := range metrics(sch) {
			if suite.Measures(s, c, m) {
				out = append(out, v1alpha1.ScheduleSeries{
					Cell: c.Name, Type: v1alpha1.SeriesType(m.Type), Operation: m.Operation, Statistic: m.Statistic, TolerancePercent: m.WithTolerance().TolerancePercent,
				})
			}
		}
	}
	out = out[:min(len(out), v1alpha1.MaxSeries)]
	for i := range out {
		same := func(o v1alpha1.ScheduleSeries) bool { return o.Cell == out[i].Cell && nameOf(o) == nameOf(out[i]) }
		if before := slices.IndexFunc(sch.Status.Series, same); before >= 0 {
			out[i].Values = sch.Status.Series[before].Values
		}
		if n := len(sch.Status.Sessions) - len(out[i].Values); n > 0 {
			out[i].Values = append(make([]int64, n), out[i].Values...)
		}
	}
	return out
}

func template(sch *v1alpha1.EtcdBenchmarkSchedule) *v1alpha1.EtcdBenchmarkSuite {
	return &v1alpha1.EtcdBenchmarkSuite{ObjectMeta: metav1.ObjectMeta{Name: sch.Name}, Spec: sch.Spec.SuiteTemplate.Spec}
}

// Check returns why a schedule can have no history; nil if it can.
func Check(sch *v1alpha1.EtcdBenchmarkSchedule) error {
	s := template(sch)
	for i, m := range sch.Spec.Metrics {
		if !slices.ContainsFunc(suite.Cells(s), func(c suite.Cell) bool { return suite.Measures(s, c, m) }) {
			return fmt.Errorf("spec.metrics[%d]: no workload of the suite has the operation %s: see docs/workloads.md for the operations of a workload", i, m.Operation)
		}
	}
	return nil
}

// metrics are those of the schedule, else those that its suite compares and keeps, else the throughput.
func metrics(sch *v1alpha1.EtcdBenchmarkSchedule) (out []v1alpha1.Metric) {
	if len(sch.Spec.Metrics) > 0 {
		return sch.Spec.Metrics
	}
	if c := sch.Spec.SuiteTemplate.Spec.Compare; c != nil {
		for _, m := range c.Metrics {
			if suite.Keeps(m) {
				out = append(out, m)
			}
		}
	}
	if len(out) == 0 {
		out = []v1alpha1.Metric{{Type: v1alpha1.MetricThroughput}}
	}
	return out
}

func metricOf(s v1alpha1.ScheduleSeries) v1alpha1.Metric {
	return v1alpha1.Metric{Type: v1alpha1.MetricType(s.Type), Operation: s.Operation, Statistic: s.Statistic}
}

// nameOf names the number of a series.
func nameOf(s v1alpha1.ScheduleSeries) string {
	if s.Type == v1alpha1.SeriesHighestRate {
		return string(s.Type)
	}
	return metricOf(s).String()
}

// value is the number of one session: the geometric mean of the rounds with valid numbers; 0 if there is none. A percentile
// of a run whose load generator was a limit is none: it may show the load generator.
func value(s *v1alpha1.EtcdBenchmarkSuite, of v1alpha1.ScheduleSeries) int64 {
	if of.Type == v1alpha1.SeriesHighestRate {
		for _, c := range s.Status.Capacities {
			if c.Cell == of.Cell && (c.State == v1alpha1.CapacityFound || c.State == v1alpha1.CapacityAtLeast) {
				return milli * c.RatePerSecond
			}
		}
		return 0
	}
	sum, n := 0.0, 0
	m := metricOf(of)
	for round := int32(1); round <= max(s.Spec.Rounds, 1); round++ {
		r, ran := suite.Counted(s.Status.Results, of.Cell, round)
		if r.ClientBound && !compare.IsMean(m) {
			continue
		}
		if number, known := suite.NumberOf(r, m); ran && r.Invalid == "" && known {
			sum, n = sum+math.Log(number), n+1
		}
	}
	if n == 0 {
		return 0
	}
	return int64(math.Round(math.Exp(sum / float64(n))))
}

// milli converts requests per second to the unit of status.
const milli = 1000

// Kept returns the names of the suites that the schedule keeps: the newest historyLimit, the last one that succeeded, and
// the last one that did not. Sessions without a suite do not count.
func Kept(sch *v1alpha1.EtcdBenchmarkSchedule) map[string]bool {
	keep := map[string]bool{}
	newest := slices.Clone(sch.Status.Sessions)
	slices.Reverse(newest)
	newest = slices.DeleteFunc(newest, func(s v1alpha1.ScheduleSession) bool {
		return s.Reason == v1alpha1.ReasonDeleted || s.Reason == v1alpha1.ReasonRefused
	})
	for _, s := range newest[:min(len(newest), int(max(sch.Spec.HistoryLimit, 1)))] {
		keep[s.Name] = true
	}
	for _, wanted := range []bool{true, false} {
		if i := slices.IndexFunc(newest, func(s v1alpha1.ScheduleSession) bool { return succeeded(s) == wanted }); i >= 0 {
			keep[newest[i].Name] = true
		}
	}
	return keep
}
