package spec

// Isolation says which conflicts prevent the commit of a software transaction,
// in the terms of etcd's client library.
//
// +kubebuilder:validation:Enum=SerializableSnapshot;Serializable;RepeatableReads;ReadCommitted
type Isolation string

// The isolation levels, strictest first.
const (
	// IsolationSerializableSnapshot is IsolationSerializable, and the written keys
	// must also be unchanged since the first read.
	IsolationSerializableSnapshot Isolation = "SerializableSnapshot"
	// IsolationSerializable reads all keys at the revision of the first read, and
	// commits if they are unchanged.
	IsolationSerializable Isolation = "Serializable"
	// IsolationRepeatableReads reads each key as the contacted member has it, and
	// commits if all are unchanged.
	IsolationRepeatableReads Isolation = "RepeatableReads"
	// IsolationReadCommitted reads each key as the contacted member has it, and
	// always commits.
	IsolationReadCommitted Isolation = "ReadCommitted"
)

// Locker is the lock that separates software transactions.
//
// +kubebuilder:validation:Enum=None;LockClient;LockRPC
type Locker string

// The lockers.
const (
	// LockerNone takes no lock: a transaction that conflicts with another is tried
	// again.
	LockerNone Locker = "None"
	// LockerClient holds a mutex of etcd's client library around each transaction.
	LockerClient Locker = "LockClient"
	// LockerRPC holds a lock of etcd's lock service around each transaction.
	LockerRPC Locker = "LockRPC"
)

// STM runs a transaction of software transactional memory with each request,
// by etcd's client library. The transaction reads keys, writes some of them,
// and is tried again until it commits. The keys are written before the run
// starts.
//
// +kubebuilder:validation:XValidation:rule="self.keysPerTransaction <= self.keys.count",messageExpression="'must be at most stm.keys.count (%d), found %d: a transaction uses a key only once'.format([self.keys.count, self.keysPerTransaction])",fieldPath=".keysPerTransaction"
// +kubebuilder:validation:XValidation:rule="self.isolation != 'SerializableSnapshot' || self.keysPerTransaction + (self.keysPerTransaction * self.writePercent + 99) / 100 <= 10000",message="with isolation SerializableSnapshot (the default), keys read plus keys written (writePercent, default 50) must be at most 10000, because a commit compares each of them; lower keysPerTransaction or writePercent",fieldPath=".keysPerTransaction"
// +kubebuilder:validation:XValidation:rule="self.values.sizeBytes > 10480000 || self.keysPerTransaction * (4 * (self.keys.sizeBytes + 128) + self.values.sizeBytes) <= 10480000",message="the keys and values do not fit into one request of 10 MiB, the most that etcd recommends: each key needs up to 4 * (keys.sizeBytes (default 8) + 128) + values.sizeBytes (default 256) bytes, because a commit can name it four times; lower one of these numbers",fieldPath=".keysPerTransaction"
type STM struct {
	// isolation is one of:
	// - SerializableSnapshot: all reads are at one revision. The transaction
	//   commits if the keys that it read or writes are unchanged since then.
	// - Serializable: the same, but keys that are written without having been
	//   read are not compared.
	// - RepeatableReads: each key is read as the contacted member has it. The
	//   transaction commits if all are unchanged.
	// - ReadCommitted: the transaction always commits.
	//
	// Default SerializableSnapshot, as in etcd's client library.
	//
	// +optional
	// +kubebuilder:default=SerializableSnapshot
	Isolation Isolation `json:"isolation,omitempty"`

	// keysPerTransaction is the number of different keys that a transaction reads,
	// one after the other. At most 10,000. etcd's --max-txn-ops must be raised if a
	// commit compares more than 128 keys. Default 1.
	//
	// +optional
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=10000
	KeysPerTransaction int32 `json:"keysPerTransaction,omitempty"`

	// writePercent is the share of the read keys that are then written, in
	// percent. If this is not a whole number of keys, the last key is written at
	// random, in proportion. Default 50.
	//
	// +optional
	// +kubebuilder:default=50
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=100
	WritePercent int32 `json:"writePercent"`

	// locker is the lock that separates transactions:
	// - None: no lock.
	// - LockClient: each client holds a mutex of etcd's client library around
	//   its transaction. All clients use the same mutex.
	// - LockRPC: the same with a lock of etcd's lock service.
	//
	// The time to acquire and to release the lock counts. Default None.
	//
	// +optional
	// +kubebuilder:default=None
	Locker Locker `json:"locker,omitempty"`

	// keys are the keys of the transactions. Fewer keys mean more conflicts.
	// Default: 10,000 keys, Uniform.
	//
	// +optional
	// +kubebuilder:default={count:10000,sizeBytes:8,distribution:Uniform}
	Keys Keys `json:"keys,omitzero"`

	// values are what is written. Default: 256 random bytes each.
	//
	// +optional
	// +kubebuilder:default={sizeBytes:256,content:Random,sizeDistribution:Uniform}
	Values Values `json:"values,omitzero"`
}

// Locks reports whether each transaction holds a lock.
func (s *STM) Locks() bool { return s.Locker != LockerNone }
