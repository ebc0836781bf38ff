package v1alpha1

// TargetStatus has the resolved addresses, and what the target reported about
// itself.
type TargetStatus struct {
	// endpoints are the addresses that the client pods use, as host:port.
	//
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	Endpoints []string `json:"endpoints,omitempty"`

	// nodes are where the members ran, if the target is a Service or pods.
	//
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=64
	Nodes []string `json:"nodes,omitempty"`

	// notReady is how many members the Service or the selector would lead to if
	// all were ready, and did not when the run took the addresses.
	//
	// +optional
	NotReady int32 `json:"notReady,omitempty"`

	// classUnread means that the operator may not read the storage class of
	// target.disk: volumes of the client pods may be left.
	//
	// +optional
	ClassUnread bool `json:"classUnread,omitempty"`

	// keyPrefix is the prefix of every key of the run.
	//
	// +optional
	KeyPrefix string `json:"keyPrefix,omitempty"`

	// clusterID of the etcd cluster, in hexadecimal.
	//
	// +optional
	ClusterID string `json:"clusterID,omitempty"`

	// leader is the name of the member that led when the run started.
	//
	// +optional
	Leader string `json:"leader,omitempty"`

	// version of the leader's etcd when the run started. If no address leads to
	// the leader, it is the version of the members that answered, if they have the
	// same one.
	//
	// +optional
	Version string `json:"version,omitempty"`

	// members of the etcd cluster, as client pod 0 found them.
	//
	// +optional
	// +listType=map
	// +listMapKey=id
	// +kubebuilder:validation:MaxItems=64
	Members []MemberStatus `json:"members,omitempty"`
}

// MemberStatus is one member of the target.
type MemberStatus struct {
	// id of the member, in hexadecimal.
	//
	// +required
	ID string `json:"id"`

	// name of the member.
	//
	// +optional
	Name string `json:"name,omitempty"`

	// endpoint is the address of the member that the run used. Behind a load
	// balancer, several members have the same one.
	//
	// +optional
	Endpoint string `json:"endpoint,omitempty"`

	// loaded says whether the member answered requests of the load. Absent: not
	// known.
	//
	// +optional
	Loaded *bool `json:"loaded,omitempty"`

	// version of the member's etcd.
	//
	// +optional
	Version string `json:"version,omitempty"`

	// leader is true if the member led when the run started.
	//
	// +optional
	Leader bool `json:"leader,omitempty"`

	// databaseBytes is the size of the member's database before the run.
	//
	// +optional
	DatabaseBytes int64 `json:"databaseBytes,omitempty"`

	// quotaBytes is the maximum size of the member's database. Absent: the member
	// reported none.
	//
	// +optional
	QuotaBytes *int64 `json:"quotaBytes,omitempty"`

	// residentMemoryBytes is the mean of the member's resident memory over the
	// samples of the measured window, including mapped pages of the database.
	// Absent: the member's metrics could not be read.
	//
	// +optional
	ResidentMemoryBytes *int64 `json:"residentMemoryBytes,omitempty"`
}
