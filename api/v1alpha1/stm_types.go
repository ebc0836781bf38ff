package v1alpha1

// Isolation is which conflicts keep a software transaction from committing, in
// the terms of etcd's client library.
//
// +kubebuilder:validation:Enum=SerializableSnapshot;Serializable;RepeatableReads;ReadCommitted
type Isolation string

const (
	// IsolationSerializableSnapshot is Serializable, and wants the keys that are
	// written to be unchanged since the first read, even if they were not read.
	IsolationSerializableSnapshot Isolation = "SerializableSnapshot"
	// IsolationSerializable reads all keys as they were at the first read, and
	// commits if they still are so.
	IsolationSerializable Isolation = "Serializable"
	// IsolationRepeatableReads reads each key as the contacted member has it, and
	// commits if all are still so.
	IsolationRepeatableReads Isolation = "RepeatableReads"
	// IsolationReadCommitted reads each key as the contacted member has it, and
	// commits whatever happened since.
	IsolationReadCommitted Isolation = "ReadCommitted"
)

// STMLocker is what keeps software transactions apart.
//
// +kubebuilder:validation:Enum=None;LockClient;LockRPC
type STMLocker string

const (
	// STMLockerNone takes no lock: a transaction that meets another is tried again.
	STMLockerNone STMLocker = "None"
	// STMLockerLockClient holds a mutex of etcd's client library around each
	// transaction.
	STMLockerLockClient STMLocker = "LockClient"
	// STMLockerLockRPC holds a lock of etcd's lock service around each transaction.
	STMLockerLockRPC STMLocker = "LockRPC"
)

// STMWorkload runs a transaction of software transactional memory with each
// request, as etcd's client library offers it: it reads keys, writes some of
// them, and is tried until it commits. The key space is written before the run
// starts.
//
// +kubebuilder:validation:XValidation:rule="self.keysPerTransaction <= self.keys.count",message="stm.keysPerTransaction must not be greater than stm.keys.count: a transaction takes a key only once"
// +kubebuilder:validation:XValidation:rule="self.isolation != 'SerializableSnapshot' || self.keysPerTransaction + (self.keysPerTransaction * self.writePercent + 99) / 100 <= 128",message="stm.keysPerTransaction and the share of them that stm.writePercent writes must be at most 128 together with stm.isolation SerializableSnapshot, whose commits compare both: etcd refuses transactions of more comparisons unless its --max-txn-ops is raised"
// +kubebuilder:validation:XValidation:rule="self.keysPerTransaction * (4 * (self.keySize + 128) + self.valueSize) <= 1568000",message="stm.keysPerTransaction keys and values of stm.keySize and stm.valueSize do not fit into one request: etcd refuses more than 1.5 MiB (1572864 bytes), and a commit can name each key four times, with its prefix; lower one of them"
// +kubebuilder:validation:XValidation:rule="string(self.keys.count - 1).size() <= self.keySize",message="stm.keySize is too small to write stm.keys.count different keys as decimal numbers: raise keySize or lower keys.count"
// +kubebuilder:validation:XValidation:rule="!has(self.values) || !has(self.values.minSize) || self.values.minSize <= self.valueSize",message="stm.values.minSize must not be greater than stm.valueSize, the length of the longest value: lower it or raise valueSize"
type STMWorkload struct {
	// isolation is SerializableSnapshot (all reads are of one revision; commits if
	// what was read is unchanged and what is written has not changed since),
	// Serializable (the same, but what is written without having been read is not
	// looked at), RepeatableReads (each key is read as the contacted member has
	// it; commits if all are unchanged) or ReadCommitted (always commits).
	// Default SerializableSnapshot, as in etcd's client library.
	//
	// +optional
	// +kubebuilder:default=SerializableSnapshot
	Isolation Isolation `json:"isolation,omitempty"`

	// keysPerTransaction is the number of different keys that a transaction
	// reads, one after the other, at most 128, which is etcd's default limit.
	// Default 1.
	//
	// +optional
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=128
	KeysPerTransaction int32 `json:"keysPerTransaction,omitempty"`

	// writePercent is how many of a hundred keys that were read are then written.
	// Where that is no whole number of keys of a transaction, chance decides
	// about the last of them. Default 50.
	//
	// +optional
	// +kubebuilder:default=50
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=100
	WritePercent int32 `json:"writePercent"`

	// locker is what keeps transactions apart: None, LockClient (each client holds
	// one mutex of etcd's client library around its transaction, the same for
	// all) or LockRPC (a lock of etcd's lock service, likewise). The time to get
	// it and to give it back counts. Default None.
	//
	// +optional
	// +kubebuilder:default=None
	Locker STMLocker `json:"locker,omitempty"`

	// keySize is the length of a key in bytes, not counting the run's prefix.
	// Default 8.
	//
	// +optional
	// +kubebuilder:default=8
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=4096
	KeySize int32 `json:"keySize,omitempty"`

	// valueSize is the length of each value in bytes. Default 256.
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

	// keys is the key space: the smaller, the more transactions meet. Default
	// 10,000 keys, each with the same probability.
	//
	// +optional
	// +kubebuilder:default={count:10000,order:Uniform}
	Keys KeySpace `json:"keys,omitzero"`
}
