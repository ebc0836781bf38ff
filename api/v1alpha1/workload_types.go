package v1alpha1

// WorkloadType is what one request does.
//
// +kubebuilder:validation:Enum=Put;Range;Mixed;Delete;Txn;STM;Lock;Election;Lease;Watch;WatchGet;Kubernetes
type WorkloadType string

const (
	// WorkloadPut writes one key with each request.
	WorkloadPut WorkloadType = "Put"
	// WorkloadRange reads preloaded keys with each request.
	WorkloadRange WorkloadType = "Range"
	// WorkloadMixed reads or writes one preloaded key with each request.
	WorkloadMixed WorkloadType = "Mixed"
	// WorkloadDelete deletes one preloaded key with each request.
	WorkloadDelete WorkloadType = "Delete"
	// WorkloadTxn commits one transaction with each request.
	WorkloadTxn WorkloadType = "Txn"
	// WorkloadSTM runs one software transaction with each request.
	WorkloadSTM WorkloadType = "STM"
	// WorkloadLock acquires and releases a lock with each request.
	WorkloadLock WorkloadType = "Lock"
	// WorkloadElection wins an election and resigns with each request.
	WorkloadElection WorkloadType = "Election"
	// WorkloadLease grants, renews or revokes a lease with each request.
	WorkloadLease WorkloadType = "Lease"
	// WorkloadWatch writes one watched key with each request.
	WorkloadWatch WorkloadType = "Watch"
	// WorkloadWatchGet reads one key with each request while watchers read the past.
	WorkloadWatchGet WorkloadType = "WatchGet"
	// WorkloadKubernetes sends what the API servers of a Kubernetes cluster send.
	WorkloadKubernetes WorkloadType = "Kubernetes"
)

// Consistency of reads, in etcd's terms.
//
// +kubebuilder:validation:Enum=Linearizable;Serializable
type Consistency string

const (
	// ConsistencyLinearizable reads what a quorum has agreed on.
	ConsistencyLinearizable Consistency = "Linearizable"
	// ConsistencySerializable reads what the contacted member has; it may be stale.
	ConsistencySerializable Consistency = "Serializable"
)

// Workload is a union: type, and the field of that name.
//
// +kubebuilder:validation:XValidation:rule="has(self.put) == (self.type == 'Put')",message="workload.put must be set if, and only if, workload.type is Put"
// +kubebuilder:validation:XValidation:rule="has(self.range) == (self.type == 'Range')",message="workload.range must be set if, and only if, workload.type is Range"
// +kubebuilder:validation:XValidation:rule="has(self.mixed) == (self.type == 'Mixed')",message="workload.mixed must be set if, and only if, workload.type is Mixed"
// +kubebuilder:validation:XValidation:rule="has(self.delete) == (self.type == 'Delete')",message="workload.delete must be set if, and only if, workload.type is Delete"
// +kubebuilder:validation:XValidation:rule="has(self.txn) == (self.type == 'Txn')",message="workload.txn must be set if, and only if, workload.type is Txn"
// +kubebuilder:validation:XValidation:rule="has(self.stm) == (self.type == 'STM')",message="workload.stm must be set if, and only if, workload.type is STM"
// +kubebuilder:validation:XValidation:rule="has(self.lock) == (self.type == 'Lock')",message="workload.lock must be set if, and only if, workload.type is Lock"
// +kubebuilder:validation:XValidation:rule="has(self.election) == (self.type == 'Election')",message="workload.election must be set if, and only if, workload.type is Election"
// +kubebuilder:validation:XValidation:rule="has(self.lease) == (self.type == 'Lease')",message="workload.lease must be set if, and only if, workload.type is Lease"
// +kubebuilder:validation:XValidation:rule="has(self.watch) == (self.type == 'Watch')",message="workload.watch must be set if, and only if, workload.type is Watch"
// +kubebuilder:validation:XValidation:rule="has(self.watchGet) == (self.type == 'WatchGet')",message="workload.watchGet must be set if, and only if, workload.type is WatchGet"
// +kubebuilder:validation:XValidation:rule="has(self.kubernetes) == (self.type == 'Kubernetes')",message="workload.kubernetes must be set if, and only if, workload.type is Kubernetes"
// +union
type Workload struct {
	// type is Put (each request writes one key), Range (each request reads
	// keys of a preloaded key space), Mixed (each request reads or writes one
	// key of a preloaded key space), Delete (each request deletes one key of a
	// preloaded key space), Txn (each request commits a transaction), STM (each
	// request runs a software transaction until it commits), Lock (each request
	// acquires a lock, holds it and releases it), Election (each request campaigns,
	// leads and resigns), Lease (each request grants, renews or revokes a lease),
	// Watch (each request writes one key that is watched), WatchGet (each request
	// reads one key while watchers read the past) or Kubernetes (each request is
	// one of an API server).
	//
	// +required
	// +unionDiscriminator
	Type WorkloadType `json:"type"`

	// put is the workload of type Put.
	//
	// +optional
	Put *PutWorkload `json:"put,omitempty"`

	// range is the workload of type Range.
	//
	// +optional
	Range *RangeWorkload `json:"range,omitempty"`

	// mixed is the workload of type Mixed.
	//
	// +optional
	Mixed *MixedWorkload `json:"mixed,omitempty"`

	// txn is the workload of type Txn.
	//
	// +optional
	Txn *TxnWorkload `json:"txn,omitempty"`

	// stm is the workload of type STM.
	//
	// +optional
	STM *STMWorkload `json:"stm,omitempty"`

	// lock is the workload of type Lock.
	//
	// +optional
	Lock *LockWorkload `json:"lock,omitempty"`

	// election is the workload of type Election.
	//
	// +optional
	Election *ElectionWorkload `json:"election,omitempty"`

	// lease is the workload of type Lease.
	//
	// +optional
	Lease *LeaseWorkload `json:"lease,omitempty"`

	// watch is the workload of type Watch.
	//
	// +optional
	Watch *WatchWorkload `json:"watch,omitempty"`

	// watchGet is the workload of type WatchGet.
	//
	// +optional
	WatchGet *WatchGetWorkload `json:"watchGet,omitempty"`

	// kubernetes is the workload of type Kubernetes.
	//
	// +optional
	Kubernetes *KubernetesWorkload `json:"kubernetes,omitempty"`

	// delete is the workload of type Delete.
	//
	// +optional
	Delete *DeleteWorkload `json:"delete,omitempty"`
}

// PutWorkload writes one key with each request.
//
// +kubebuilder:validation:XValidation:rule="self.valueSize <= 1568000",message="put.valueSize must be at most 1568000: etcd refuses requests of more than 1.5 MiB (1572864 bytes), of which the key and framing need a part"
// +kubebuilder:validation:XValidation:rule="string(self.keys.count - 1).size() <= self.keySize",message="put.keySize is too small to write put.keys.count different keys as decimal numbers: raise keySize or lower keys.count"
// +kubebuilder:validation:XValidation:rule="!has(self.values) || !has(self.values.minSize) || self.values.minSize <= self.valueSize",message="put.values.minSize must not be greater than put.valueSize, the length of the longest value: lower it or raise valueSize"
type PutWorkload struct {
	// keySize is the length of a key in bytes, not counting the run's prefix.
	// Default 8.
	//
	// +optional
	// +kubebuilder:default=8
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=4096
	KeySize int32 `json:"keySize,omitempty"`

	// valueSize is the length of a value in bytes, at most 1,568,000: etcd's
	// default limit of a request is 1.5 MiB, of which the key and framing need a
	// part. Default 256.
	//
	// +optional
	// +kubebuilder:default=256
	// +kubebuilder:validation:Minimum=0
	ValueSize int32 `json:"valueSize"`

	// values is what values are made of, and whether their lengths differ.
	// Default: random bytes, all of one length.
	//
	// +optional
	Values *Values `json:"values,omitempty"`

	// keys is the key space. Default 100,000 keys in sequential order.
	//
	// +optional
	// +kubebuilder:default={count:100000,order:Sequential}
	Keys KeySpace `json:"keys,omitzero"`
}

// MixedWorkload reads or writes one key with each request. The key space is
// written before the run starts.
//
// +kubebuilder:validation:XValidation:rule="self.valueSize <= 1568000",message="mixed.valueSize must be at most 1568000: etcd refuses requests of more than 1.5 MiB (1572864 bytes), of which the key and framing need a part"
// +kubebuilder:validation:XValidation:rule="string(self.keys.count - 1).size() <= self.keySize",message="mixed.keySize is too small to write mixed.keys.count different keys as decimal numbers: raise keySize or lower keys.count"
// +kubebuilder:validation:XValidation:rule="!has(self.values) || !has(self.values.minSize) || self.values.minSize <= self.valueSize",message="mixed.values.minSize must not be greater than mixed.valueSize, the length of the longest value: lower it or raise valueSize"
type MixedWorkload struct {
	// readsPerHundred is how many of a hundred requests are reads.
	//
	// +required
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=100
	ReadsPerHundred int32 `json:"readsPerHundred"`

	// inTransaction sends each read, and each write, as the one operation of a
	// transaction without comparisons, as txn-mixed of etcd's benchmark tool does.
	// It needs load.transport ClientV3. Default false.
	//
	// +optional
	InTransaction bool `json:"inTransaction,omitempty"`

	// consistency of the reads: Linearizable or Serializable. Default
	// Linearizable.
	//
	// +optional
	// +kubebuilder:default=Linearizable
	Consistency Consistency `json:"consistency,omitempty"`

	// keySize is the length of a key in bytes, not counting the run's prefix.
	// Default 8.
	//
	// +optional
	// +kubebuilder:default=8
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=4096
	KeySize int32 `json:"keySize,omitempty"`

	// valueSize is the length of a value in bytes, at most 1,568,000. Default 256.
	//
	// +optional
	// +kubebuilder:default=256
	// +kubebuilder:validation:Minimum=0
	ValueSize int32 `json:"valueSize"`

	// values is what values are made of, and whether their lengths differ.
	// Default: random bytes, all of one length.
	//
	// +optional
	Values *Values `json:"values,omitempty"`

	// keys is the key space. Default 10,000 keys, each with the same
	// probability.
	//
	// +optional
	// +kubebuilder:default={count:10000,order:Uniform}
	Keys KeySpace `json:"keys,omitzero"`
}
