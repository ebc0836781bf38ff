package spec

// WorkloadType is what one request does.
//
// +kubebuilder:validation:Enum=Put;Range;Mixed;Delete;Txn;STM;Lock;Election;Lease;Watch;WatchGet;Kubernetes;Fetch;Append;Observe
type WorkloadType string

// The workloads.
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
	// WorkloadFetch starts processes that read their parameters once.
	WorkloadFetch WorkloadType = "Fetch"
	// WorkloadAppend appends one entry to a write-ahead log with each request.
	WorkloadAppend WorkloadType = "Append"
	// WorkloadObserve asks one member for its status with each request.
	WorkloadObserve WorkloadType = "Observe"
)

// Workload is a union: type, and the field of that name. Observe has no field.
//
// +kubebuilder:validation:XValidation:rule="has(self.put) == (self.type == 'Put') && has(self.range) == (self.type == 'Range') && has(self.mixed) == (self.type == 'Mixed') && has(self.delete) == (self.type == 'Delete') && has(self.txn) == (self.type == 'Txn') && has(self.stm) == (self.type == 'STM') && has(self.lock) == (self.type == 'Lock') && has(self.election) == (self.type == 'Election') && has(self.lease) == (self.type == 'Lease') && has(self.watch) == (self.type == 'Watch') && has(self.watchGet) == (self.type == 'WatchGet') && has(self.kubernetes) == (self.type == 'Kubernetes') && has(self.fetch) == (self.type == 'Fetch') && has(self.append) == (self.type == 'Append')",messageExpression="'type ' + self.type + (self.type == 'Observe' ? ' needs no field: remove it' : ' needs the field ' + (self.type == 'STM' ? 'stm' : self.type == 'WatchGet' ? 'watchGet' : self.type.lowerAscii()) + ' and no other: set it, and remove the fields of other types')"
// +union
type Workload struct {
	// type is what each request does:
	// - Put: writes one key.
	// - Range: reads one key or a range of keys.
	// - Mixed: reads or writes one key.
	// - Delete: deletes one key.
	// - Txn: commits a transaction.
	// - STM: runs a software transaction until it commits.
	// - Lock: acquires a lock, holds it and releases it.
	// - Election: campaigns, leads and resigns.
	// - Lease: grants, renews or revokes a lease.
	// - Watch: writes one key that is watched.
	// - WatchGet: reads one key while watchers read the past.
	// - Kubernetes: sends one request of an API server.
	// - Fetch: starts a process that reads its parameters.
	// - Append: appends an entry to a write-ahead log on a disk.
	// - Observe: asks a member for its status, once a second, and writes nothing.
	//   The run says what is wrong with the members, as kubectl etcdbench doctor.
	//
	// +required
	// +unionDiscriminator
	Type WorkloadType `json:"type"`

	// put has the settings of type Put.
	//
	// +optional
	Put *Put `json:"put,omitempty"`

	// range has the settings of type Range.
	//
	// +optional
	Range *Range `json:"range,omitempty"`

	// mixed has the settings of type Mixed.
	//
	// +optional
	Mixed *Mixed `json:"mixed,omitempty"`

	// delete has the settings of type Delete.
	//
	// +optional
	Delete *Delete `json:"delete,omitempty"`

	// txn has the settings of type Txn.
	//
	// +optional
	Txn *Txn `json:"txn,omitempty"`

	// stm has the settings of type STM.
	//
	// +optional
	STM *STM `json:"stm,omitempty"`

	// lock has the settings of type Lock.
	//
	// +optional
	Lock *Lock `json:"lock,omitempty"`

	// election has the settings of type Election.
	//
	// +optional
	Election *Election `json:"election,omitempty"`

	// lease has the settings of type Lease.
	//
	// +optional
	Lease *Lease `json:"lease,omitempty"`

	// watch has the settings of type Watch.
	//
	// +optional
	Watch *Watch `json:"watch,omitempty"`

	// watchGet has the settings of type WatchGet.
	//
	// +optional
	WatchGet *WatchGet `json:"watchGet,omitempty"`

	// kubernetes has the settings of type Kubernetes.
	//
	// +optional
	Kubernetes *Kubernetes `json:"kubernetes,omitempty"`

	// fetch has the settings of type Fetch.
	//
	// +optional
	Fetch *Fetch `json:"fetch,omitempty"`

	// append has the settings of type Append.
	//
	// +optional
	Append *Append `json:"append,omitempty"`
}

// OnlyObserves reports whether a run looks at its target and writes nothing.
func (w Workload) OnlyObserves() bool { return w.Type == WorkloadObserve }

// Operation is a kind of request that is measured, or an event that follows
// from one.
//
// +kubebuilder:validation:Enum=Put;Range;Delete;Txn;CompareAndSwap;STM;LockAcquire;LockRelease;LockHandOff;ElectionCampaign;ElectionResign;ElectionHandOff;LeaseGrant;LeaseKeepAlive;LeaseRevoke;WatchEvent;WatchDelivery;OptimisticPut;OptimisticDelete;ListBy500;ListBy10000;Fetch;Append;Flush;Status
type Operation string

// The operations.
const (
	// OperationPut writes one key.
	OperationPut Operation = "Put"
	// OperationRange reads one key, or several consecutive keys.
	OperationRange Operation = "Range"
	// OperationDelete deletes one key.
	OperationDelete Operation = "Delete"
	// OperationTxn is a transaction that writes several keys.
	OperationTxn Operation = "Txn"
	// OperationCompareAndSwap reads a key, and writes it in a transaction if it is
	// unchanged.
	OperationCompareAndSwap Operation = "CompareAndSwap"
	// OperationSTM is a software transaction, with its lock and all its attempts.
	OperationSTM Operation = "STM"
	// OperationLockAcquire begins when a client requests a lock and ends when it
	// has it.
	OperationLockAcquire Operation = "LockAcquire"
	// OperationLockRelease releases a lock.
	OperationLockRelease Operation = "LockRelease"
	// OperationLockHandOff begins with the answer to a release and ends when the
	// next client has the lock. Both clients belong to one pod.
	OperationLockHandOff Operation = "LockHandOff"
	// OperationElectionCampaign begins when a client becomes a candidate and ends
	// when it leads.
	OperationElectionCampaign Operation = "ElectionCampaign"
	// OperationElectionResign ends a client's leadership.
	OperationElectionResign Operation = "ElectionResign"
	// OperationElectionHandOff begins with the answer to a resignation and ends
	// when the next client leads. Both clients belong to one pod.
	OperationElectionHandOff Operation = "ElectionHandOff"
	// OperationLeaseGrant grants a lease.
	OperationLeaseGrant Operation = "LeaseGrant"
	// OperationLeaseKeepAlive renews a lease once.
	OperationLeaseKeepAlive Operation = "LeaseKeepAlive"
	// OperationLeaseRevoke revokes a lease.
	OperationLeaseRevoke Operation = "LeaseRevoke"
	// OperationWatchEvent begins when a put was due and ends when its event arrives
	// at a watcher.
	OperationWatchEvent Operation = "WatchEvent"
	// OperationWatchDelivery begins when a put was answered and ends when its event
	// arrives at a watcher.
	OperationWatchDelivery Operation = "WatchDelivery"
	// OperationOptimisticPut creates or changes an object of a Kubernetes registry
	// in a transaction, if it is unchanged.
	OperationOptimisticPut Operation = "OptimisticPut"
	// OperationOptimisticDelete deletes an object of a Kubernetes registry in a
	// transaction, if it is unchanged.
	OperationOptimisticDelete Operation = "OptimisticDelete"
	// OperationListBy500 reads all pods of a Kubernetes registry in pages of 500.
	OperationListBy500 Operation = "ListBy500"
	// OperationListBy10000 reads all pods of a Kubernetes registry in pages of 10,000.
	OperationListBy10000 Operation = "ListBy10000"
	// OperationFetch is a process that reads its parameters, with all its requests
	// and their attempts.
	OperationFetch Operation = "Fetch"
	// OperationAppend writes an entry to a write-ahead log and flushes it.
	OperationAppend Operation = "Append"
	// OperationFlush is the fdatasync of an Append alone.
	OperationFlush Operation = "Flush"
	// OperationStatus asks a member for its status.
	OperationStatus Operation = "Status"
)

// trait is how an operation differs from a read that is a whole request.
type trait uint8

const (
	// agreed: each is one request that the members agree on.
	agreed trait = 1 << iota
	// event: it follows from requests and is not a request itself.
	event
	// part: it is the second half of a request. The first half counts the success.
	part
	// task: it is a sequence of requests that is due together with others.
	task
	// unconditional: every request of the outer operation has it, also a request that fails.
	unconditional
)

// operations has every operation once, in the order of Index.
var operations = [...]struct {
	operation Operation
	traits    trait
	// inner measures the last part of a success: the hand-off of a won lock or election to this client, or the flush of an
	// entry.
	inner Operation
}{
	{operation: OperationPut, traits: agreed},
	{operation: OperationRange},
	{operation: OperationDelete, traits: agreed},
	{operation: OperationTxn, traits: agreed},
	{operation: OperationCompareAndSwap},
	{operation: OperationSTM},
	{operation: OperationLockAcquire, inner: OperationLockHandOff},
	{operation: OperationLockRelease, traits: part},
	{operation: OperationLockHandOff, traits: event},
	{operation: OperationElectionCampaign, inner: OperationElectionHandOff},
	{operation: OperationElectionResign, traits: part},
	{operation: OperationElectionHandOff, traits: event},
	{operation: OperationLeaseGrant, traits: agreed},
	{operation: OperationLeaseKeepAlive},
	{operation: OperationLeaseRevoke, traits: agreed},
	{operation: OperationWatchEvent, traits: event},
	{operation: OperationWatchDelivery, traits: event},
	{operation: OperationOptimisticPut, traits: agreed},
	{operation: OperationOptimisticDelete, traits: agreed},
	{operation: OperationListBy500},
	{operation: OperationListBy10000},
	{operation: OperationFetch, traits: task},
	{operation: OperationAppend, inner: OperationFlush},
	{operation: OperationFlush, traits: event | unconditional},
	{operation: OperationStatus},
}

// Operations is the number of operations.
const Operations = len(operations)

// AllOperations returns every operation once, in the order of Index.
func AllOperations() []Operation {
	all := make([]Operation, 0, Operations)
	for _, o := range operations {
		all = append(all, o.operation)
	}
	return all
}

// Index returns the operation's place among all of them, from 0, or -1 for an unknown operation.
func (o Operation) Index() int {
	for i := range operations {
		if operations[i].operation == o {
			return i
		}
	}
	return -1
}

func (o Operation) has(t trait) bool {
	i := o.Index()
	return i >= 0 && operations[i].traits&t != 0
}

// IsEvent reports whether the operation follows from requests and is not a request itself. Totals over requests exclude
// it.
func (o Operation) IsEvent() bool { return o.has(event) }

// IsPart reports whether the operation is the second half of a request. The first half counts the success; its own
// failures are its own.
func (o Operation) IsPart() bool { return o.has(part) }

// IsTask reports whether each is a sequence of requests that is due together with others.
func (o Operation) IsTask() bool { return o.has(task) }

// IsUnconditional reports whether every request of the outer operation has this inner one, also a request that fails. Each
// entry needs a flush; only the winner of a lock has a hand-off.
func (o Operation) IsUnconditional() bool { return o.has(unconditional) }

// IsAgreed reports whether each is one request that the members agree on, such as a put.
func (o Operation) IsAgreed() bool { return o.has(agreed) }

// Inner returns the operation that measures the last part of this one, which begins at a moment inside it; "" if there is
// none. For a contest it is the hand-off of what the client wins.
func (o Operation) Inner() Operation {
	if i := o.Index(); i >= 0 {
		return operations[i].inner
	}
	return ""
}
