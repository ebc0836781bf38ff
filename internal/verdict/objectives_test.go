package verdict

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
	"github.com/etcdbench/etcd-benchmark-operator/internal/runtest"
	"github.com/etcdbench/etcd-benchmark-operator/internal/text"
)

// The puts of runtest.Measured(0, 100) take 1 ms to 100 ms in a window of a second.
func TestJudgeOne(t *testing.T) {
	whole := []*results.Snapshot{runtest.Measured(0, 100)}
	cases := map[string]struct {
		objective v1alpha1.Objective
		snaps     []*results.Snapshot
		want      v1alpha1.ObjectiveResult
	}{
		"latency below its limit":         {runtest.MaxLatency(spec.StatisticP90, 100_000), whole, v1alpha1.ObjectiveMet},
		"latency above its limit":         {runtest.MaxLatency(spec.StatisticP90, 80_000), whole, v1alpha1.ObjectiveMissed},
		"exact maximum at its limit":      {runtest.MaxLatency(spec.StatisticMax, 100_000), whole, v1alpha1.ObjectiveMet},
		"exact maximum above its limit":   {runtest.MaxLatency(spec.StatisticMax, 99_999), whole, v1alpha1.ObjectiveMissed},
		"a limit within the bucket":       {runtest.MaxLatency(spec.StatisticP90, 90_000), whole, v1alpha1.ObjectiveUnknown},
		"mean":                            {runtest.MaxLatency(spec.StatisticMean, 50_500), whole, v1alpha1.ObjectiveMet},
		"throughput above its limit":      {runtest.MinThroughput(100), whole, v1alpha1.ObjectiveMet},
		"throughput below its limit":      {runtest.MinThroughput(101), whole, v1alpha1.ObjectiveMissed},
		"no errors":                       {runtest.MaxErrors(0), whole, v1alpha1.ObjectiveMet},
		"nothing measured":                {runtest.MaxErrors(0), []*results.Snapshot{runtest.Measured(0, 0)}, v1alpha1.ObjectiveUnknown},
		"operation that was not sent":     {rangeLatency(), whole, v1alpha1.ObjectiveUnknown},
		"percentile among failed ones":    {runtest.MaxLatency(spec.StatisticP90, 600_000_000), []*results.Snapshot{runtest.Measured(0, 80, runtest.Failing(20, "Unavailable", time.Millisecond))}, v1alpha1.ObjectiveMissed},
		"percentile below failed ones":    {runtest.MaxLatency(spec.StatisticP50, 60_000), []*results.Snapshot{runtest.Measured(0, 98, runtest.Failing(2, "Unavailable", time.Millisecond))}, v1alpha1.ObjectiveMet},
		"as many errors as allowed":       {runtest.MaxErrors(20_000), []*results.Snapshot{runtest.Measured(0, 98, runtest.Failing(2, "Unavailable", time.Millisecond))}, v1alpha1.ObjectiveMet},
		"more errors than allowed":        {runtest.MaxErrors(19_999), []*results.Snapshot{runtest.Measured(0, 98, runtest.Failing(2, "Unavailable", time.Millisecond))}, v1alpha1.ObjectiveMissed},
		"cut-off requests could fail":     {runtest.MaxErrors(10_000), []*results.Snapshot{runtest.Measured(0, 98, runtest.CutOff(2, time.Millisecond))}, v1alpha1.ObjectiveUnknown},
		"cut-off requests, long enough":   {runtest.MaxLatency(spec.StatisticMax, 300_000), []*results.Snapshot{runtest.Measured(0, 98, runtest.CutOff(2, time.Second))}, v1alpha1.ObjectiveMissed},
		"cut-off requests, without say":   {runtest.MaxLatency(spec.StatisticP90, 300_000), []*results.Snapshot{runtest.Measured(0, 98, runtest.CutOff(2, 200*time.Millisecond))}, v1alpha1.ObjectiveMet},
		"cut-off requests, with say":      {runtest.MaxLatency(spec.StatisticP90, 300_000), []*results.Snapshot{runtest.Measured(0, 80, runtest.CutOff(20, 200*time.Millisecond))}, v1alpha1.ObjectiveUnknown},
		"cut-off requests, too short":     {runtest.MaxLatency(spec.StatisticMax, 300_000), []*results.Snapshot{runtest.Measured(0, 98, runtest.CutOff(2, 200*time.Millisecond))}, v1alpha1.ObjectiveUnknown},
		"lost pod, latency kept":          {runtest.MaxLatency(spec.StatisticP90, 100_000), []*results.Snapshot{runtest.Measured(0, 100), nil}, v1alpha1.ObjectiveUnknown},
		"lost pod, throughput kept":       {runtest.MinThroughput(1), []*results.Snapshot{runtest.Measured(0, 100), nil}, v1alpha1.ObjectiveUnknown},
		"lost pod, throughput is missing": {runtest.MinThroughput(1_000_000), []*results.Snapshot{runtest.Measured(0, 100), nil}, v1alpha1.ObjectiveUnknown},
		"lost pod, errors kept":           {runtest.MaxErrors(0), []*results.Snapshot{runtest.Measured(0, 100), nil}, v1alpha1.ObjectiveUnknown},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := results.Summarize(tc.snaps)
			got, _ := Judge(runtest.Puts(runtest.Objectives(tc.objective)), &s, v1alpha1.ReasonCompleted)
			if len(got) != 1 || got[0].Result != tc.want || got[0].Name != tc.objective.Name {
				t.Errorf("wanted %s of %s, got %+v", tc.want, tc.objective.Name, got)
			}
		})
	}
}

func rangeLatency() v1alpha1.Objective {
	o := runtest.MaxLatency(spec.StatisticP50, 1)
	o.Latency.Operation = spec.OperationRange
	return o
}

func TestJudgePassed(t *testing.T) {
	met, missed, unknown := runtest.MinThroughput(1), runtest.MaxLatency(spec.StatisticMax, 1), rangeLatency()
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
	s := results.Summarize([]*results.Snapshot{runtest.Measured(0, 100)})
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			objectives, got := Judge(runtest.Puts(runtest.Objectives(tc.objectives...)), &s, v1alpha1.ReasonCompleted)
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
	if objectives, passed := Judge(runtest.Puts(), nil, v1alpha1.ReasonCompleted); objectives != nil || passed != nil {
		t.Errorf("without objectives there is nothing to judge, got %v and %v", objectives, passed)
	}
	objectives, passed := Judge(runtest.Puts(runtest.Objectives(runtest.MinThroughput(1))), nil, v1alpha1.ReasonCompleted)
	if objectives[0].Result != v1alpha1.ObjectiveUnknown || passed.Status != metav1.ConditionUnknown {
		t.Errorf("without numbers all is Unknown, got %v and %v", objectives, passed)
	}
}

// A value must never be shown as equal to the limit that it misses.
func TestGotDiffersFromWanted(t *testing.T) {
	for limit := int64(1); limit < 5_000_000; limit = limit*3 + 7 {
		at := time.Duration(limit) * time.Microsecond
		if text.Exact(at+1) == text.Exact(at) {
			t.Errorf("%d µs and a nanosecond more are both shown as %s", limit, text.Exact(at))
		}
	}
}

// The measured numbers meet the objective, but they are not from the whole workload.
func TestJudgePassesOnlyWholeRuns(t *testing.T) {
	stopped := runtest.Measured(0, 100)
	stopped.Stopped = true
	cases := map[string]struct {
		snap   *results.Snapshot
		reason string
		want   metav1.ConditionStatus
	}{
		"completed":         {runtest.Measured(0, 100), v1alpha1.ReasonCompleted, metav1.ConditionTrue},
		"stopped":           {stopped, v1alpha1.ReasonStopped, metav1.ConditionUnknown},
		"stopped in a part": {stopped, v1alpha1.ReasonCompleted, metav1.ConditionUnknown},
		"timed out":         {runtest.Measured(0, 100), v1alpha1.ReasonTimedOut, metav1.ConditionUnknown},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := results.Summarize([]*results.Snapshot{tc.snap})
			_, got := Judge(runtest.Puts(runtest.Objectives(runtest.MinThroughput(1))), &s, tc.reason)
			if got.Status != tc.want {
				t.Errorf("wanted Passed=%s, got %s: %s", tc.want, got.Status, got.Message)
			}
		})
	}
}

// The shown value is the judged value.
func TestAThroughputJustBelowItsLimit(t *testing.T) {
	for want, done := range map[v1alpha1.ObjectiveResult]uint64{
		v1alpha1.ObjectiveMet:    10_000_000_000,
		v1alpha1.ObjectiveMissed: 9_999_999_999,
	} {
		length := 10_000_000 * time.Second
		s := results.Summary{Throughput: float64(done) / length.Seconds(), Completed: done, Length: length}
		v := judgeThroughput(v1alpha1.ThroughputObjective{MinPerSecond: 1000}, throughputOf(runtest.Puts(), s), s)
		if v.result != want || (v.got == "1,000/s") != (want == v1alpha1.ObjectiveMet) {
			t.Errorf("%d in %v: wanted %s, got %+v", done, length, want, v)
		}
	}
}
