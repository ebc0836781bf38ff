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

// Kubernetes sends what the API servers of a Kubernetes cluster send. Each
// client pod is one API server. It writes node leases, pods and events, and
// deletes pods, in transactions that take effect only if the object is
// unchanged. It also lists all pods, and has one watch of each resource. The
// leases and the pods are written before the run starts. load.pods is at most
// 25, and load.clients at most the number of nodes.
type Kubernetes struct {
	// profile is Small (50 nodes), Medium (250) or Large (1,000). It sets the
	// number of objects, their length, and the mixture of requests. A real cluster
	// of this size, in which each node renews its lease every 10 s, sends 6.2,
	// 30.6 or 122 requests a second. At another load.rate the mixture is the same,
	// and the cluster's time goes faster or slower.
	//
	// +required
	Profile ClusterSize `json:"profile"`
}
