package verdict

import (
	"testing"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
	"github.com/etcdbench/etcd-benchmark-operator/internal/runtest"
)

func TestAnObjectiveOfEventsRanksMissedOnesLast(t *testing.T) {
	for name, tc := range map[string]struct {
		missed int
		want   v1alpha1.ObjectiveResult
	}{
		"none missed":  {0, v1alpha1.ObjectiveMet},
		"some, beyond": {20, v1alpha1.ObjectiveMissed},
	} {
		t.Run(name, func(t *testing.T) {
			o := runtest.MaxLatency(spec.StatisticP90, 100_000)
			o.Latency.Operation = spec.OperationWatchEvent
			s := results.Summarize([]*results.Snapshot{runtest.Measured(0, 100, runtest.Events(tc.missed))})
			got, _ := Judge(runtest.Puts(runtest.Objectives(o)), &s, v1alpha1.ReasonCompleted)
			if got[0].Result != tc.want {
				t.Errorf("got %+v, wanted %s", got[0], tc.want)
			}
		})
	}
}

// Events of unanswered puts are in no latency, and could be later than any other event.
func TestEventsOfUnansweredPutsKeepObjectivesFromBeingMet(t *testing.T) {
	const limit = 2_000_000
	for name, tc := range map[string]struct {
		unanswered int
		statistic  spec.Statistic
		want       v1alpha1.ObjectiveResult
	}{
		"none":                 {0, spec.StatisticMax, v1alpha1.ObjectiveMet},
		"few of many":          {4, spec.StatisticP95, v1alpha1.ObjectiveMet},
		"more than a tail":     {60, spec.StatisticP95, v1alpha1.ObjectiveUnknown},
		"one, for the last":    {1, spec.StatisticMax, v1alpha1.ObjectiveUnknown},
		"one, for a mean":      {1, spec.StatisticMean, v1alpha1.ObjectiveUnknown},
		"one, for a spread":    {1, spec.StatisticStddev, v1alpha1.ObjectiveUnknown},
		"of puts, they failed": {60, spec.StatisticP50, v1alpha1.ObjectiveMet},
	} {
		t.Run(name, func(t *testing.T) {
			snap := runtest.Measured(0, 1000, runtest.Events(0), func(s *results.Snapshot) {
				for range tc.unanswered {
					s.Operations[spec.OperationPut].Failed.Record(time.Second.Nanoseconds())
				}
			})
			s := results.Summarize([]*results.Snapshot{snap})
			b := runtest.Puts()
			b.Spec.Objectives = []v1alpha1.Objective{{Name: "events", Type: spec.ObjectiveLatency, Latency: &v1alpha1.LatencyObjective{
				Operation: spec.OperationWatchEvent, Statistic: tc.statistic, MaxMicroseconds: limit,
			}}}
			got, _ := Judge(b, &s, v1alpha1.ReasonCompleted)
			if got[0].Result != tc.want {
				t.Errorf("wanted %s, got %+v", tc.want, got[0])
			}
		})
	}
}
