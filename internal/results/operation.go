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
	OperationSTM            Operation = "STM"
	OperationLeaseGrant     Operation = "LeaseGrant"
	OperationLeaseKeepAlive Operation = "LeaseKeepAlive"
	OperationLeaseRevoke    Operation = "LeaseRevoke"
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
	return o == OperationWatchEvent || o == OperationWatchDelivery
}

// Operations is how many operations there are.
const Operations = len(operations)

// Index returns the operation's place among all of them, from 0, and -1 for one
// that does not exist.
func (o Operation) Index() int { return slices.Index(operations[:], o) }
