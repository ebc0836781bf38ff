package spec

// ClusterSize is a size of a Kubernetes cluster.
//
// +kubebuilder:validation:Enum=Small;Medium;Large
type ClusterSize string

// The sizes of clusters.
const (
	// ClusterSmall is a cluster of 50 nodes.
	ClusterSmall ClusterSize = "Small"
	// ClusterMedium is a cluster of 250 nodes.
	ClusterMedium ClusterSize = "Medium"
	// ClusterLarge is a cluster of 1,000 nodes.
	ClusterLarge ClusterSize = "Large"
)

// Kubernetes sends what the API servers of a Kubernetes cluster send, each client
// pod as one of them: optimistic writes of node leases, pods and events,
// optimistic deletions of pods, listings of all pods, and one watch of each
// resource. The leases and the pods are written before the run starts. load.pods
// is at most 25, and load.clients at most the number of nodes.
type Kubernetes struct {
	// profile is Small (50 nodes), Medium (250) or Large (1,000). It says how many
	// objects there are, how long they are, and in which proportion the requests
	// are mixed. Such a cluster, in which each node renews its lease every 10 s,
	// sends 6.2, 30.6 or 122 requests a second; at another load.rate the mixture
	// is the same, and the cluster's time goes faster or slower.
	//
	// +required
	Profile ClusterSize `json:"profile"`
}
