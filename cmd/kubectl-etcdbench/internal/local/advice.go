package local

import "github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"

// advice is what to do about a client that was a limit on this machine, where there
// are no pods, and nothing of what the operator advises can be set.
var advice = map[v1alpha1.ValidityCause]string{
	v1alpha1.CauseThrottled: "Run the command where no quota bounds its CPU.",
	v1alpha1.CauseBusy:      "Run the command on a machine with more processors, apart from etcd's.",
	v1alpha1.CauseDelayed:   "Run the command on a machine where little else runs, above all no member of etcd.",
}

const embeddedAdvice = "Run against members in other processes (--endpoints), or in a cluster, where this can be read; until then look at lateness."

// advise replaces what only a cluster could follow.
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
