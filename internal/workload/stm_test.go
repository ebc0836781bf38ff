package workload

import (
	"testing"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
)

// softly makes a run of the workload STM.
func softly(s spec.STM) func(*Run) {
	return func(r *Run) {
		if r.Workload = (spec.Workload{Type: spec.WorkloadSTM, STM: &s}); s.Locks() {
			r.FirstLease = 5 * LeaseIDs
		}
	}
}

func stmOf(keys, writePercent int32) *Workload {
	r := runOf(spec.Workload{})
	softly(spec.STM{
		KeysPerTransaction: keys, WritePercent: writePercent, Locker: spec.LockerNone,
		Keys: spec.Keys{Count: 1_000, SizeBytes: 8, Distribution: spec.Uniform},
	})(&r)
	return New(r)
}

// With one key and a write share of a half, every second transaction writes; etcd's tool never does.
func TestTheShareOfWritesIsRightOverManyTransactions(t *testing.T) {
	for name, tc := range map[string]struct {
		keys, percent int32
		fewest, most  int
	}{
		"half a key":     {1, 50, 0, 1},
		"a key and some": {7, 20, 1, 2},
		"whole keys":     {10, 30, 3, 3},
		"none":           {5, 0, 0, 0},
		"all":            {5, 100, 5, 5},
	} {
		t.Run(name, func(t *testing.T) {
			const transactions = 20_000
			w := stmOf(tc.keys, tc.percent)
			sum := 0
			for n := range int64(transactions) {
				op := w.At(Measured, n)
				writes := w.WritesOf(op)
				if op.Kind != spec.OperationSTM || op.Subject != OnSeveral || writes < tc.fewest || writes > tc.most {
					t.Fatalf("operation %d is %+v and writes %d keys, wanted %d to %d", n, op, writes, tc.fewest, tc.most)
				}
				sum += writes
			}
			want := transactions * int(tc.keys*tc.percent) / 100
			if tolerance := transactions / 50; sum < want-tolerance || sum > want+tolerance {
				t.Errorf("%d transactions write %d keys, wanted about %d", transactions, sum, want)
			}
		})
	}
}

func TestSTMTakesItsKeysAndPreloadsAllOfThem(t *testing.T) {
	w := stmOf(4, 50)
	if keys := w.AppendKeys(nil, w.At(Measured, 3), new(Taken)); len(keys) != 4 {
		t.Errorf("a transaction takes %v, wanted 4 keys", keys)
	}
	if w.PreloadCount() != 1_000 || w.Preload(9).Kind != spec.OperationPut {
		t.Errorf("the preload is %d operations, the ninth of them %+v; wanted each key put once", w.PreloadCount(), w.Preload(9))
	}
	if kinds := w.run.Operations(); len(kinds) != 1 || kinds[0] != spec.OperationSTM {
		t.Errorf("the workload measures %v", kinds)
	}
}

// All keys of a transaction are written if there is no share of writes.
func TestATransactionOfPutsWritesAllItsKeys(t *testing.T) {
	w := txnOf(3, 7, spec.Sequential)
	if n := w.WritesOf(w.At(Measured, 1)); n != 3 {
		t.Errorf("a transaction of 3 puts writes %d keys", n)
	}
}

func TestValidateRefusesSTM(t *testing.T) {
	good := spec.STM{Isolation: spec.IsolationSerializableSnapshot, KeysPerTransaction: 4, WritePercent: 50, Locker: spec.LockerNone, Keys: someKeys, Values: someValues}
	with := func(change func(*spec.STM)) func(*Run) {
		changed := good
		change(&changed)
		return softly(changed)
	}
	requireProblems(t, map[string]problem{
		"without its field":    {func(r *Run) { r.Workload.Type = spec.WorkloadSTM }, "workload: wanted the field of type STM"},
		"of another workload":  {func(r *Run) { r.Workload.STM = &good }, "workload: wanted the field of type Put"},
		"an unknown isolation": {with(func(s *spec.STM) { s.Isolation = "Chaos" }), "workload.stm.isolation"},
		"an unknown locker":    {with(func(s *spec.STM) { s.Locker = "Padlock" }), "workload.stm.locker"},
		"no keys":              {with(func(s *spec.STM) { s.KeysPerTransaction = 0 }), "workload.stm.keysPerTransaction"},
		"too many keys": {with(func(s *spec.STM) {
			s.Isolation, s.KeysPerTransaction = spec.IsolationSerializable, spec.MaxTxnOperations+1
		}), "workload.stm.keysPerTransaction"},
		"too many comparisons":     {with(func(s *spec.STM) { s.KeysPerTransaction, s.WritePercent = spec.MaxTxnOperations-1, 1 }), "workload.stm.keysPerTransaction"},
		"far too many comparisons": {with(func(s *spec.STM) { s.KeysPerTransaction, s.WritePercent, s.Keys.Count = 21_474_837, 100, 100_000_000 }), "workload.stm.keysPerTransaction"},
		"more keys than there are": {with(func(s *spec.STM) { s.Keys.Count = 3 }), "workload.stm.keysPerTransaction"},
		"more than all written":    {with(func(s *spec.STM) { s.WritePercent = 101 }), "workload.stm.writePercent"},
		"less than none written":   {with(func(s *spec.STM) { s.WritePercent = -1 }), "workload.stm.writePercent"},
		"locks without leases":     {func(r *Run) { with(func(s *spec.STM) { s.Locker = spec.LockerClient })(r); r.FirstLease = 0 }, "firstLease"},
		"leases without locks":     {func(r *Run) { softly(good)(r); r.FirstLease = LeaseIDs }, "firstLease"},
		"over Fast":                {func(r *Run) { softly(good)(r); r.Load.Transport = spec.TransportFast }, "load.transport"},
	})
}
