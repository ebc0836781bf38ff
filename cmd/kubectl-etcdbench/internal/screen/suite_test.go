package screen

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/suite"
)

// twoLoads is a suite of two cells and one round.
func twoLoads() *v1alpha1.EtcdBenchmarkSuite {
	s := &v1alpha1.EtcdBenchmarkSuite{}
	s.Name = "small"
	s.Spec.Targets = []v1alpha1.SuiteTarget{{Name: "etcd"}}
	s.Spec.Workloads = []v1alpha1.SuiteWorkload{{Name: "put"}}
	s.Spec.Loads = []v1alpha1.SuiteLoad{{Name: "one"}, {Name: "two"}}
	s.Spec.Rounds = 1
	s.Status.Conditions = []metav1.Condition{{Type: v1alpha1.ConditionFinished, Status: metav1.ConditionFalse, Reason: v1alpha1.StageRunning, Message: "Some message."}}
	suite.Update(s)
	return s
}

func result(change func(*v1alpha1.SuiteResult)) v1alpha1.SuiteResult {
	r := v1alpha1.SuiteResult{
		Name: "small-1-1", Cell: "one", Round: 1, Reason: v1alpha1.ReasonCompleted,
		Operations: []v1alpha1.SuiteOperation{
			{Operation: spec.OperationPut, ThroughputMilliPerSecond: 12_000_000, P99Microseconds: 25_100},
			{Operation: spec.OperationRange, ThroughputMilliPerSecond: 345_000, P99Microseconds: 1000, Failed: 3},
		},
	}
	if change != nil {
		change(&r)
	}
	return r
}

func TestLineOfASuite(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(*v1alpha1.EtcdBenchmarkSuite)
		want   string
	}{
		"checking":  {func(s *v1alpha1.EtcdBenchmarkSuite) { s.Status.Conditions[0].Reason = v1alpha1.StageChecking }, "Checking  Some message."},
		"no status": {func(s *v1alpha1.EtcdBenchmarkSuite) { s.Status = v1alpha1.EtcdBenchmarkSuiteStatus{} }, "Pending"},
		"between":   {func(*v1alpha1.EtcdBenchmarkSuite) {}, "Some message."},
		"first":     {func(s *v1alpha1.EtcdBenchmarkSuite) { s.Status.Current = "small-1-1" }, "Run 1 of 2: one, round 1."},
		"second": {func(s *v1alpha1.EtcdBenchmarkSuite) {
			s.Status.Current, s.Status.Results = "small-2-1", []v1alpha1.SuiteResult{result(nil)}
		}, "Run 2 of 2: two, round 1."},
		"cleaning": {func(s *v1alpha1.EtcdBenchmarkSuite) {
			s.Status.Current, s.Status.Results = "small-1-1", []v1alpha1.SuiteResult{result(nil)}
		}, "The operator waits until the keys of one, round 1 are deleted."},
		"repetition": {func(s *v1alpha1.EtcdBenchmarkSuite) {
			s.Spec.Compare = &v1alpha1.SuiteCompare{}
			s.Status.Results = []v1alpha1.SuiteResult{result(func(r *v1alpha1.SuiteResult) { r.Invalid = "x" }), result(func(r *v1alpha1.SuiteResult) { r.Name = "small-2-1" })}
			p, _ := suite.Next(s)
			s.Status.Current = p.Name
		}, "Repetition of an invalid run: one, round 1."},
		"of a newer operator": {func(s *v1alpha1.EtcdBenchmarkSuite) { s.Status.Current = "other" }, "The run other is in progress."},
		"stopping":            {func(s *v1alpha1.EtcdBenchmarkSuite) { s.Spec.Stop, s.Status.Current = true, "small-1-1" }, "Stopping. Run 1 of 2: one, round 1."},
		"finished": {func(s *v1alpha1.EtcdBenchmarkSuite) {
			s.Status.Conditions[0].Status, s.Status.Conditions[0].Reason = metav1.ConditionTrue, v1alpha1.ReasonCompleted
		}, "Completed"},
	} {
		t.Run(name, func(t *testing.T) {
			s := twoLoads()
			tc.change(s)
			if s.Spec.Loads != nil && s.Status.Conditions != nil {
				suite.Update(s)
			}
			if got := suiteLine(s); got != tc.want {
				t.Errorf("got %q, wanted %q", got, tc.want)
			}
		})
	}
}

func TestTheEndOfARunOfASuite(t *testing.T) {
	for name, tc := range map[string]struct {
		result v1alpha1.SuiteResult
		want   string
	}{
		"no objectives": {result(nil), "one, round 1: Completed  12,345/s  Put p99 25.1ms  3 failed"},
		"met":           {result(func(r *v1alpha1.SuiteResult) { r.Passed = metav1.ConditionTrue }), "one, round 1: Completed  12,345/s  Put p99 25.1ms  3 failed  passed"},
		"missed": {result(func(r *v1alpha1.SuiteResult) {
			r.Passed, r.Missed, r.Operations = metav1.ConditionFalse, "p99 25ms > 5ms", nil
		}),
			"one, round 1: Completed  missed: p99 25ms > 5ms"},
		"not judged": {result(func(r *v1alpha1.SuiteResult) { r.Passed, r.Operations = metav1.ConditionUnknown, nil }), "one, round 1: Completed  not judged"},
		"unanswered": {result(func(r *v1alpha1.SuiteResult) { r.Operations[0].AtLeast = true }), "one, round 1: Completed  12,345/s  Put p99 ≥25.1ms  3 failed"},
		"parts and events": {result(func(r *v1alpha1.SuiteResult) {
			r.Operations = []v1alpha1.SuiteOperation{
				{Operation: spec.OperationLockAcquire, ThroughputMilliPerSecond: 500_000, P99Microseconds: 2000},
				{Operation: spec.OperationLockRelease, ThroughputMilliPerSecond: 500_000, P99Microseconds: 3000},
				{Operation: spec.OperationLockHandOff, ThroughputMilliPerSecond: 400_000, P99Microseconds: 9000, Failed: 4},
			}
		}), "one, round 1: Completed  500/s  LockRelease p99 3ms"},
		"deleted": {v1alpha1.SuiteResult{Cell: "one", Round: 1, Reason: v1alpha1.ReasonDeleted, Invalid: "it was deleted before it ended"},
			"one, round 1: Deleted  invalid: it was deleted before it ended"},
	} {
		s := twoLoads()
		s.Status.Results = []v1alpha1.SuiteResult{tc.result}
		if got := Ended(s, 0); got != tc.want {
			t.Errorf("%s: got %q, wanted %q", name, got, tc.want)
		}
	}
	s := twoLoads()
	s.Status.Results = []v1alpha1.SuiteResult{result(nil), result(nil)}
	if got := Ended(s, 1); !strings.HasPrefix(got, "one, round 1, repeated: Completed") {
		t.Errorf("got %q, wanted a repetition", got)
	}
}

// The time that is left is as of now, and a line without another change is not written for it.
func TestTheTimeThatASuiteTakes(t *testing.T) {
	var out strings.Builder
	clock := &fakeClock{at: time.Unix(1000, 0)}
	screen := newScreen(&out, nil, clock.now)
	s := twoLoads()
	s.Status.Current, s.Status.EstimatedEnd = "small-1-1", &metav1.Time{Time: time.Unix(1090, 0)}
	for range 7 {
		screen.ShowSuite(s)
		clock.at = clock.at.Add(5 * time.Second)
	}
	want := "0:00  small  Run 1 of 2: one, round 1. All runs end in about 1m30s.\n" +
		"0:30  small  Run 1 of 2: one, round 1. All runs end in about 1m0s.\n"
	if got := out.String(); got != want {
		t.Errorf("got\n%s\nwanted\n%s", got, want)
	}
	s.Spec.Stop = true
	screen.ShowSuite(s)
	if got := strings.TrimPrefix(out.String(), want); got != "0:35  small  Stopping. Run 1 of 2: one, round 1.\n" {
		t.Errorf("got %q: a suite that is stopped ends at another time", got)
	}
}
