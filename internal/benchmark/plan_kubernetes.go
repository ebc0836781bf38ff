package benchmark

import (
	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
)

// What each profile consists of; docs/workloads.md says where each number is from.
const (
	podsPerNode           = 30
	leaseUpdatesPerNode   = 6 // a minute
	podCreatesPer50Nodes  = 6 // a minute
	updatesPerPod         = 4
	eventsPerPod          = 5
	listsBy500PerMinute   = 6
	listsBy10000PerMinute = 1

	leaseBytes = 500
	podBytes   = 4096
	eventBytes = 700
)

// profileNodes is how many nodes a cluster of each profile has.
var profileNodes = map[v1alpha1.KubernetesProfile]int64{
	v1alpha1.KubernetesSmall: 50, v1alpha1.KubernetesMedium: 250, v1alpha1.KubernetesLarge: 1000,
}

func planKubernetes(w *v1alpha1.KubernetesWorkload) plan.Workload {
	nodes := profileNodes[w.Profile]
	creates := nodes * podCreatesPer50Nodes / 50
	return plan.Workload{ValueSize: podBytes, Kubernetes: &plan.Kubernetes{
		Nodes: nodes, Pods: nodes * podsPerNode,
		PerMinute: plan.KubernetesMinute{
			LeaseUpdates: nodes * leaseUpdatesPerNode,
			PodCreates:   creates, PodUpdates: creates * updatesPerPod, Events: creates * eventsPerPod,
			ListsBy500: listsBy500PerMinute, ListsBy10000: listsBy10000PerMinute,
		},
		LeaseBytes: leaseBytes, PodBytes: podBytes, EventBytes: eventBytes,
	}}
}
