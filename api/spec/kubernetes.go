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

// nodesOf is how many nodes a cluster of each size has.
var nodesOf = map[ClusterSize]int32{ClusterSmall: 50, ClusterMedium: 250, ClusterLarge: 1000}

// Kubernetes sends what the API servers of a Kubernetes cluster send. Each
// client pod is one API server. It writes node leases, pods and events, and
// deletes pods, in transactions that take effect only if the object is
// unchanged. It also lists all pods, and has one watch of each resource. The
// leases and the pods are written before the run starts. load.pods is at most
// 25, and load.clients at most the number of nodes.
//
// +kubebuilder:validation:XValidation:rule="has(self.profile) != has(self.nodes)",message="set the number of nodes, either by profile or by nodes"
type Kubernetes struct {
	// profile is Small (50 nodes), Medium (250) or Large (1,000). It sets the
	// number of objects, their length, and the mixture of requests. A real cluster
	// of this size, in which each node renews its lease every 10 s, sends 6.2,
	// 30.6 or 122 requests a second. At another load.rate the mixture is the same,
	// and the cluster's time goes faster or slower. Set either profile or nodes.
	//
	// +optional
	Profile ClusterSize `json:"profile,omitempty"`

	// nodes sets the same for a cluster of another size. Set either nodes or
	// profile.
	//
	// +optional
	// +kubebuilder:validation:Minimum=50
	// +kubebuilder:validation:Maximum=5000
	Nodes int32 `json:"nodes,omitempty"`
}

// Size is the number of nodes. It is 0 for an unknown profile.
func (k Kubernetes) Size() int64 {
	if k.Nodes != 0 {
		return int64(k.Nodes)
	}
	return int64(nodesOf[k.Profile])
}
