package benchmark

import (
	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// ownLoad is how a run gets what a profile does not let it choose.
const ownLoad = "To choose pods, clients or transport, write what status.resolved has as spec.workload, spec.load and spec.objectives, in place of spec.profile."

// profileAdvice is what to do about a client that was a limit where a profile has
// set the load: a run cannot have both, so no advice names a field of spec.load.
var profileAdvice = map[results.Cause]string{
	results.CauseThrottled: "Raise spec.pod.resources.limits.cpu or leave it out. " + ownLoad,
	results.CauseBusy:      "Give client pods more CPU (spec.pod.resources, a larger node). " + ownLoad,
	results.CauseDelayed: "Give client pods processors of their own: a larger spec.pod.resources.requests.cpu, or nodes apart from etcd's (spec.pod.affinity, nodeSelector). " +
		ownLoad,
	results.CauseLate: "Where the processor was not the limit, all of the profile's clients waited for etcd, which did not keep up with the profile's rate: a smaller spec.profile asks for less. " +
		"Where it was (Throttled, Busy or Delayed), or that is not known (Unread), give the clients more CPU. " + ownLoad,
}

// advice is what b's owner can change about a reason.
func advice(b *v1alpha1.EtcdBenchmark, r results.Reason) string {
	if fitting, ok := profileAdvice[r.Cause]; ok && b.Spec.Profile != "" {
		return fitting
	}
	return r.Change
}
