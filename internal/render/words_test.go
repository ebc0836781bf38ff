package render

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/runtest"
)

func TestTheOfferedRateIsNamed(t *testing.T) {
	tests := map[string]struct {
		rate *spec.Rate
		want string
	}{
		"closed": {nil, "closed loop (a client waits for each answer)"},
		"rate":   {&spec.Rate{PerSecond: 5_000, Arrival: spec.ArrivalConstant}, "open loop at 5,000/s (requests follow a schedule)"},
		"random": {&spec.Rate{PerSecond: 5, Arrival: spec.ArrivalPoisson}, "open loop at 5/s, Poisson arrivals (requests follow a schedule)"},
		"ramp":   {&spec.Rate{Ramp: &spec.Ramp{FromPerSecond: 0, ToPerSecond: 1_000}}, "open loop from 0/s to 1,000/s (requests follow a schedule)"},
		"stages": {&spec.Rate{Stages: []spec.RateStage{{PerSecond: 7}, {PerSecond: 9}, {}}}, "open loop in 3 stages of at most 9/s (requests follow a schedule)"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := loopText(spec.Load{Rate: tc.rate}); got != tc.want {
				t.Errorf("got %q, wanted %q", got, tc.want)
			}
		})
	}
}

// The target names how many members got load, if not all did.
func TestLoadedText(t *testing.T) {
	b := &v1alpha1.EtcdBenchmark{}
	b.Status.Target = &v1alpha1.TargetStatus{Members: []v1alpha1.MemberStatus{{Name: "a", Endpoint: "a:1"}, {Name: "b", Endpoint: "b:1"}, {Name: "c"}}}
	for selected, want := range map[spec.MemberSelection]string{spec.MembersAll: "2 of 3 members", spec.MembersLeader: "leader only"} {
		b.Spec.Target.Members = selected
		if got := loadedText(b); got != want {
			t.Errorf("%s: got %q, wanted %q", selected, got, want)
		}
	}
	b.Spec.Target.Members = spec.MembersAll
	if b.Status.Target.Members[2].Endpoint = "c:1"; loadedText(b) != "all members" {
		t.Errorf("got %q", loadedText(b))
	}
	if b.Status.Target.Members[1].Loaded = new(false); loadedText(b) != "2 of 3 members" {
		t.Errorf("got %q of a member that answered nothing", loadedText(b))
	}
}

// A run that ended without a request to a member has no members with load.
func TestLoadOfARunThatSentNone(t *testing.T) {
	ended := []metav1.Condition{{Type: v1alpha1.ConditionFinished, Status: metav1.ConditionTrue, Reason: v1alpha1.ReasonTargetUnhealthy}}
	for name, tc := range map[string]struct {
		status v1alpha1.EtcdBenchmarkStatus
		loaded bool
	}{
		"it goes on":       {v1alpha1.EtcdBenchmarkStatus{}, true},
		"nothing was sent": {v1alpha1.EtcdBenchmarkStatus{Conditions: ended}, false},
		"only checks":      {v1alpha1.EtcdBenchmarkStatus{Conditions: ended, RequestCounts: []v1alpha1.RequestCount{{RPC: "Status", Control: 6}}}, false},
		"a preload":        {v1alpha1.EtcdBenchmarkStatus{Conditions: ended, RequestCounts: []v1alpha1.RequestCount{{RPC: "Put", Preload: 5}}}, true},
		"a measurement":    {v1alpha1.EtcdBenchmarkStatus{Conditions: ended, Summary: &v1alpha1.Summary{}}, true},
	} {
		b := runtest.Puts()
		b.Status = tc.status
		b.Status.Target = &v1alpha1.TargetStatus{ClusterID: "cafe", Members: []v1alpha1.MemberStatus{{Name: "a", Endpoint: "a:1"}}}
		text, _ := cells(t, b)
		for form, got := range map[string]string{"table": text, "display": Display(b).Members, "brief": loadedPart(b)} {
			if strings.Contains(got, "all members") != tc.loaded {
				t.Errorf("%s: the %s is %q", name, form, got)
			}
		}
	}
}

// A run that does not count says which one does.
func TestInPlaceOf(t *testing.T) {
	s := &v1alpha1.EtcdBenchmarkSuite{}
	s.Status.Results = []v1alpha1.SuiteResult{{Name: "s-1-1", Cell: "a", Round: 1, Invalid: "no"}, {Name: "s-1-1-r", Cell: "a", Round: 1, Invalid: "no"}}
	first, repeated := s.Status.Results[0], s.Status.Results[1]
	if InPlaceOf(s, first) != "" || !strings.Contains(InPlaceOf(s, repeated), "that it repeats counts") {
		t.Errorf("got %q and %q", InPlaceOf(s, first), InPlaceOf(s, repeated))
	}
	if s.Status.Results[1].Invalid = ""; !strings.Contains(InPlaceOf(s, first), "its repetition counts") {
		t.Errorf("got %q", InPlaceOf(s, first))
	}
}
