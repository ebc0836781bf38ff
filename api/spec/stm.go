package spec

// Isolation is which conflicts keep a software transaction from committing, in
// the terms of etcd's client library.
//
// +kubebuilder:validation:Enum=SerializableSnapshot;Serializable;RepeatableReads;ReadCommitted
type Isolation string

// The isolation levels, strictest first.
const (
	// IsolationSerializableSnapshot is IsolationSerializable, and also wants the keys
	// that are written to be unchanged since the first read.
	IsolationSerializableSnapshot Isolation = "SerializableSnapshot"
	// IsolationSerializable reads all keys as they were at the first read, and
	// commits if they are unchanged.
	IsolationSerializable Isolation = "Serializable"
	// IsolationRepeatableReads reads each key as the contacted member has it, and
	// commits if all are unchanged.
	IsolationRepeatableReads Isolation = "RepeatableReads"
	// IsolationReadCommitted reads each key as the contacted member has it, and
	// always commits.
	IsolationReadCommitted Isolation = "ReadCommitted"
)

// Locker is what keeps software transactions apart.
//
// +kubebuilder:validation:Enum=None;LockClient;LockRPC
type Locker string

// The lockers.
const (
	// LockerNone takes no lock: a transaction that meets another is tried again.
	LockerNone Locker = "None"
	// LockerClient holds a mutex of etcd's client library around each transaction.
	LockerClient Locker = "LockClient"
	// LockerRPC holds a lock of etcd's lock service around each transaction.
	LockerRPC Locker = "LockRPC"
)

// STM runs a transaction of software transactional memory with each request, as
// etcd's client library offers it: it reads keys, writes some of them, and is
// tried until it commits. The keys are written before the run starts.
//
// +kubebuilder:validation:XValidation:rule="self.keysPerTransaction <= self.keys.count",message="stm.keysPerTransaction must not be greater than stm.keys.count: a transaction takes a key only once"
// +kubebuilder:validation:XValidation:rule="self.isolation != 'SerializableSnapshot' || self.keysPerTransaction + (self.keysPerTransaction * self.writePercent + 99) / 100 <= 128",message="stm.keysPerTransaction and the share of them that stm.writePercent writes must be at most 128 together with stm.isolation SerializableSnapshot, whose commits compare both: etcd refuses transactions of more comparisons unless its --max-txn-ops is raised"
// +kubebuilder:validation:XValidation:rule="self.values.sizeBytes > 1568000 || self.keysPerTransaction * (4 * (self.keys.sizeBytes + 128) + self.values.sizeBytes) <= 1568000",message="stm.keysPerTransaction keys and values of stm.keys.sizeBytes and stm.values.sizeBytes do not fit into one request: etcd refuses more than 1.5 MiB (1572864 bytes), and a commit can name each key four times, with its prefix; lower one of them"
type STM struct {
	// isolation is SerializableSnapshot (all reads are of one revision; commits if
	// what was read is unchanged and what is written has not changed since),
	// Serializable (the same, but keys that are written without having been read are
	// not compared), RepeatableReads (each key is read as the contacted member has
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
	Locker Locker `json:"locker,omitempty"`

	// keys are the keys of the transactions: the fewer, the more transactions meet.
	// Default 10,000 keys, each with the same probability.
	//
	// +optional
	// +kubebuilder:default={count:10000,sizeBytes:8,distribution:Uniform}
	Keys Keys `json:"keys,omitzero"`

	// values are what is written.
	//
	// +optional
	// +kubebuilder:default={sizeBytes:256,content:Random,sizeDistribution:Uniform}
	Values Values `json:"values,omitzero"`
}

// Locks says whether each transaction holds a lock.
func (s *STM) Locks() bool { return s.Locker != LockerNone }
