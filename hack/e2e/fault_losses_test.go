//go:build e2e

package e2e

import (
	"syscall"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
)

// lossFaults take a client pod from runs that are to go on without it. One that
// was killed has left its mark in the store; the other, told that it is dead, does
// not wait for that until its patience or the run's time are over.
func lossFaults() map[string]fault {
	goOn := func(timeoutSeconds int32) func(*v1alpha1.EtcdBenchmark) {
		return func(b *v1alpha1.EtcdBenchmark) {
			b.Spec.OnPodLost = v1alpha1.PodLossContinue
			b.Spec.Load.Requests, b.Spec.TimeoutSeconds = new(int64(1500)), timeoutSeconds
		}
	}
	without := func(lives int, reported ...int) outcome {
		return outcome{
			reason: v1alpha1.ReasonPartlyCompleted, says: "spec.onPodLost", result: partial, reported: append(reported, lives), did: []int{lives},
			atMost: 3 * time.Minute,
		}
	}
	blind := without(1)
	blind.says = "without a look at what the members do"
	return map[string]fault{
		"client pod killed and the other goes on": {strike: signalPod(1, syscall.SIGKILL), change: goOn(300), in: map[string]outcome{
			v1alpha1.StageRunning: without(0), v1alpha1.StageCollecting: without(0),
		}},
		"client pod deleted and the other goes on": {strike: deletePod(1), change: goOn(75), in: map[string]outcome{
			v1alpha1.StageRunning: without(0, 1),
			// It had measured all, so that nothing was lost.
			v1alpha1.StageCollecting: {reason: v1alpha1.ReasonCompleted, measured: collectingRequests},
		}},
		// Nobody takes over to look at the target.
		"client pod 0 killed and the other goes on": {strike: signalPod(0, syscall.SIGKILL), change: goOn(300), in: map[string]outcome{
			v1alpha1.StageRunning: blind,
		}},
	}
}
