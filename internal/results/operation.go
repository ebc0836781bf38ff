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
)

var operations = [...]Operation{
	OperationPut, OperationRange, OperationDelete, OperationTxn, OperationCompareAndSwap, OperationSTM,
	OperationLockAcquire, OperationLockRelease, OperationLockHandOff,
	OperationElectionCampaign, OperationElectionResign, OperationElectionHandOff,
	OperationLeaseGrant, OperationLeaseKeepAlive, OperationLeaseRevoke,
}

// Operations is how many operations there are.
const Operations = len(operations)

// Index returns the operation's place among all of them, from 0, and -1 for one
// that does not exist.
func (o Operation) Index() int { return slices.Index(operations[:], o) }

// IsPart says that the operation is a part of a request whose success another
// operation counts. It has times and, if it can fail, failures of its own.
func (o Operation) IsPart() bool {
	switch o {
	case OperationLockRelease, OperationLockHandOff, OperationElectionResign, OperationElectionHandOff:
		return true
	}
	return false
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
