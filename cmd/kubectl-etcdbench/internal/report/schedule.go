package report

import (
	"fmt"
	"math"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/cmd/kubectl-etcdbench/internal/plots"
	"github.com/etcdbench/etcd-benchmark-operator/internal/render"
	"github.com/etcdbench/etcd-benchmark-operator/internal/text"
	"github.com/etcdbench/etcd-benchmark-operator/internal/verdict"
)

// schedulePage shows the history of a schedule.
func schedulePage(d *Document) Page {
	s := d.Schedule
	p := Page{
		Title:    "EtcdBenchmarkSchedule " + fullName(s.Namespace, s.Name),
		Manifest: manifest("EtcdBenchmarkSchedule", s.ObjectMeta, s.Spec), Repeat: d.repeatSchedule(),
	}
	p.State, p.Verdict, p.Why = verdictOfSchedule(s)
	p.Tiles = tilesOfSchedule(s)
	zone := s.Spec.TimeZone
	p.Facts = []Fact{{"schedule", strings.TrimSpace(s.Spec.Schedule + " " + zone)}, {"sessions", text.Grouped(len(s.Status.Sessions))}}
	if last := s.Status.LastSuccessfulTime; last != nil {
		p.Facts = append(p.Facts, Fact{"last success", utc(last.Time)})
	}
	p.Facts = append(p.Facts, axes(s.Spec.SuiteTemplate.Spec)...)
	p.add(
		Section{ID: "series", Title: "The history of each number", Blocks: seriesTable(s), Plots: seriesPlots(s)},
		Section{ID: "changes", Title: "Changes", Blocks: changesTable(s)},
		Section{ID: "sessions", Title: "Sessions", Blocks: sessionsTable(s)},
	)
	return p
}

// endOfSession is how the last session ended, and what is wrong with it in words. The words are empty if nothing is wrong,
// or if there is no session.
func endOfSession(s *v1alpha1.EtcdBenchmarkSchedule) (verdict.Ending, string) {
	if len(s.Status.Sessions) == 0 {
		return verdict.Unfinished, ""
	}
	last := s.Status.Sessions[len(s.Status.Sessions)-1]
	switch {
	case last.Passed == metav1.ConditionFalse:
		return verdict.Missed, "The last session missed an objective"
	case last.FailedRuns > 0:
		return verdict.Failed, "Runs of the last session could not send the load"
	case last.Reason == v1alpha1.ReasonStopped || last.Reason == v1alpha1.ReasonDeleted:
		return verdict.Open, "The last session ended as " + last.Reason
	case last.Reason != v1alpha1.ReasonCompleted:
		return verdict.Failed, "The last session ended as " + last.Reason
	case last.Passed == metav1.ConditionUnknown:
		return verdict.Open, "The last session has no verdict"
	}
	return verdict.Done, ""
}

func verdictOfSchedule(s *v1alpha1.EtcdBenchmarkSchedule) (state State, words string, why []string) {
	broken := meta.FindStatusCondition(s.Status.Conditions, v1alpha1.ConditionTrendBroken)
	suspect := meta.FindStatusCondition(s.Status.Conditions, v1alpha1.ConditionSuspect)
	for _, c := range []*metav1.Condition{broken, suspect} {
		if c != nil && c.Message != "" {
			why = append(why, c.Message)
		}
	}
	last, words := endOfSession(s)
	if words != "" {
		why = append([]string{words + "."}, why...)
	}
	switch {
	case broken != nil && broken.Status == metav1.ConditionTrue:
		return Bad, "The numbers have become worse", why
	case last != verdict.Done && words != "":
		return states[last], words, why[1:]
	case suspect != nil && suspect.Status == metav1.ConditionTrue:
		return Open, "The last session was worse than expected", why
	case suspect != nil && suspect.Status == metav1.ConditionFalse:
		return Good, "As expected", why
	}
	return Open, "Not known yet", why
}

// seriesTable has the last value of each series beside what was expected.
func seriesTable(s *v1alpha1.EtcdBenchmarkSchedule) []render.Block {
	if len(s.Status.Series) == 0 {
		return nil
	}
	rows := [][]string{{"cell", "metric", "last session", "mean before", "expected", "verdict"}}
	for _, series := range s.Status.Series {
		last, mean, expected := "–", "–", "–"
		if n := len(series.Values); n > 0 {
			last = seriesText(series, series.Values[n-1])
		}
		if e := series.Expected; e != nil {
			mean, expected = seriesText(series, e.Mean), seriesText(series, e.Low)+" to "+seriesText(series, e.High)
		}
		rows = append(rows, []string{series.Cell, seriesName(series), last, mean, expected, string(series.Verdict)})
	}
	return []render.Block{{Rows: rows, Left: 2}}
}

// unitOf is the unit of a series, and by how much its values must be divided.
func unitOf(s v1alpha1.ScheduleSeries) (plots.Unit, float64) {
	if s.Type == v1alpha1.SeriesLatency {
		return plots.Microseconds, 1
	}
	return plots.PerSecond, 1000
}

// seriesText is a value of a series; – if there is none.
func seriesText(s v1alpha1.ScheduleSeries, value int64) string {
	if value <= 0 {
		return "–"
	}
	unit, scale := unitOf(s)
	return unit.Text(float64(value) / scale)
}

// seriesPlots draw a line per series over the sessions, with the expected range of the last value.
func seriesPlots(s *v1alpha1.EtcdBenchmarkSchedule) (out []Plot) {
	for i, series := range s.Status.Series {
		unit, scale := unitOf(series)
		values, at := make([]float64, len(series.Values)), make([]float64, len(series.Values))
		rows := [][]string{{"session", "value"}}
		for n, v := range series.Values {
			values[n], at[n] = math.NaN(), float64(n+1)
			if v > 0 {
				values[n] = float64(v) / scale
			}
			if n < len(s.Status.Sessions) {
				rows = append(rows, []string{s.Status.Sessions[n].Name, seriesText(series, v)})
			}
		}
		name := series.Cell + " " + seriesName(series)
		description := "A point per session."
		if e := series.Expected; e != nil {
			description += fmt.Sprintf(" The last value was expected between %s and %s: %s.", seriesText(series, e.Low), seriesText(series, e.High), series.Verdict)
		}
		lines := []plots.TimeLine{{Label: name, Values: values, At: at}}
		out = append(out, Plot{Picture: plots.OverTime{
			About: plots.About{ID: fmt.Sprintf("series-%d", i+1), Title: name, Description: description + rangesOf(lines, unit)},
			Lines: lines, Unit: unit, Across: "session",
		}, Rows: rows})
	}
	return out
}

func seriesName(s v1alpha1.ScheduleSeries) string {
	if s.Type == v1alpha1.SeriesHighestRate {
		return "highest rate"
	}
	return v1alpha1.Metric{Type: v1alpha1.MetricType(s.Type), Operation: s.Operation, Statistic: s.Statistic}.String()
}

func changesTable(s *v1alpha1.EtcdBenchmarkSchedule) []render.Block {
	if len(s.Status.Changes) == 0 {
		return nil
	}
	rows := [][]string{{"cell", "metric", "from session", "change", "worse"}}
	for _, c := range s.Status.Changes {
		worse := "no"
		if c.Worse {
			worse = "yes"
		}
		rows = append(rows, []string{c.Cell, c.Metric, c.Session, text.SignedPercent(float64(c.ChangePerMillion) / 1e6), worse})
	}
	return []render.Block{{Rows: rows, Left: 3}}
}

// sessionsTable has the newest session first.
func sessionsTable(s *v1alpha1.EtcdBenchmarkSchedule) []render.Block {
	if len(s.Status.Sessions) == 0 {
		return nil
	}
	rows := [][]string{{"session", "started", "end", "passed", "problem"}}
	for i := len(s.Status.Sessions) - 1; i >= 0; i-- {
		session := s.Status.Sessions[i]
		passed := string(session.Passed)
		if passed == "" {
			passed = "–"
		}
		rows = append(rows, []string{session.Name, utc(session.StartTime.Time), session.Reason, passed, session.Invalid})
	}
	return []render.Block{{Rows: rows, Left: 5}}
}
