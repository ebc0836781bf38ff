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
)

var operations = [...]Operation{
	OperationPut, OperationRange, OperationDelete, OperationTxn, OperationCompareAndSwap, OperationSTM,
	OperationLeaseGrant, OperationLeaseKeepAlive, OperationLeaseRevoke,
}

// Operations is how many operations there are.
const Operations = len(operations)

// Index returns the operation's place among all of them, from 0, and -1 for one
// that does not exist.
func (o Operation) Index() int { return slices.Index(operations[:], o) }
