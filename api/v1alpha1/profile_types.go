package v1alpha1

import "github.com/etcdbench/etcd-benchmark-operator/api/spec"

// Profile is the name of a load and its limits.
//
// +kubebuilder:validation:Enum=Small;Medium;Large;XLarge
type Profile string

// The profiles of etcdctl check perf. Each puts keys and values of 256 and 1,024
// bytes for a minute.
const (
	// ProfileSmall is 150 puts per second by 50 clients.
	ProfileSmall Profile = "Small"
	// ProfileMedium is 1,000 puts per second by 200 clients.
	ProfileMedium Profile = "Medium"
	// ProfileLarge is 8,000 puts per second by 500 clients.
	ProfileLarge Profile = "Large"
	// ProfileXLarge is 15,000 puts per second by 1,000 clients.
	ProfileXLarge Profile = "XLarge"
)

// KubernetesCluster is a Kubernetes cluster whose requests are the load.
type KubernetesCluster struct {
	// nodes is how many nodes the cluster has. They set the rate, the number of
	// objects, the clients, and the limits: see docs/workload-kubernetes.md.
	//
	// +required
	// +kubebuilder:validation:Minimum=50
	// +kubebuilder:validation:Maximum=5000
	Nodes int32 `json:"nodes"`
}

// Resolved is what a run does and what its result must reach.
type Resolved struct {
	// workload is what one request does.
	//
	// +required
	Workload spec.Workload `json:"workload"`

	// load is how many requests are sent, by how many clients, and how fast.
	//
	// +required
	Load spec.Load `json:"load"`

	// objectives are what the result must reach.
	//
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=32
	Objectives []Objective `json:"objectives,omitempty"`
}
