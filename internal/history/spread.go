package history

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/suite"
	"github.com/etcdbench/etcd-benchmark-operator/internal/trend"
)

// Spreads says how much sessions of a suite differ that are equal: those of the schedule with the same template. of is a
// suite that the schedule has created. The suites of these names are left out, because they are compared with each other.
func Spreads(sch *v1alpha1.EtcdBenchmarkSchedule, of *v1alpha1.EtcdBenchmarkSuite, without ...string) suite.Histories {
	template := TemplateID(of.Spec)
	return suite.Histories{
		Schedule: sch.Name, Rounds: max(of.Spec.Rounds, 1),
		Of: func(cell string, m v1alpha1.Metric, in v1alpha1.Environment) (sessions int, spread float64) {
			for _, s := range sch.Status.Series {
				if s.Cell == cell && nameOf(s) == m.String() {
					return spreadOf(sch, s, func(o v1alpha1.ScheduleSession) bool {
						return o.Template == template && sameEnvironment(sch, o.Environment, in) && !slices.Contains(without, o.Name)
					})
				}
			}
			return 0, 0
		},
	}
}

// spreadOf is the standard deviation of the logarithms of a series, and of how many sessions. Only those count since the
// numbers last changed, or were acknowledged to have changed: a change is no spread.
func spreadOf(sch *v1alpha1.EtcdBenchmarkSchedule, series v1alpha1.ScheduleSeries, counts func(v1alpha1.ScheduleSession) bool) (sessions int, spread float64) {
	var logs []float64
	for i, v := range series.Values {
		if isAcknowledged(sch, series, i) {
			logs = nil
		}
		if v > 0 && counts(sch.Status.Sessions[i]) {
			logs = append(logs, math.Log(float64(v)))
		}
	}
	changes, _ := trend.Changes(logs, nil, float64(series.TolerancePercent)/100)
	logs = logs[trend.Segment(logs, nil, changes):]
	if len(logs) < 2 {
		return len(logs), 0
	}
	return len(logs), stat.StdDev(logs, nil)
}
