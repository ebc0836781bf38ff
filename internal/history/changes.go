package history

import (
	"math"
	"slices"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/trend"
)

// changes are the change points of a series. known is false if the history is too short for one. open are those for the
// worse after which the numbers are still worse, with what is left of them. from is where the last change begins.
//
// An open change that status has stays open when it is no longer found, because of noise or because the history lacks the
// sessions before it. It keeps the level before it, which was found in more sessions.
func (c course) changes(sch *v1alpha1.EtcdBenchmarkSchedule) (all, open []v1alpha1.ScheduleChange, from int, known bool) {
	remembered := c.remembered(sch)
	found, known := trend.Changes(c.logs, nil, c.tolerance())
	for _, f := range found {
		first := sch.Status.Sessions[c.sessions[f.Index]]
		change := v1alpha1.ScheduleChange{
			Cell: c.series.Cell, Metric: nameOf(*c.series), Session: first.Name, Worse: c.isWorse(f.Before, f.After),
			StartTime: first.StartTime, Template: c.template, Environment: c.environment,
		}
		before, isSame := f.Before, func(r v1alpha1.ScheduleChange) bool {
			return change.Worse && !trend.Exceeds(f.Before-logarithm(r.Before), c.tolerance())
		}
		if k := slices.IndexFunc(remembered, isSame); k >= 0 {
			before, remembered = logarithm(remembered[k].Before), slices.DeleteFunc(remembered, isSame)
		}
		change = between(change, before, f.After)
		if now := found[len(found)-1].After; change.Worse && c.isStillWorse(before, now) {
			change.Open = true
			// A change that a later one has undone in part is still open with what is left.
			open = append(open, between(change, before, now))
		}
		all, from = append(all, change), f.Index
	}
	kept, from := c.stillWorse(sch, remembered, from)
	return slices.Concat(kept, all), slices.Concat(kept, open), from, known
}

// remembered are the open changes of the series in status that are not acknowledged.
func (c course) remembered(sch *v1alpha1.EtcdBenchmarkSchedule) (open []v1alpha1.ScheduleChange) {
	for _, change := range sch.Status.Changes {
		isOf := change.Open && change.Cell == c.series.Cell && change.Metric == nameOf(*c.series) && change.Template == c.template && sameEnvironment(sch, change.Environment, c.environment)
		if isOf && !acknowledges(sch, change) {
			open = append(open, change)
		}
	}
	return open
}

// stillWorse are the changes after which the numbers are still worse, with what is left of them. from is where the last
// change begins.
func (c course) stillWorse(sch *v1alpha1.EtcdBenchmarkSchedule, changes []v1alpha1.ScheduleChange, found int) (open []v1alpha1.ScheduleChange, from int) {
	from = found
	for _, change := range changes {
		first := slices.IndexFunc(c.sessions, func(i int) bool { return !sch.Status.Sessions[i].StartTime.Before(&change.StartTime) })
		if first >= 0 {
			before, now := logarithm(change.Before), trend.Level(c.logs[max(found, first):])
			if !c.isStillWorse(before, now) {
				continue
			}
			change, from = between(change, before, now), max(from, first)
		}
		open = append(open, change)
	}
	return open, from
}

// between returns a change with the levels before and after it.
func between(change v1alpha1.ScheduleChange, before, after float64) v1alpha1.ScheduleChange {
	change.Before, change.After, change.ChangePerMillion = antilog(before), antilog(after), int64(math.Round(1e6*math.Expm1(after-before)))
	return change
}

// acknowledges reports whether an acknowledgement names the session of a change, or a later one.
func acknowledges(sch *v1alpha1.EtcdBenchmarkSchedule, change v1alpha1.ScheduleChange) bool {
	return slices.ContainsFunc(sch.Spec.Acknowledgements, func(a v1alpha1.Acknowledgement) bool {
		isLater := func(s v1alpha1.ScheduleSession) bool {
			return s.Name == a.Session && !s.StartTime.Before(&change.StartTime)
		}
		return isAbout(a, change.Cell, change.Metric) && (a.Session == change.Session || slices.ContainsFunc(sch.Status.Sessions, isLater))
	})
}
