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
	"github.com/etcdbench/etcd-benchmark-operator/internal/text"
	"github.com/etcdbench/etcd-benchmark-operator/internal/trend"
)

// course is the part of a series that is compared: the sessions with the template of the last one, from the last
// acknowledged one on.
type course struct {
	series *v1alpha1.ScheduleSeries
	// first is the place of its first session.
	first int
}

// logs returns the logarithms of the values in a range of sessions, and the place of each; sessions without a value are
// left out.
func (c course) logs(from, to int) (logs []float64, places []int) {
	for i := max(from, c.first); i < min(to, len(c.series.Values)); i++ {
		if v := c.series.Values[i]; v > 0 {
			logs, places = append(logs, math.Log(float64(v))), append(places, i)
		}
	}
	return logs, places
}

func (c course) tolerance() float64 { return float64(c.series.TolerancePercent) / 100 }

func (c course) worse() trend.Direction {
	if c.series.Type == v1alpha1.SeriesLatency {
		return trend.HigherIsWorse
	}
	return trend.LowerIsWorse
}

// judge compares the value of a session with those of earlier sessions.
func (c course) judge(earlier []float64, session int) trend.Judgement {
	latest, _ := c.logs(session, session+1)
	if len(latest) == 0 {
		return trend.Judgement{Verdict: trend.Unknown}
	}
	return trend.Judge(earlier, latest[0], c.worse(), c.tolerance())
}

// Judge computes everything in status that follows from the history: the verdict of each series, the changes, and the
// conditions Suspect and TrendBroken.
func Judge(sch *v1alpha1.EtcdBenchmarkSchedule, now time.Time) {
	status := &sch.Status
	first := begin(sch)
	last := len(status.Sessions) - 1
	confirming := lastConfirming(status.Sessions, first)
	var suspects, confirmed []string
	judged, known := 0, false
	status.Changes = nil
	for i := range status.Series {
		c := course{&status.Series[i], first}
		changes, enough := c.changes(status.Sessions)
		known = known || enough
		status.Changes = append(status.Changes, changes...)
		j := c.judge(c.reference(last, confirming, changes, status.Sessions), last)
		c.series.Verdict, c.series.Expected = verdictOf(j), expected(j)
		switch c.series.Verdict {
		case v1alpha1.SeriesUnknown:
			continue
		case v1alpha1.SeriesWorse:
			suspects = append(suspects, describe(*c.series))
			if confirming > 0 && c.isConfirmed(confirming) {
				confirmed = append(confirmed, describe(*c.series))
			}
		}
		judged++
	}
	status.Changes = status.Changes[max(len(status.Changes)-v1alpha1.MaxChanges, 0):]
	set := func(kind string, value metav1.ConditionStatus, reason, message string) {
		c := metav1.Condition{Type: kind, Status: value, Reason: reason, Message: text.Shorten(message, text.MaxBytes)}
		benchmark.SetCondition(&status.Conditions, c, sch.Generation, now)
	}
	set(suspicion(suspects, judged))
	set(breakOf(confirmed, status.Changes, known || judged > 0))
}

// begin is the place of the first session that is compared with the last one.
func begin(sch *v1alpha1.EtcdBenchmarkSchedule) (first int) {
	sessions := sch.Status.Sessions
	for i := range sessions {
		acknowledged := slices.ContainsFunc(sch.Spec.Acknowledgements, func(a v1alpha1.Acknowledgement) bool { return a.Session == sessions[i].Name })
		if acknowledged || sessions[i].Template != sessions[len(sessions)-1].Template {
			first = i
			if !acknowledged {
				first++
			}
		}
	}
	return first
}

// lastConfirming is the place of the last confirming session that confirms another one than the first; 0 if there is none.
// With the first one, the comparison begins.
func lastConfirming(sessions []v1alpha1.ScheduleSession, first int) int {
	for i := len(sessions) - 1; i > first+1; i-- {
		if sessions[i].Confirming {
			return i
		}
	}
	return 0
}

// reference returns the values with which the last session is compared: those since the last change. Those of a
// confirming session and of the one that it confirms do not count, unless they belong to a change: if they are worse, the
// last one would be compared with numbers that are worse, too.
func (c course) reference(last, confirming int, changes []v1alpha1.ScheduleChange, sessions []v1alpha1.ScheduleSession) []float64 {
	from, to := 0, last
	for _, change := range changes {
		from = slices.IndexFunc(sessions, func(s v1alpha1.ScheduleSession) bool { return s.Name == change.Session })
	}
	if confirming-1 > from {
		to = confirming - 1
	}
	logs, _ := c.logs(from, to)
	return logs
}

// isConfirmed reports whether a confirming session and the one that it confirms are both worse than those before.
func (c course) isConfirmed(confirming int) bool {
	earlier, _ := c.logs(0, confirming-1)
	return c.judge(earlier, confirming-1).Verdict == trend.Suspect && c.judge(earlier, confirming).Verdict == trend.Suspect
}

// changes are the change points of a series. enough is false if the history is too short for one.
func (c course) changes(sessions []v1alpha1.ScheduleSession) (out []v1alpha1.ScheduleChange, enough bool) {
	logs, places := c.logs(0, len(sessions))
	found, enough := trend.Changes(logs, nil, c.tolerance())
	for _, f := range found {
		before, after := math.Exp(f.Before), math.Exp(f.After)
		out = append(out, v1alpha1.ScheduleChange{
			Cell: c.series.Cell, Metric: nameOf(*c.series), Session: sessions[places[f.Index]].Name,
			Before: int64(math.Round(before)), After: int64(math.Round(after)), ChangePerMillion: int64(math.Round(1e6 * (after/before - 1))),
			Worse: (after > before) == (c.worse() == trend.HigherIsWorse),
		})
	}
	return out, enough
}

func verdictOf(j trend.Judgement) v1alpha1.SeriesVerdict {
	switch {
	case j.Verdict == trend.Unknown:
		return v1alpha1.SeriesUnknown
	case j.Verdict == trend.Suspect:
		return v1alpha1.SeriesWorse
	case j.Better:
		return v1alpha1.SeriesBetter
	}
	return v1alpha1.SeriesAsExpected
}

func expected(j trend.Judgement) *v1alpha1.ValueRange {
	if j.Verdict == trend.Unknown {
		return nil
	}
	round := func(log float64) int64 { return int64(math.Round(math.Exp(min(log, maxLog)))) }
	return &v1alpha1.ValueRange{Mean: round(j.Mean), Low: round(j.Low), High: round(j.High)}
}

// maxLog keeps the end of a very wide range within 64 bits.
const maxLog = 43

// describe is a sentence about the last value of a series.
func describe(s v1alpha1.ScheduleSeries) string {
	show := func(v int64) string {
		if s.Type == v1alpha1.SeriesLatency {
			return text.Micros(v)
		}
		return text.RateOf(float64(v) / milli).String()
	}
	return fmt.Sprintf("%s %s: %s, expected %s to %s", s.Cell, nameOf(s), show(s.Values[len(s.Values)-1]), show(s.Expected.Low), show(s.Expected.High))
}

func suspicion(suspects []string, judged int) (kind string, value metav1.ConditionStatus, reason, message string) {
	kind = v1alpha1.ConditionSuspect
	switch {
	case len(suspects) > 0:
		return kind, metav1.ConditionTrue, v1alpha1.ReasonWorse, "Worse than expected: " + strings.Join(suspects, "; ") + "."
	case judged == 0:
		return kind, metav1.ConditionUnknown, v1alpha1.ReasonTooFewSessions, fmt.Sprintf("A session is judged when at least %d sessions before it have numbers.", trend.MinHistory)
	}
	return kind, metav1.ConditionFalse, v1alpha1.ReasonAsExpected, "No number of the last session is worse than expected."
}

func breakOf(confirmed []string, changes []v1alpha1.ScheduleChange, known bool) (kind string, value metav1.ConditionStatus, reason, message string) {
	kind = v1alpha1.ConditionTrendBroken
	var worse []string
	for _, c := range changes {
		if c.Worse {
			worse = append(worse, fmt.Sprintf("%s %s: %+.1f %% since the session %s", c.Cell, c.Metric, float64(c.ChangePerMillion)/1e4, c.Session))
		}
	}
	const advice = "If that is known, add the session to spec.acknowledgements."
	switch {
	case len(worse) > 0:
		return kind, metav1.ConditionTrue, v1alpha1.ReasonChanged, "The history has a change for the worse: " + strings.Join(worse, "; ") + ". " + advice
	case len(confirmed) > 0:
		return kind, metav1.ConditionTrue, v1alpha1.ReasonConfirmed, "A confirming session was worse than expected, too: " + strings.Join(confirmed, "; ") + ". " + advice
	case !known:
		return kind, metav1.ConditionUnknown, v1alpha1.ReasonTooFewSessions, "The history is too short to find a change."
	}
	return kind, metav1.ConditionFalse, v1alpha1.ReasonUnchanged, "The history has no change for the worse."
}

// Confirms reports whether a confirming session should start: the last session was worse than expected.
func Confirms(sch *v1alpha1.EtcdBenchmarkSchedule) bool {
	sessions := sch.Status.Sessions
	if len(sessions) == 0 || sessions[len(sessions)-1].Confirming || sessions[len(sessions)-1].Reason != v1alpha1.ReasonCompleted {
		return false
	}
	for _, s := range sch.Status.Series {
		if s.Verdict == v1alpha1.SeriesWorse {
			// While the trend is known to be broken, another confirmation would say nothing new.
			return lastConfirming(sessions, begin(sch)) == 0 || !isBroken(sch)
		}
	}
	return false
}

func isBroken(sch *v1alpha1.EtcdBenchmarkSchedule) bool {
	return slices.ContainsFunc(sch.Status.Conditions, func(c metav1.Condition) bool {
		return c.Type == v1alpha1.ConditionTrendBroken && c.Status == metav1.ConditionTrue
	})
}
