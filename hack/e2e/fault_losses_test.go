//go:build e2e

package e2e

import (
	"syscall"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
)

// lossFaults take a client pod from runs that tolerate its loss. A killed pod has left its marker in the store. The
// operator informs the other pod of the loss, so that pod does not wait until its own timeout or that of the run.
func lossFaults() map[string]fault {
	tolerateLoss := func(timeoutSeconds int32) func(*v1alpha1.EtcdBenchmark) {
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
	// The pod had measured everything, so nothing was lost.
	measured := outcome{reason: v1alpha1.ReasonCompleted, measured: collectingRequests}
	blind := without(1)
	blind.says = "Only client pod 0 observes the members"
	return map[string]fault{
		"client pod killed and the other goes on": {inject: signalPod(1, syscall.SIGKILL), change: tolerateLoss(300), in: map[string]outcome{
			v1alpha1.StageRunning: without(0), v1alpha1.StageCollecting: measured,
		}},
		"client pod deleted and the other goes on": {inject: deletePod(1), change: tolerateLoss(75), in: map[string]outcome{
			v1alpha1.StageRunning: without(0, 1), v1alpha1.StageCollecting: measured,
		}},
		// No other pod takes over the checks of the target.
		"client pod 0 killed and the other goes on": {inject: signalPod(0, syscall.SIGKILL), change: tolerateLoss(300), in: map[string]outcome{
			v1alpha1.StageRunning: blind,
		}},
	}
}
