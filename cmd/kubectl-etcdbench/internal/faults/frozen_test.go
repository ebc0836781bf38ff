package faults

import (
	"syscall"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// locked makes a run hold the lock of its target, and wait for it.
func locked(uid, prefix string, seconds int32) func(*v1alpha1.EtcdBenchmark) {
	return func(run *v1alpha1.EtcdBenchmark) {
		run.UID, run.Spec.Target.KeyPrefix, run.Spec.SchedulingTimeoutSeconds = types.UID(uid), prefix, 300
		run.Spec.Objectives, run.Spec.Guard = nil, &spec.Guard{AcceptWrites: true, StopOn: &spec.StopRules{}}
		run.Spec.Load.Rate.PerSecond, run.Spec.Load.DurationSeconds = 10, &seconds
	}
}

// A store that stands still for twice the time of its lock has expired the lock. The run that had it takes it again and
// goes on, although another run waits.
func TestAStoreThatStandsStill(t *testing.T) {
	t.Parallel()
	const still = 2 * load.LockTTL
	cluster := start(t, fault{})
	holder := puts(cluster, locked("11112222-3333-4444-5555-666677778888", "frozen/holder/", 15+int32(still/time.Second)))
	other := puts(cluster, locked("99992222-3333-4444-5555-666677778888", "frozen/other/", 1))
	ended := make(chan struct{})
	result(t, holder, func() {
		waits := make(chan struct{})
		go func() {
			defer close(ended)
			locking := func(seen *v1alpha1.EtcdBenchmark) bool {
				return seen.Status.Pods[0].Stage == string(results.StageLocking)
			}
			resultWhen(t, other, locking, func() { close(waits) })
		}()
		<-waits
		cluster.signal(t, syscall.SIGSTOP, 0)
		<-time.After(still)
		cluster.signal(t, syscall.SIGCONT, 0)
	})
	<-ended
	requireFinished(t, holder, v1alpha1.ReasonCompleted)
	requireFinished(t, other, v1alpha1.ReasonCompleted)
	if s, o := holder.Status.Summary, other.Status.Summary; o.WindowStart.Before(s.WindowEnd) {
		t.Errorf("the other run measured from %v, before the first had ended at %v", o.WindowStart, s.WindowEnd)
	}
}
