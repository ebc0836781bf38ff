package local

import (
	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
)

// advice replaces the operator's advice on a load generator that was the limit: on this machine spec.pod has no effect.
var advice = map[v1alpha1.ValidityCause]string{
	v1alpha1.CauseThrottled: "Run the command without a CPU quota.",
	v1alpha1.CauseBusy:      "Run the command on a machine that has more processors and runs no member of the target.",
	v1alpha1.CauseLoop:      "Run the command on a machine that has faster processors.",
	v1alpha1.CauseLate:      "Run the command on a machine that has little other load.",
	v1alpha1.CauseDelayed:   "Run the command on a machine that has little other load and runs no member of the target.",
}

// loadAdvice is the advice to runs that choose their own load. A profile, or a number of nodes, fixes it.
var loadAdvice = map[v1alpha1.ValidityCause]string{
	v1alpha1.CauseLoop: " Or spread the load over more connections (spec.load.connections).",
	v1alpha1.CauseLate: " Or use spec.load.transport: Fast where the workload allows it.",
}

// advise replaces advice that applies only in a cluster.
func advise(run *v1alpha1.EtcdBenchmark) {
	v := run.Status.Summary.Validity
	for i := range v.Reasons {
		r := &v.Reasons[i]
		if fitting, ok := advice[r.Cause]; ok {
			r.Change = fitting
			if !run.Spec.IsDerived() {
				r.Change += loadAdvice[r.Cause]
			}
		}
	}
}
