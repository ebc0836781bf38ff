package command

import (
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
)

// The newest object comes first. Of equally old ones, the first by name does.
func TestTheNewestIsListedFirst(t *testing.T) {
	run := func(name string, created int64) v1alpha1.EtcdBenchmark {
		return v1alpha1.EtcdBenchmark{ObjectMeta: metav1.ObjectMeta{Name: name, CreationTimestamp: metav1.Unix(created, 0)}}
	}
	var got []string
	for _, r := range rowsOf([]v1alpha1.EtcdBenchmark{run("b", 60), run("newest", 120), run("a", 60)}, rowOfRun) {
		got = append(got, r.object.GetName())
	}
	if want := []string{"newest", "a", "b"}; !slices.Equal(got, want) {
		t.Errorf("wanted %v, got %v", want, got)
	}
}

// A suspended schedule starts nothing, whatever else its status says.
func TestRowsOfSchedules(t *testing.T) {
	next := metav1.Unix(1_790_086_400, 0)
	stalled := []metav1.Condition{{Type: v1alpha1.ConditionStalled, Status: metav1.ConditionTrue, Reason: v1alpha1.ReasonInvalidSchedule}}
	for name, tc := range map[string]struct {
		suspend       bool
		status        v1alpha1.EtcdBenchmarkScheduleStatus
		state, target string
	}{
		"waiting":   {false, v1alpha1.EtcdBenchmarkScheduleStatus{NextScheduleTime: &next}, "Waiting", "next 2026-09-22 14:13Z"},
		"running":   {false, v1alpha1.EtcdBenchmarkScheduleStatus{NextScheduleTime: &next, Active: "nightly-1", Conditions: stalled}, "Running", "next 2026-09-22 14:13Z"},
		"stalled":   {false, v1alpha1.EtcdBenchmarkScheduleStatus{Conditions: stalled}, v1alpha1.ReasonInvalidSchedule, ""},
		"suspended": {true, v1alpha1.EtcdBenchmarkScheduleStatus{NextScheduleTime: &next, Active: "nightly-1"}, "Suspended", ""},
	} {
		s := &v1alpha1.EtcdBenchmarkSchedule{Status: tc.status}
		s.Spec.Suspend = tc.suspend
		if got := rowOfSchedule(s); got.state != tc.state || got.target != tc.target {
			t.Errorf("%s: wanted %s, %q, got %s, %q", name, tc.state, tc.target, got.state, got.target)
		}
	}
}

// A suite shows how many of its runs have ended, and its first two targets.
func TestRowOfASuite(t *testing.T) {
	s := &v1alpha1.EtcdBenchmarkSuite{}
	s.Spec.Targets = []v1alpha1.SuiteTarget{{Name: "a"}, {Name: "b"}, {Name: "c"}}
	s.Status.Display = &v1alpha1.SuiteDisplay{Runs: "3/6"}
	if got := rowOfSuite(s); got.workload != "3/6 runs" || got.target != "a, b and 1 more" {
		t.Errorf("got %q and %q", got.workload, got.target)
	}
}
