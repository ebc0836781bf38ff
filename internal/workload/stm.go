package workload

import (
	"fmt"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
)

// stm reads and writes several keys with each software transaction.
type stm struct {
	keyed
	settings spec.STM
}

func newSTM(w spec.Workload) kind {
	return stm{keyed{space: w.STM.Keys, stored: w.STM.Values}, *w.STM}
}

func (stm) operations() []spec.Operation { return []spec.Operation{spec.OperationSTM} }

func (k stm) at(_ *Workload, stream Stream, n int64) Operation {
	return Operation{Kind: spec.OperationSTM, Subject: OnSeveral, Value: n, keys: draw{stream, n}}
}

func (k stm) several() int { return int(k.settings.KeysPerTransaction) }

func (k stm) writePercent() int { return int(k.settings.WritePercent) }

func (k stm) sessions() bool { return k.settings.Locks() }

func (k stm) leases(r *Run) int64 {
	if k.sessions() {
		return int64(r.Load.Clients)
	}
	return 0
}

// growth: a lock is a key that is written and deleted.
func (k stm) growth(r *Run) (preload, request float64, known bool) {
	entries := float64(k.settings.KeysPerTransaction*k.settings.WritePercent) / 100
	if k.sessions() {
		entries += 2
	}
	return float64(k.space.Count) * k.entry(r), entries * k.entry(r), true
}

// STMLock is the name of the one lock that all software transactions take.
func (r *Run) STMLock() string { return r.LockPrefix() + "stm" }

var (
	isolations = []spec.Isolation{spec.IsolationSerializableSnapshot, spec.IsolationSerializable, spec.IsolationRepeatableReads, spec.IsolationReadCommitted}
	lockers    = []spec.Locker{spec.LockerNone, spec.LockerClient, spec.LockerRPC}
)

func (k stm) check(r *Run) []error {
	s := k.settings
	// A commit compares the keys that were read and, at the strictest isolation level, those that are written.
	comparisons := int(s.KeysPerTransaction)
	if s.Isolation == spec.IsolationSerializableSnapshot {
		comparisons += (int(s.KeysPerTransaction)*int(s.WritePercent) + 99) / 100
	}
	return append(k.keyed.check(r),
		oneOf("workload.stm.isolation", s.Isolation, isolations...),
		oneOf("workload.stm.locker", s.Locker, lockers...),
		Wanted(s.WritePercent >= 0 && s.WritePercent <= 100, "workload.stm.writePercent", "0 to 100", s.WritePercent),
		Wanted(s.KeysPerTransaction >= 1 && comparisons <= spec.MaxTxnOperations, "workload.stm.keysPerTransaction",
			fmt.Sprintf("at least 1, and at most %d comparisons in a commit", spec.MaxTxnOperations), s.KeysPerTransaction),
		Wanted(int64(s.KeysPerTransaction) <= k.space.Count, "workload.stm.keysPerTransaction", "at most keys.count: a transaction reads a key once", s.KeysPerTransaction),
	)
}
