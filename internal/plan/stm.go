package plan

import (
	"errors"
	"fmt"
	"slices"
)

// WorkloadSTM reads and writes several keys with each software transaction,
// which is tried until no other one came between.
const WorkloadSTM WorkloadType = "STM"

// Isolation is which conflicts keep a transaction of WorkloadSTM from
// committing, in clientv3's terms.
type Isolation string

// The isolation levels, strictest first.
const (
	// IsolationSerializableSnapshot wants what was read to be unchanged, and what
	// is written to be no newer than the first read.
	IsolationSerializableSnapshot Isolation = "SerializableSnapshot"
	// IsolationSerializable reads all keys at the revision of the first read.
	IsolationSerializable Isolation = "Serializable"
	// IsolationRepeatableReads reads each key at a revision of its own.
	IsolationRepeatableReads Isolation = "RepeatableReads"
	// IsolationReadCommitted never conflicts.
	IsolationReadCommitted Isolation = "ReadCommitted"
)

// Locker is what keeps transactions of WorkloadSTM apart.
type Locker string

// The lockers.
const (
	// LockerNone leaves it to the attempts.
	LockerNone Locker = "None"
	// LockerClient takes a mutex of clientv3's concurrency package.
	LockerClient Locker = "LockClient"
	// LockerRPC asks etcd's lock service.
	LockerRPC Locker = "LockRPC"
)

// STM is what each transaction of WorkloadSTM does.
type STM struct {
	Isolation Isolation `json:"isolation"`
	// Keys is how many different keys a transaction reads.
	Keys int `json:"keys"`
	// WritePercent of the keys are written after they were read.
	WritePercent int    `json:"writePercent"`
	Locker       Locker `json:"locker"`
}

// Locks says whether each transaction holds a lock.
func (s *STM) Locks() bool { return s.Locker != LockerNone }

// mostWrites is the greatest number of keys that a transaction writes.
func (s *STM) mostWrites() int { return (s.Keys*s.WritePercent + 99) / 100 }

// comparisons is the greatest number of them in a commit.
func (s *STM) comparisons() int {
	if s.Isolation == IsolationSerializableSnapshot {
		return s.Keys + s.mostWrites()
	}
	return s.Keys
}

// entries is how many the store gets for each transaction, on average. A lock is
// a key that is written and deleted.
func (s *STM) entries() float64 {
	entries := float64(s.Keys*s.WritePercent) / 100
	if s.Locks() {
		entries += 2
	}
	return entries
}

var (
	isolations = []Isolation{IsolationSerializableSnapshot, IsolationSerializable, IsolationRepeatableReads, IsolationReadCommitted}
	lockers    = []Locker{LockerNone, LockerClient, LockerRPC}
)

func (s *STM) validate(keyCount int64) error {
	return errors.Join(
		check(slices.Contains(isolations, s.Isolation), "workload.stm.isolation", fmt.Sprintf("one of %v", isolations), s.Isolation),
		check(slices.Contains(lockers, s.Locker), "workload.stm.locker", fmt.Sprintf("one of %v", lockers), s.Locker),
		check(s.WritePercent >= 0 && s.WritePercent <= 100, "workload.stm.writePercent", "0 to 100", s.WritePercent),
		check(s.Keys >= 1 && s.comparisons() <= MaxTxnOperations, "workload.stm.keys",
			fmt.Sprintf("at least 1, and at most %d comparisons in a commit", MaxTxnOperations), s.Keys),
		check(int64(s.Keys) <= keyCount, "workload.stm.keys", "at most keyCount, for a transaction reads a key once", s.Keys),
	)
}
