package plan

import "errors"

// WorkloadTxn writes several keys, or swaps one, with each transaction.
const WorkloadTxn WorkloadType = "Txn"

// MaxTxnOperations is etcd's default limit of the operations, and of the
// comparisons, in one transaction.
const MaxTxnOperations = 128

// Txn is what each transaction of WorkloadTxn does.
type Txn struct {
	// Puts is how many different keys it writes; 0 makes it a compare-and-swap
	// of one key.
	Puts int `json:"puts,omitempty"`
}

// CompareAndSwap says whether a transaction writes one key if nobody has
// written it since it was read.
func (t *Txn) CompareAndSwap() bool { return t.Puts == 0 }

func (t *Txn) validate(keyCount int64) error {
	return errors.Join(
		check(t.Puts >= 0 && t.Puts <= MaxTxnOperations, "workload.txn.puts", "0 to 128", t.Puts),
		check(int64(t.Puts) <= keyCount, "workload.txn.puts", "at most keyCount, for a transaction writes a key once", t.Puts),
	)
}
