package spec

// ClusterMinute is how often the API servers of a Kubernetes cluster send each request in a minute. Requests are mixed in
// this proportion at any rate of the load. docs/workload-kubernetes.md gives the source of each number.
//
// +kubebuilder:object:generate=false
type ClusterMinute struct {
	// LeaseUpdates renew the leases of nodes. Each client pod renews, in turn, those of the nodes whose numbers are its
	// index modulo the client pods.
	LeaseUpdates int64
	// PodCreates is the number of creations, and also of deletions.
	PodCreates, PodUpdates, Events int64
	// ListsBy500 and ListsBy10000 list all pods, in pages of that size.
	ListsBy500, ListsBy10000 int64
}

const (
	leaseUpdatesPerNode   = 6
	podCreatesPer50Nodes  = 6
	updatesPerPod         = 4
	eventsPerPod          = 5
	listsBy500PerMinute   = 6
	listsBy10000PerMinute = 1
)

// PerMinute is what the API servers of the cluster send in a minute. Pods are created in proportion to the nodes, rounded
// to a whole number.
func (k Kubernetes) PerMinute() ClusterMinute {
	nodes := k.Size()
	creates := (nodes*podCreatesPer50Nodes + 25) / 50
	return ClusterMinute{
		LeaseUpdates: nodes * leaseUpdatesPerNode,
		PodCreates:   creates, PodUpdates: creates * updatesPerPod, Events: creates * eventsPerPod,
		ListsBy500: listsBy500PerMinute, ListsBy10000: listsBy10000PerMinute,
	}
}

// Total is the number of all requests.
func (m ClusterMinute) Total() int64 {
	return m.LeaseUpdates + 2*m.PodCreates + m.PodUpdates + m.Events + m.ListsBy500 + m.ListsBy10000
}
