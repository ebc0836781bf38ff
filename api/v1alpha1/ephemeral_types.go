package v1alpha1

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// EphemeralTarget describes members that the operator starts for one run, and
// deletes with their data after it.
type EphemeralTarget struct {
	// replicas is how many members the cluster has. Default 3.
	//
	// +optional
	// +kubebuilder:default=3
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=9
	Replicas int32 `json:"replicas,omitempty"`

	// image of the members, with the command etcd, zkServer.sh or consul in its
	// PATH. The operator's configuration says which images are allowed.
	//
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	Image string `json:"image"`

	// settings are those of the store by name:
	// - of etcd, flags without hyphens in front, for example
	//   quota-backend-bytes: "8589934592"
	// - of ZooKeeper, properties of zoo.cfg, for example maxClientCnxns: "0", and
	//   jvmFlags with the flags of Java, for example -Xms1g -Xmx1g
	// - of Consul, configuration keys by path, for example
	//   performance.raft_multiplier: "1"
	//
	// Those that the operator sets itself are refused: names, addresses, folders,
	// certificates, log outputs, and how the cluster starts. Absent: the defaults
	// of the store.
	//
	// +optional
	// +kubebuilder:validation:MaxProperties=64
	Settings map[string]MemberSetting `json:"settings,omitempty"`

	// resources of each member. Absent: no requests and no limits.
	//
	// +optional
	Resources *corev1.ResourceRequirements `json:"resources,omitempty"`

	// storage is where each member keeps its data. Absent: an emptyDir on the disk
	// of its node.
	//
	// +optional
	Storage *MemberStorage `json:"storage,omitempty"`

	// placement says on which nodes the members may run. Members spread over nodes,
	// and stay off nodes of a control plane unless spec.guard.acknowledgeControlPlane
	// is set. Absent: any other node.
	//
	// +optional
	Placement *MemberPlacement `json:"placement,omitempty"`

	// startTimeoutSeconds is how long, in seconds, the members may take from their
	// creation until all are ready. Default 300.
	//
	// +optional
	// +kubebuilder:default=300
	// +kubebuilder:validation:Minimum=10
	// +kubebuilder:validation:Maximum=3600
	StartTimeoutSeconds int32 `json:"startTimeoutSeconds,omitempty"`

	// keepSeconds is how long, in seconds, the members stay after the run has ended,
	// to look at them. The next run with members of its own waits for at most
	// schedulingTimeoutSeconds of that. Default 0.
	//
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=86400
	KeepSeconds int32 `json:"keepSeconds,omitempty"`
}

// MemberSetting is the value of a setting of the store.
//
// +kubebuilder:validation:MaxLength=1024
type MemberSetting string

// DiskTarget describes the volume that each client pod measures. The pods spread
// over nodes, and stay off nodes of a control plane unless
// spec.guard.acknowledgeControlPlane is set.
//
// +kubebuilder:validation:XValidation:rule="!has(self.storage) || !has(self.storage.emptyDir) || !has(self.storage.emptyDir.medium) || self.storage.emptyDir.medium != 'Memory'",message="must be empty: in memory a flush does nothing",fieldPath=".storage.emptyDir.medium"
// +kubebuilder:validation:XValidation:rule="!has(self.storage) || (has(self.storage.volumeClaim) ? [self.storage.volumeClaim.size] : has(self.storage.emptyDir) && has(self.storage.emptyDir.sizeLimit) ? [self.storage.emptyDir.sizeLimit] : []).all(s, !isQuantity(string(s)) || !quantity(string(s)).isLessThan(quantity('600Mi')))",message="a volume must have at least 600Mi: the log takes 256 MB, and as much stays free",fieldPath=".storage"
type DiskTarget struct {
	// storage is the volume, not in memory. Absent: an emptyDir.
	//
	// +optional
	Storage *MemberStorage `json:"storage,omitempty"`
}

// MemberStorage is where a member keeps its data.
//
// +kubebuilder:validation:XValidation:rule="has(self.volumeClaim) != has(self.emptyDir)",messageExpression="'exactly one of volumeClaim and emptyDir must be set, found ' + (has(self.emptyDir) ? 'both' : 'neither')"
type MemberStorage struct {
	// volumeClaim is a volume for each member. It is deleted with the member.
	//
	// +optional
	VolumeClaim *MemberVolumeClaim `json:"volumeClaim,omitempty"`

	// emptyDir is a folder on the node of the member, or in its memory.
	//
	// +optional
	EmptyDir *MemberEmptyDir `json:"emptyDir,omitempty"`
}

// MemberVolumeClaim describes the volume of a member.
type MemberVolumeClaim struct {
	// storageClassName is the class of the volume. It must delete volumes with
	// their claims. Absent: the default class.
	//
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	StorageClassName *string `json:"storageClassName,omitempty"`

	// size of the volume, for example 20Gi.
	//
	// +required
	Size resource.Quantity `json:"size"`
}

// MemberEmptyDir describes the folder of a member.
type MemberEmptyDir struct {
	// medium is empty for the disk of the node, or Memory. Default: the disk.
	//
	// +optional
	// +kubebuilder:validation:Enum="";Memory
	Medium corev1.StorageMedium `json:"medium,omitempty"`

	// sizeLimit is how much the member may store. A member that stores more is
	// evicted. Absent: no limit.
	//
	// +optional
	SizeLimit *resource.Quantity `json:"sizeLimit,omitempty"`
}

// MemberPlacement says where the members of a run may be.
type MemberPlacement struct {
	// nodeSelector restricts the nodes of the members. Absent: any node.
	//
	// +optional
	// +kubebuilder:validation:MaxProperties=64
	NodeSelector map[string]string `json:"nodeSelector,omitempty"`

	// tolerations of the members. Absent: none.
	//
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	Tolerations []corev1.Toleration `json:"tolerations,omitempty"`

	// affinity of the members. Absent: none.
	//
	// +optional
	Affinity *corev1.Affinity `json:"affinity,omitempty"`

	// topologySpreadConstraints of the members. Absent: they spread over nodes if
	// there are enough.
	//
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=16
	TopologySpreadConstraints []corev1.TopologySpreadConstraint `json:"topologySpreadConstraints,omitempty"`
}

// EphemeralStatus says what is known about the members of spec.target.ephemeral.
type EphemeralStatus struct {
	// job is the Job of the members. A Service of the same name leads to them.
	//
	// +required
	Job JobReference `json:"job"`

	// readyAt is when all members were ready. Absent: they have not been.
	//
	// +optional
	ReadyAt *metav1.MicroTime `json:"readyAt,omitempty"`

	// classUnread is true if the operator may not read storage classes. Then it
	// does not know whether the volumes are deleted with their claims.
	//
	// +optional
	ClassUnread bool `json:"classUnread,omitempty"`

	// nodesShared is true if pods of another run were on a node of a member during
	// the load.
	//
	// +optional
	NodesShared bool `json:"nodesShared,omitempty"`

	// pods are the members' pods when all were ready.
	//
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=9
	Pods []MemberPod `json:"pods,omitempty"`
}

// MemberPod is the pod of a member.
type MemberPod struct {
	// name of the pod.
	//
	// +required
	Name string `json:"name"`

	// node that the pod ran on.
	//
	// +optional
	Node string `json:"node,omitempty"`

	// imageID identifies the content of the image, usually by its digest.
	//
	// +optional
	ImageID string `json:"imageID,omitempty"`

	// restarts of the member before all were ready.
	//
	// +optional
	Restarts int32 `json:"restarts,omitempty"`

	// lost says how the member ended during the run. Absent: it did not.
	//
	// +optional
	Lost string `json:"lost,omitempty"`
}

// ImageIDs are the different images of the run's own members, sorted.
func (b *EtcdBenchmark) ImageIDs() (all []string) {
	if b.Status.Ephemeral == nil {
		return nil
	}
	for _, p := range b.Status.Ephemeral.Pods {
		if p.ImageID != "" {
			all = append(all, p.ImageID)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}
