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
	onProfile := func(b *v1alpha1.EtcdBenchmark) { b.Spec.Profile = v1alpha1.ProfileSmall }
	for cause, pod := range map[v1alpha1.ValidityCause]*results.Snapshot{
		v1alpha1.CauseThrottled: served(idle(with(results.ProcessThrottledSeconds, 5)), time.Millisecond, 0),
		v1alpha1.CauseBusy:      served(idle(with(results.ProcessCPUSeconds, 18)), time.Millisecond, 0),
		v1alpha1.CauseLoop:      served(idle(with(results.ProcessLoopBusyRatio, 1)), time.Millisecond, 0),
		v1alpha1.CauseDelayed:   served(idle(with(results.ProcessThreadDelaySeconds, 1)), time.Millisecond, 0),
		v1alpha1.CauseLate:      served(idle(), time.Millisecond, time.Millisecond),
	} {
		s := results.Summarize([]*results.Snapshot{pod})
		free, set := Clients(runtest.Puts(), s).Reasons, Clients(runtest.Puts(onProfile), s).Reasons
		if len(free) != 1 || len(set) != 1 || free[0].Cause != cause || set[0].Cause != cause {
			t.Errorf("wanted the cause %s, got %+v and, with a profile, %+v", cause, free, set)
			continue
		}
		if got := free[0]; !strings.Contains(got.Change, "load.") {
			t.Errorf("%s without a profile: got %+v", cause, got)
		}
		if got := set[0].Change; strings.Contains(got, "load.") || !strings.Contains(got, "status.resolved") || len(got) > v1alpha1.MaxMessageLength {
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
