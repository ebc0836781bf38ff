package verdict

import (
	"strings"
	"testing"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
	"github.com/etcdbench/etcd-benchmark-operator/internal/runtest"
)

// A profile and a number of nodes set the load, so the fields of the load must not be advised.
func TestAdviceNamesFieldsThatCanBeSet(t *testing.T) {
	derived := map[string]func(*v1alpha1.EtcdBenchmark){
		"a profile": func(b *v1alpha1.EtcdBenchmark) { b.Spec.Profile = v1alpha1.ProfileSmall },
		"nodes":     func(b *v1alpha1.EtcdBenchmark) { b.Spec.Kubernetes = &v1alpha1.KubernetesCluster{Nodes: 500} },
	}
	for cause, pod := range map[v1alpha1.ValidityCause]*results.Snapshot{
		v1alpha1.CauseThrottled: served(idle(with(results.ProcessThrottledSeconds, 5)), time.Millisecond, 0),
		v1alpha1.CauseBusy:      served(idle(with(results.ProcessCPUSeconds, 18)), time.Millisecond, 0),
		v1alpha1.CauseLoop:      served(idle(with(results.ProcessLoopBusyRatio, 1)), time.Millisecond, 0),
		v1alpha1.CauseDelayed:   served(idle(with(results.ProcessThreadDelaySeconds, 1)), time.Millisecond, 0),
		v1alpha1.CauseLate:      served(idle(), time.Millisecond, time.Millisecond),
	} {
		s := results.Summarize([]*results.Snapshot{pod})
		free := Clients(runtest.Puts(), s).Reasons
		if len(free) != 1 || free[0].Cause != cause || !strings.Contains(free[0].Change, "load.") {
			t.Errorf("wanted the cause %s, got %+v", cause, free)
			continue
		}
		for by, change := range derived {
			set := Clients(runtest.Puts(change), s).Reasons
			if len(set) != 1 || set[0].Cause != cause {
				t.Errorf("wanted the cause %s with %s, got %+v", cause, by, set)
				continue
			}
			if got := set[0].Change; strings.Contains(got, "load.") || !strings.Contains(got, "status.resolved") || len(got) > v1alpha1.MaxMessageLength {
				t.Errorf("%s with %s: got %d characters: %q", cause, by, len(got), got)
			}
		}
	}
}

// What sets the number of clients is what must change.
func TestAdviceForTooFewClients(t *testing.T) {
	s := results.Summarize([]*results.Snapshot{served(idle(), time.Millisecond, 0)})
	for want, b := range map[string]*v1alpha1.EtcdBenchmark{
		"choose a smaller spec.profile": {Spec: v1alpha1.EtcdBenchmarkSpec{Profile: v1alpha1.ProfileSmall}},
		"lower spec.kubernetes.nodes":   {Spec: v1alpha1.EtcdBenchmarkSpec{Kubernetes: &v1alpha1.KubernetesCluster{Nodes: 500}}},
		"Set spec.load.clients":         runtest.Puts(),
	} {
		if got := advice(b, s, 1e6, time.Second, 1e6); !strings.Contains(got, want) {
			t.Errorf("got %q, wanted %q in it", got, want)
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
