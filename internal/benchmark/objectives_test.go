package benchmark

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// The puts of measured(0, 100) take 1 ms to 100 ms in a window of a second.
func TestJudgeOne(t *testing.T) {
	whole := []*results.Snapshot{measured(0, 100)}
	cases := map[string]struct {
		objective v1alpha1.Objective
		snaps     []*results.Snapshot
		want      v1alpha1.ObjectiveResult
	}{
		"latency below its limit":         {maxLatency(v1alpha1.StatisticP99, 100_000), whole, v1alpha1.ObjectiveMet},
		"latency above its limit":         {maxLatency(v1alpha1.StatisticP99, 90_000), whole, v1alpha1.ObjectiveMissed},
		"exact maximum at its limit":      {maxLatency(v1alpha1.StatisticMax, 100_000), whole, v1alpha1.ObjectiveMet},
		"exact maximum above its limit":   {maxLatency(v1alpha1.StatisticMax, 99_999), whole, v1alpha1.ObjectiveMissed},
		"a limit within the bucket":       {maxLatency(v1alpha1.StatisticP99, 99_000), whole, v1alpha1.ObjectiveUnknown},
		"mean":                            {maxLatency(v1alpha1.StatisticMean, 50_500), whole, v1alpha1.ObjectiveMet},
		"throughput above its limit":      {minThroughput(100), whole, v1alpha1.ObjectiveMet},
		"throughput below its limit":      {minThroughput(101), whole, v1alpha1.ObjectiveMissed},
		"no errors":                       {maxErrors(0), whole, v1alpha1.ObjectiveMet},
		"nothing measured":                {maxErrors(0), []*results.Snapshot{measured(0, 0)}, v1alpha1.ObjectiveUnknown},
		"operation that was not sent":     {rangeLatency(), whole, v1alpha1.ObjectiveUnknown},
		"percentile among failed ones":    {maxLatency(v1alpha1.StatisticP99, 600_000_000), []*results.Snapshot{measured(0, 98, failing(2, "Unavailable", time.Millisecond))}, v1alpha1.ObjectiveMissed},
		"percentile below failed ones":    {maxLatency(v1alpha1.StatisticP50, 60_000), []*results.Snapshot{measured(0, 98, failing(2, "Unavailable", time.Millisecond))}, v1alpha1.ObjectiveMet},
		"as many errors as allowed":       {maxErrors(20_000), []*results.Snapshot{measured(0, 98, failing(2, "Unavailable", time.Millisecond))}, v1alpha1.ObjectiveMet},
		"more errors than allowed":        {maxErrors(19_999), []*results.Snapshot{measured(0, 98, failing(2, "Unavailable", time.Millisecond))}, v1alpha1.ObjectiveMissed},
		"cut-off requests could fail":     {maxErrors(10_000), []*results.Snapshot{measured(0, 98, cutOff(2, time.Millisecond))}, v1alpha1.ObjectiveUnknown},
		"cut-off requests, long enough":   {maxLatency(v1alpha1.StatisticMax, 300_000), []*results.Snapshot{measured(0, 98, cutOff(2, time.Second))}, v1alpha1.ObjectiveMissed},
		"cut-off requests, without say":   {maxLatency(v1alpha1.StatisticP90, 300_000), []*results.Snapshot{measured(0, 98, cutOff(2, 200*time.Millisecond))}, v1alpha1.ObjectiveMet},
		"cut-off requests, with say":      {maxLatency(v1alpha1.StatisticP99, 300_000), []*results.Snapshot{measured(0, 98, cutOff(2, 200*time.Millisecond))}, v1alpha1.ObjectiveUnknown},
		"cut-off requests, too short":     {maxLatency(v1alpha1.StatisticMax, 300_000), []*results.Snapshot{measured(0, 98, cutOff(2, 200*time.Millisecond))}, v1alpha1.ObjectiveUnknown},
		"lost pod, latency kept":          {maxLatency(v1alpha1.StatisticP99, 100_000), []*results.Snapshot{measured(0, 100), nil}, v1alpha1.ObjectiveUnknown},
		"lost pod, latency missed":        {maxLatency(v1alpha1.StatisticP99, 1_000), []*results.Snapshot{measured(0, 100), nil}, v1alpha1.ObjectiveMissed},
		"lost pod, throughput kept":       {minThroughput(1), []*results.Snapshot{measured(0, 100), nil}, v1alpha1.ObjectiveUnknown},
		"lost pod, throughput is missing": {minThroughput(1_000_000), []*results.Snapshot{measured(0, 100), nil}, v1alpha1.ObjectiveUnknown},
		"lost pod, errors kept":           {maxErrors(0), []*results.Snapshot{measured(0, 100), nil}, v1alpha1.ObjectiveUnknown},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := results.Summarize(tc.snaps)
			got, _ := Judge(putRun(withObjectives(tc.objective)), &s, v1alpha1.ReasonCompleted)
			if len(got) != 1 || got[0].Result != tc.want || got[0].Name != tc.objective.Name {
				t.Errorf("wanted %s of %s, got %+v", tc.want, tc.objective.Name, got)
			}
		})
	}
}

func rangeLatency() v1alpha1.Objective {
	o := maxLatency(v1alpha1.StatisticP50, 1)
	o.Latency.Operation = v1alpha1.OperationRange
	return o
}

func TestJudgePassed(t *testing.T) {
	met, missed, unknown := minThroughput(1), maxLatency(v1alpha1.StatisticMax, 1), rangeLatency()
	cases := map[string]struct {
		objectives []v1alpha1.Objective
		want       metav1.ConditionStatus
		wantReason string
	}{
		"all met":                  {[]v1alpha1.Objective{met}, metav1.ConditionTrue, v1alpha1.ReasonObjectivesMet},
		"one missed":               {[]v1alpha1.Objective{met, missed}, metav1.ConditionFalse, v1alpha1.ReasonObjectivesMissed},
		"one unknown":              {[]v1alpha1.Objective{met, unknown}, metav1.ConditionUnknown, v1alpha1.ReasonNotJudged},
		"missed outweighs unknown": {[]v1alpha1.Objective{unknown, missed, met}, metav1.ConditionFalse, v1alpha1.ReasonObjectivesMissed},
	}
	s := results.Summarize([]*results.Snapshot{measured(0, 100)})
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			objectives, got := Judge(putRun(withObjectives(tc.objectives...)), &s, v1alpha1.ReasonCompleted)
			if got == nil || got.Type != v1alpha1.ConditionPassed || got.Status != tc.want || got.Reason != tc.wantReason {
				t.Errorf("wanted %s/%s, got %+v", tc.want, tc.wantReason, got)
			}
			if len(objectives) != len(tc.objectives) {
				t.Errorf("wanted a result for each of %d objectives, got %+v", len(tc.objectives), objectives)
			}
		})
	}
}

func TestJudgeWithoutObjectivesOrNumbers(t *testing.T) {
	if objectives, passed := Judge(putRun(), nil, v1alpha1.ReasonCompleted); objectives != nil || passed != nil {
		t.Errorf("without objectives there is nothing to judge, got %v and %v", objectives, passed)
	}
	objectives, passed := Judge(putRun(withObjectives(minThroughput(1))), nil, v1alpha1.ReasonCompleted)
	if objectives[0].Result != v1alpha1.ObjectiveUnknown || passed.Status != metav1.ConditionUnknown {
		t.Errorf("without numbers all is Unknown, got %v and %v", objectives, passed)
	}
}

// A value must never look like the limit that it misses.
func TestGotIsToldApartFromWanted(t *testing.T) {
	for limit := int64(1); limit < 5_000_000; limit = limit*3 + 7 {
		at := time.Duration(limit) * time.Microsecond
		if exactMicros(at+1) == exactMicros(at) {
			t.Errorf("%d µs and a nanosecond more are both shown as %s", limit, exactMicros(at))
		}
	}
}

// What was measured meets the objective, but it is not what was asked for.
func TestJudgePassesOnlyWholeRuns(t *testing.T) {
	stopped := measured(0, 100)
	stopped.Stopped = true
	cases := map[string]struct {
		snap   *results.Snapshot
		reason string
		want   metav1.ConditionStatus
	}{
		"completed":         {measured(0, 100), v1alpha1.ReasonCompleted, metav1.ConditionTrue},
		"stopped":           {stopped, v1alpha1.ReasonStopped, metav1.ConditionUnknown},
		"stopped in a part": {stopped, v1alpha1.ReasonCompleted, metav1.ConditionUnknown},
		"timed out":         {measured(0, 100), v1alpha1.ReasonTimedOut, metav1.ConditionUnknown},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := results.Summarize([]*results.Snapshot{tc.snap})
			_, got := Judge(putRun(withObjectives(minThroughput(1))), &s, tc.reason)
			if got.Status != tc.want {
				t.Errorf("wanted Passed=%s, got %s: %s", tc.want, got.Status, got.Message)
			}
		})
	}
}
