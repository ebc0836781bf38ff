package history

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"math"
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/suite"
)

// TemplateID identifies a suite template: two templates with the same one are equal.
func TemplateID(t v1alpha1.SuiteTemplateSpec) string {
	// The template came from the API server as JSON, so it can be written as JSON.
	text, _ := json.Marshal(t)
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:4])
}

// Of returns the session of a suite that has ended, without confirming.
func Of(s *v1alpha1.EtcdBenchmarkSuite) v1alpha1.ScheduleSession {
	out := v1alpha1.ScheduleSession{
		Name: s.Name, StartTime: s.CreationTimestamp, CompletionTime: s.Status.CompletionTime,
		Template: TemplateID(v1alpha1.SuiteTemplateSpec{Spec: s.Spec}), Reason: v1alpha1.ReasonDeleted,
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
	if len(status.Sessions) == 0 || status.Sessions[len(status.Sessions)-1].Template != session.Template {
		// Numbers of other suites cannot be compared with these.
		status.Series = nil
	}
	status.Sessions = append(status.Sessions, session)
	if s != nil {
		extend(sch, s)
	}
	for i := range status.Series {
		if n := len(status.Sessions) - len(status.Series[i].Values); n > 0 {
			status.Series[i].Values = append(status.Series[i].Values, make([]int64, n)...)
		}
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

func succeeded(s v1alpha1.ScheduleSession) bool {
	return s.Reason == v1alpha1.ReasonCompleted && (s.Passed == "" || s.Passed == metav1.ConditionTrue)
}

// extend adds the numbers of a suite to the series.
func extend(sch *v1alpha1.EtcdBenchmarkSchedule, s *v1alpha1.EtcdBenchmarkSuite) {
	status := &sch.Status
	if status.Series == nil {
		status.Series = series(sch, s)
	}
	for i := range status.Series {
		status.Series[i].Values = append(missing(status.Series[i].Values, len(status.Sessions)-1), value(s, status.Series[i]))
	}
}

// missing returns n values; those that are not there are 0.
func missing(values []int64, n int) []int64 {
	return append(values, make([]int64, max(n-len(values), 0))...)
}

// series returns the series of a schedule, without values.
func series(sch *v1alpha1.EtcdBenchmarkSchedule, s *v1alpha1.EtcdBenchmarkSuite) (out []v1alpha1.ScheduleSeries) {
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
	return out[:min(len(out), v1alpha1.MaxSeries)]
}

// metrics are those of the schedule, else those that its suite compares, else the throughput.
func metrics(sch *v1alpha1.EtcdBenchmarkSchedule) []v1alpha1.Metric {
	switch compare := sch.Spec.SuiteTemplate.Spec.Compare; {
	case len(sch.Spec.Metrics) > 0:
		return sch.Spec.Metrics
	case compare != nil:
		return compare.Metrics
	}
	return []v1alpha1.Metric{{Type: v1alpha1.MetricThroughput}}
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

// value is the number of one session: the geometric mean of the rounds with valid numbers; 0 if there is none.
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
	for round := int32(1); round <= max(s.Spec.Rounds, 1); round++ {
		r, ran := suite.Counted(s.Status.Results, of.Cell, round)
		if number, known := suite.NumberOf(r, metricOf(of)); ran && r.Invalid == "" && known {
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

// Expendable returns the names of finished suites that the schedule does not keep: all but the newest historyLimit, the
// last one that passed, and the last one that did not.
func Expendable(sch *v1alpha1.EtcdBenchmarkSchedule) (names []string) {
	sessions := sch.Status.Sessions
	keep := map[string]bool{}
	for i := len(sessions) - 1; i >= 0 && len(keep) < int(max(sch.Spec.HistoryLimit, 1)); i-- {
		keep[sessions[i].Name] = true
	}
	for _, passed := range []bool{true, false} {
		for i := len(sessions) - 1; i >= 0; i-- {
			if succeeded(sessions[i]) == passed {
				keep[sessions[i].Name] = true
				break
			}
		}
	}
	for _, s := range sessions {
		if !keep[s.Name] {
			names = append(names, s.Name)
		}
	}
	return names
}
