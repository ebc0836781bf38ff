package v1alpha1

import "github.com/etcdbench/etcd-benchmark-operator/api/spec"

// Fingerprint says in which environment a run measured. Results of different
// environments cannot be compared without a reason why the difference does not
// matter.
type Fingerprint struct {
	// id is a hash of what decides whether two results are of one environment: all
	// fields below up to load.
	//
	// +required
	// +kubebuilder:validation:MaxLength=16
	ID string `json:"id"`

	// client is a hash of what the client pods ran on: processors and
	// podMillicores. It is part of id.
	//
	// +required
	// +kubebuilder:validation:MaxLength=16
	Client string `json:"client"`

	// store is the datastore of the target.
	//
	// +optional
	Store spec.Datastore `json:"store,omitempty"`

	// versions are those of the target's members. There are several in the middle
	// of an upgrade.
	//
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=8
	// +kubebuilder:validation:items:MaxLength=64
	Versions []string `json:"versions,omitempty"`

	// members is how many members got load.
	//
	// +optional
	Members int32 `json:"members,omitempty"`

	// memberProcessors are the numbers of processors that members may use. Absent:
	// the members' metrics could not be read.
	//
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=8
	MemberProcessors []int64 `json:"memberProcessors,omitempty"`

	// ownMembers is a hash of the images, settings, resources and storage of
	// spec.target.ephemeral. Absent: the members did not exist for this run alone.
	//
	// +optional
	// +kubebuilder:validation:MaxLength=16
	OwnMembers string `json:"ownMembers,omitempty"`

	// processors are the models of the processors of the client pods' nodes.
	//
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=8
	// +kubebuilder:validation:items:MaxLength=128
	Processors []string `json:"processors,omitempty"`

	// podMillicores is the processor time that each client pod may use, in
	// thousandths of a processor. If pods differ, it is the lowest.
	//
	// +optional
	PodMillicores int64 `json:"podMillicores,omitempty"`

	// transport that carried the requests.
	//
	// +optional
	Transport spec.Transport `json:"transport,omitempty"`

	// workload is a hash of the workload and of the disturbances.
	//
	// +optional
	// +kubebuilder:validation:MaxLength=16
	Workload string `json:"workload,omitempty"`

	// load is a hash of the load without its seed.
	//
	// +optional
	// +kubebuilder:validation:MaxLength=16
	Load string `json:"load,omitempty"`

	// kernels are the releases of the kernels of the client pods' nodes. They do not
	// change id.
	//
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=8
	// +kubebuilder:validation:items:MaxLength=128
	Kernels []string `json:"kernels,omitempty"`

	// nodeMemoryBytes is the memory of a client pod's node. If nodes differ, it is
	// the least. It does not change id.
	//
	// +optional
	NodeMemoryBytes int64 `json:"nodeMemoryBytes,omitempty"`
}

// Environment is what makes two results incomparable if it differs, and what
// the load generator may have added to the numbers.
type Environment struct {
	// client identifies what the client pods ran on: client of the fingerprint in
	// the run's summary. Absent: not known. Such a result is like no other.
	//
	// +optional
	// +kubebuilder:validation:MaxLength=16
	Client string `json:"client,omitempty"`

	// dataInMemory is true if the metrics of a member show that its data lay in
	// memory.
	//
	// +optional
	DataInMemory bool `json:"dataInMemory,omitempty"`

	// clientBound is true if the load generator was a limit.
	//
	// +optional
	ClientBound bool `json:"clientBound,omitempty"`

	// addedPerMillion is the greatest share of the mean latency that the load
	// generator can have added, in parts per million. Absent: none, or not known.
	//
	// +optional
	AddedPerMillion int64 `json:"addedPerMillion,omitempty"`
}
