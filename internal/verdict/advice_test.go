package verdict

import (
	"strings"
	"testing"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
	"github.com/etcdbench/etcd-benchmark-operator/internal/runtest"
)

// A profile sets the load, so the fields of the load must not be advised.
func TestAdviceNamesFieldsThatCanBeSet(t *testing.T) {
	limited := idle(with(results.ProcessThrottledSeconds, 5), with(results.ProcessCPUSeconds, 18), with(results.ProcessThreadDelaySeconds, 1), with(results.ProcessLoopBusyRatio, 1))
	s := results.Summarize([]*results.Snapshot{served(limited, time.Millisecond, time.Millisecond)})
	free := Clients(runtest.Puts(), s).Reasons
	set := Clients(runtest.Puts(func(b *v1alpha1.EtcdBenchmark) { b.Spec.Profile = v1alpha1.ProfileSmall }), s).Reasons
	causes := []v1alpha1.ValidityCause{v1alpha1.CauseThrottled, v1alpha1.CauseBusy, v1alpha1.CauseLoop, v1alpha1.CauseDelayed, v1alpha1.CauseLate}
	if len(free) != len(causes) || len(set) != len(causes) {
		t.Fatalf("wanted the causes %v, got %+v and, with a profile, %+v", causes, free, set)
	}
	for i, cause := range causes {
		if got := free[i]; got.Cause != cause || !strings.Contains(got.Change, "load.") {
			t.Errorf("%s without a profile: got %+v", cause, got)
		}
		got := set[i].Change
		if set[i].Cause != cause || strings.Contains(got, "load.") || !strings.Contains(got, "status.resolved") || len(got) > v1alpha1.MaxMessageLength {
			t.Errorf("%s with a profile: got %d characters: %q", cause, len(got), got)
		}
	}
}

func TestTheResultHasAdviceThatFits(t *testing.T) {
	late := results.Summarize([]*results.Snapshot{served(idle(), time.Millisecond, time.Millisecond)})
	b := &v1alpha1.EtcdBenchmark{Spec: v1alpha1.EtcdBenchmarkSpec{Profile: v1alpha1.ProfileMedium}}
	if got := Clients(b, late).Reasons[0].Change; !strings.Contains(got, "processors of their own") || strings.Contains(got, "spec.load") && !strings.Contains(got, "replace spec.profile") {
		t.Errorf("got the advice %q", got)
	}
}
