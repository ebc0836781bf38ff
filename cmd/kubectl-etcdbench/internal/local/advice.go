package local

import "github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"

// advice replaces the operator's advice on a client that was the limit. On this machine spec.pod has no effect.
var advice = map[v1alpha1.ValidityCause]string{
	v1alpha1.CauseThrottled: "Run the command without a CPU quota.",
	v1alpha1.CauseBusy:      "Run the command on a machine with more processors, and without members of etcd.",
	v1alpha1.CauseDelayed:   "Run the command on a machine with little other load, and without members of etcd.",
}

const embeddedAdvice = "Run against members in other processes (--endpoints), or in a cluster: there these figures can be read. Until then, look at lateness."

// advise replaces advice that applies only in a cluster.
func (o Options) advise(v *v1alpha1.Validity) {
	for i := range v.Reasons {
		r := &v.Reasons[i]
		if fitting, ok := advice[r.Cause]; ok {
			r.Change = fitting
		}
		if r.Cause == v1alpha1.CauseUnread && o.EmbeddedMembers > 0 {
			r.Change = embeddedAdvice
		}
	}
}
