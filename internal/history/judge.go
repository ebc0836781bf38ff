package history

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/benchmark"
	"github.com/etcdbench/etcd-benchmark-operator/internal/compare"
	"github.com/etcdbench/etcd-benchmark-operator/internal/text"
	"github.com/etcdbench/etcd-benchmark-operator/internal/trend"
)

// course is the part of a series that is compared: the sessions with the template of the last one and the client of one
// of them, from the last acknowledged one on.
type course struct {
	series *v1alpha1.ScheduleSeries
	// template and environment are those of its sessions.
	template    string
	environment v1alpha1.Environment
	// logs are the logarithms of the values, sessions the place of each. Sessions without a value are left out.
	logs     []float64
	sessions []int
}

// courseOf returns the course with the client of one session.
func courseOf(sch *v1alpha1.EtcdBenchmarkSchedule, series *v1alpha1.ScheduleSeries, like int) course {
	c := course{series: series}
	if like >= 0 {
		c.template, c.environment = sch.Status.Sessions[like].Template, sch.Status.Sessions[like].Environment
	}
	for i := begin(sch, *series); i < len(series.Values); i++ {
		if v := series.Values[i]; v > 0 && sameClient(sch, i, like) {
			c.logs, c.sessions = append(c.logs, math.Log(float64(v))), append(c.sessions, i)
		}
	}
	return c
}

// sameClient reports whether two sessions had the same environment: above all the same processors of the client pods.
func sameClient(sch *v1alpha1.EtcdBenchmarkSchedule, i, j int) bool {
	return i == j || sameEnvironment(sch, sch.Status.Sessions[i].Environment, sch.Status.Sessions[j].Environment)
}

// sameEnvironment judges the load generator's share of the latency by the smallest tolerance of the schedule, so that a
// session is compared with the same others in all series.
func sameEnvironment(sch *v1alpha1.EtcdBenchmarkSchedule, a, b v1alpha1.Environment) bool {
	tolerance := int32(maxTolerance)
	for _, s := range sch.Status.Series {
		tolerance = min(tolerance, s.TolerancePercent)
	}
	return compare.SameEnvironment(a, b, tolerance)
}

// maxTolerance is the greatest tolerance of a metric, in per cent.
const maxTolerance = 99

// begin is the place of the first session that is compared with the last one.
func begin(sch *v1alpha1.EtcdBenchmarkSchedule, series v1alpha1.ScheduleSeries) (first int) {
	sessions := sch.Status.Sessions
	for i := range sessions {
		if isAcknowledged(sch, series, i) {
			first = i
		}
		if sessions[i].Template != sessions[len(sessions)-1].Template {
			first = i + 1
		}
	}
	return first
}

// isAcknowledged reports whether a known change of a series begins with a session.
func isAcknowledged(sch *v1alpha1.EtcdBenchmarkSchedule, series v1alpha1.ScheduleSeries, i int) bool {
	return slices.ContainsFunc(sch.Spec.Acknowledgements, func(a v1alpha1.Acknowledgement) bool {
		return a.Session == sch.Status.Sessions[i].Name && isAbout(a, series.Cell, nameOf(series))
	})
}

func (c course) tolerance() float64 { return float64(c.series.TolerancePercent) / 100 }

func (c course) worse() trend.Direction {
	if c.series.Type == v1alpha1.SeriesLatency {
		return trend.HigherIsWorse
	}
	return trend.LowerIsWorse
}

// replay judges the values from one on, each by those before it. Values that are worse are no part of the reference: the
// next one is then either as before, so that the worse one was chance, or it is worse, too, and the numbers are broken
// until one is as before.
func (c course) replay(from int) (last trend.Judgement, worseInARow int) {
	var reference []float64
	for _, v := range c.logs[from:] {
		if last = trend.Judge(reference, v, c.worse(), c.tolerance()); last.Verdict == trend.Suspect {
			worseInARow++
			continue
		}
		worseInARow = 0
		reference = append(reference, v)
	}
	return last, worseInARow
}

// isAbout reports whether an acknowledgement is about a series.
func isAbout(a v1alpha1.Acknowledgement, cell, metric string) bool {
	return (a.Cell == "" || a.Cell == cell) && (a.Metric == "" || a.Metric == metric)
}

func (c course) isStillWorse(before, now float64) bool {
	return c.isWorse(before, now) && trend.Exceeds(now-before, c.tolerance())
}

func (c course) isWorse(before, after float64) bool {
	return (after > before) == (c.worse() == trend.HigherIsWorse)
}

// findings are what the sessions say that ran on the same processors.
type findings struct {
	// suspects are the series whose last value is worse than expected, confirmed those with two such values in a row.
	suspects, confirmed []string
	// changes are all change points, open those for the worse after which the numbers are still worse.
	changes, open []v1alpha1.ScheduleChange
	// judged and withNumbers count the series whose last value could be judged, and those that have one.
	judged, withNumbers int
	// known: at least one series is long enough.
	known bool
}

// findingsOf returns what the sessions with the client of one session say.
func findingsOf(sch *v1alpha1.EtcdBenchmarkSchedule, like int) (f findings) {
	for i := range sch.Status.Series {
		s := &sch.Status.Series[i]
		f.add(sch, s, courseOf(sch, s, like))
	}
	return f
}

func (f *findings) add(sch *v1alpha1.EtcdBenchmarkSchedule, s *v1alpha1.ScheduleSeries, c course) {
	changes, open, from, enough := c.changes(sch)
	f.changes, f.open = slices.Concat(f.changes, changes), slices.Concat(f.open, open)
	f.known = f.known || enough || len(open) > 0
	judgement, worseInARow := c.replay(from)
	if worseInARow > 1 {
		first := sch.Status.Sessions[c.sessions[len(c.sessions)-worseInARow]].Name
		f.confirmed = append(f.confirmed, describe(*s, judgement, c)+", since the session "+first)
	}
	s.Verdict, s.Expected = v1alpha1.SeriesUnknown, nil
	f.known = f.known || judgement.Verdict == trend.Usual || judgement.Verdict == trend.Suspect
	if n := len(s.Values); n == 0 || s.Values[n-1] == 0 {
		return
	}
	f.withNumbers++
	if s.Verdict = verdictOf(judgement, worseInARow); s.Verdict == v1alpha1.SeriesUnknown {
		return
	}
	f.judged++
	s.Expected = &v1alpha1.ValueRange{Mean: antilog(judgement.Mean), Low: antilog(judgement.Low), High: antilog(judgement.High)}
	if judgement.Verdict == trend.Suspect {
		f.suspects = append(f.suspects, describe(*s, judgement, c))
	}
}

// Judge computes everything in status that follows from the history: the verdict of each series, the changes, and the
// conditions Suspect and TrendBroken. With 20 series of 200 values it takes seconds.
func Judge(sch *v1alpha1.EtcdBenchmarkSchedule, now time.Time) {
	status := &sch.Status
	status.Series = series(sch)
	last := len(status.Sessions) - 1
	before := earlier(sch)
	f := findingsOf(sch, last)
	other := elsewhere(sch)
	status.Changes = bounded(slices.Concat(other, f.changes))
	set := func(kind string, value metav1.ConditionStatus, reason, message string) {
		c := metav1.Condition{Type: kind, Status: value, Reason: reason, Message: text.Shorten(message, text.MaxBytes)}
		benchmark.SetCondition(&status.Conditions, c, sch.Generation, now)
	}
	why := ""
	if last >= 0 && status.Sessions[last].Invalid != "" {
		why = " " + strings.TrimSuffix(status.Sessions[last].Invalid, ".") + "."
	}
	set(suspicion(f.suspects, f.judged, f.withNumbers, why))
	note := unknownSessions(sch)
	if !f.known {
		f.confirmed = before.confirmed
	}
	if len(other) > 0 || !f.known && len(before.confirmed) > 0 {
		note = " The last session had another environment, or its environment is not known, so it cannot show that the numbers are as before." + note
	}
	set(breakOf(f.confirmed, slices.Concat(other, f.open), f.known, note))
}

// elsewhere are the open changes of sessions in another environment than that of the last session, which shows nothing
// about them.
func elsewhere(sch *v1alpha1.EtcdBenchmarkSchedule) (open []v1alpha1.ScheduleChange) {
	var last v1alpha1.ScheduleSession
	if n := len(sch.Status.Sessions); n > 0 {
		last = sch.Status.Sessions[n-1]
	}
	for _, c := range sch.Status.Changes {
		if c.Open && c.Template == last.Template && !sameEnvironment(sch, c.Environment, last.Environment) && !acknowledges(sch, c) {
			open = append(open, c)
		}
	}
	return open
}

// bounded leaves out the oldest changes if there are too many, open ones last.
func bounded(changes []v1alpha1.ScheduleChange) []v1alpha1.ScheduleChange {
	for len(changes) > v1alpha1.MaxChanges {
		oldest := max(slices.IndexFunc(changes, func(c v1alpha1.ScheduleChange) bool { return !c.Open }), 0)
		changes = slices.Delete(changes, oldest, oldest+1)
	}
	return changes
}

// earlier returns what the sessions of the client before the last one say, if the last session ran on other processors.
// It must not clear a broken trend.
func earlier(sch *v1alpha1.EtcdBenchmarkSchedule) (f findings) {
	last := len(sch.Status.Sessions) - 1
	for i := last; i >= 0; i-- {
		if !sameClient(sch, i, last) {
			return findingsOf(sch, i)
		}
	}
	return f
}

func verdictOf(j trend.Judgement, worseInARow int) v1alpha1.SeriesVerdict {
	switch {
	case j.Verdict == trend.Unknown:
		return v1alpha1.SeriesUnknown
	case worseInARow > 1:
		return v1alpha1.SeriesStillWorse
	case worseInARow == 1:
		return v1alpha1.SeriesWorse
	case j.Better:
		return v1alpha1.SeriesBetter
	}
	return v1alpha1.SeriesAsExpected
}

// logarithm is that of a value in status.
func logarithm(v int64) float64 { return math.Log(float64(max(v, 1))) }

// antilog is the value of a logarithm. The end of a very wide range stays within 64 bits.
func antilog(log float64) int64 {
	const most = 43
	return int64(math.Round(math.Exp(min(log, most))))
}

// describe is about the last value of a series.
func describe(s v1alpha1.ScheduleSeries, j trend.Judgement, c course) string {
	show := func(log float64) string {
		if s.Type == v1alpha1.SeriesLatency {
			return text.Micros(antilog(log))
		}
		return text.RateOf(float64(antilog(log)) / milli).String()
	}
	return fmt.Sprintf("%s %s: %s, expected %s to %s", s.Cell, nameOf(s), show(c.logs[len(c.logs)-1]), show(j.Low), show(j.High))
}

func suspicion(suspects []string, judged, withNumbers int, why string) (kind string, value metav1.ConditionStatus, reason, message string) {
	kind = v1alpha1.ConditionSuspect
	switch {
	case len(suspects) > 0:
		return kind, metav1.ConditionTrue, v1alpha1.ReasonWorse, "Worse than expected: " + strings.Join(suspects, "; ") + "."
	case withNumbers == 0:
		return kind, metav1.ConditionUnknown, v1alpha1.ReasonNoNumbers, "The last session has no valid numbers." + why
	case judged == 0:
		return kind, metav1.ConditionUnknown, v1alpha1.ReasonTooFewSessions, fmt.Sprintf("A session is judged when at least %d sessions before it have numbers.", trend.MinHistory)
	}
	return kind, metav1.ConditionFalse, v1alpha1.ReasonAsExpected, "No number of the last session is worse than expected."
}

// unknownSessions is a sentence about acknowledged sessions that are not in the history; empty if there are none. A full
// history has forgotten sessions.
func unknownSessions(sch *v1alpha1.EtcdBenchmarkSchedule) string {
	if len(sch.Status.Sessions) == v1alpha1.MaxSessions {
		return ""
	}
	var names []string
	for _, a := range sch.Spec.Acknowledgements {
		if !slices.ContainsFunc(sch.Status.Sessions, func(s v1alpha1.ScheduleSession) bool { return s.Name == a.Session }) {
			names = append(names, a.Session)
		}
	}
	if len(names) == 0 {
		return ""
	}
	return fmt.Sprintf(" The history has no session %s, which spec.acknowledgements names.", strings.Join(names, ", "))
}

func breakOf(confirmed []string, open []v1alpha1.ScheduleChange, known bool, unknown string) (kind string, value metav1.ConditionStatus, reason, message string) {
	kind = v1alpha1.ConditionTrendBroken
	var worse []string
	for _, c := range open {
		worse = append(worse, fmt.Sprintf("%s %s: %+.1f %% since the session %s", c.Cell, c.Metric, float64(c.ChangePerMillion)/1e4, c.Session))
	}
	const advice = " If that is known, add the session to spec.acknowledgements."
	switch {
	case len(worse) > 0:
		return kind, metav1.ConditionTrue, v1alpha1.ReasonChanged, "The numbers have changed for the worse: " + strings.Join(worse, "; ") + "." + advice + unknown
	case len(confirmed) > 0:
		return kind, metav1.ConditionTrue, v1alpha1.ReasonConfirmed, "Worse than expected in two sessions or more: " + strings.Join(confirmed, "; ") + "." + advice + unknown
	case !known:
		return kind, metav1.ConditionUnknown, v1alpha1.ReasonTooFewSessions, "The history is too short to find a change." + unknown
	}
	return kind, metav1.ConditionFalse, v1alpha1.ReasonUnchanged, "The numbers have not changed for the worse." + unknown
}

// Confirms reports whether a confirming session should start: a number of the last session was worse than expected, and
// that of the session before was not.
func Confirms(sch *v1alpha1.EtcdBenchmarkSchedule) bool {
	sessions := sch.Status.Sessions
	if len(sessions) == 0 {
		return false
	}
	last := sessions[len(sessions)-1]
	if last.Confirming || last.Reason != v1alpha1.ReasonCompleted || last.Template != TemplateID(sch.Spec.SuiteTemplate.Spec) {
		return false
	}
	return slices.ContainsFunc(sch.Status.Series, func(s v1alpha1.ScheduleSeries) bool { return s.Verdict == v1alpha1.SeriesWorse })
}
