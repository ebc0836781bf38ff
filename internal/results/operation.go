package results

import "slices"

// Operation is a kind of request that is measured, in etcd's terms.
type Operation string

// The measured operations.
const (
	OperationPut   Operation = "Put"
	OperationRange Operation = "Range"
	// OperationDelete deletes one key.
	OperationDelete Operation = "Delete"
	// OperationTxn is a transaction that writes several keys.
	OperationTxn Operation = "Txn"
	// OperationCompareAndSwap reads a key and writes it if nobody has since.
	OperationCompareAndSwap Operation = "CompareAndSwap"
	// OperationSTM is a software transaction, with its lock and all its attempts.
	OperationSTM Operation = "STM"
	// OperationLockAcquire is from when a lock is wanted until it is had.
	OperationLockAcquire Operation = "LockAcquire"
	// OperationLockRelease gives it back.
	OperationLockRelease Operation = "LockRelease"
	// OperationLockHandOff is from the answer to a release to when the next has
	// the lock, both of one client pod.
	OperationLockHandOff Operation = "LockHandOff"
	// OperationElectionCampaign, OperationElectionResign and
	// OperationElectionHandOff are the same of the leadership of an election.
	OperationElectionCampaign Operation = "ElectionCampaign"
	OperationElectionResign   Operation = "ElectionResign"
	OperationElectionHandOff  Operation = "ElectionHandOff"
	OperationLeaseGrant       Operation = "LeaseGrant"
	OperationLeaseKeepAlive   Operation = "LeaseKeepAlive"
	OperationLeaseRevoke      Operation = "LeaseRevoke"
	// OperationOptimisticPut creates or changes an object of a Kubernetes registry,
	// and OperationOptimisticDelete deletes one, if nobody was faster.
	OperationOptimisticPut    Operation = "OptimisticPut"
	OperationOptimisticDelete Operation = "OptimisticDelete"
	// OperationListBy500 and OperationListBy10000 read all objects of a kind, in
	// pages of that many.
	OperationListBy500   Operation = "ListBy500"
	OperationListBy10000 Operation = "ListBy10000"
	// OperationWatchEvent is the arrival of an event at a watcher, from when its
	// put was due, and OperationWatchDelivery the same from when the put was
	// answered.
	OperationWatchEvent    Operation = "WatchEvent"
	OperationWatchDelivery Operation = "WatchDelivery"
)

var operations = [...]Operation{
	OperationPut, OperationRange, OperationDelete, OperationTxn, OperationCompareAndSwap, OperationSTM,
	OperationLockAcquire, OperationLockRelease, OperationLockHandOff,
	OperationElectionCampaign, OperationElectionResign, OperationElectionHandOff,
	OperationLeaseGrant, OperationLeaseKeepAlive, OperationLeaseRevoke,
	OperationWatchEvent, OperationWatchDelivery,
	OperationOptimisticPut, OperationOptimisticDelete, OperationListBy500, OperationListBy10000,
}

// ErrorMissed is the code under which an event counts as failed that was not
// delivered.
const ErrorMissed = "Missed"

// IsEvent says whether the operation is what follows from requests, and no
// request itself: it is in no total over requests.
func (o Operation) IsEvent() bool {
	switch o {
	case OperationWatchEvent, OperationWatchDelivery, OperationLockHandOff, OperationElectionHandOff:
		return true
	}
	return false
}

// Operations is how many operations there are.
const Operations = len(operations)

// Index returns the operation's place among all of them, from 0, and -1 for one
// that does not exist.
func (o Operation) Index() int { return slices.Index(operations[:], o) }

// IsPart says that the operation is the second half of a request whose success
// the first half counts. Its failures are its own.
func (o Operation) IsPart() bool {
	return o == OperationLockRelease || o == OperationElectionResign
}

// HandOff returns the operation that measures how what this one wins goes from
// one client to the next; it is empty if this one wins nothing.
func (o Operation) HandOff() Operation {
	switch o {
	case OperationLockAcquire:
		return OperationLockHandOff
	case OperationElectionCampaign:
		return OperationElectionHandOff
	}
	return ""
}
