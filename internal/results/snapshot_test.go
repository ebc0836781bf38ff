package results

import (
	"math/rand/v2"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
)

// sameSnapshot compares snapshots and treats empty and nil as equal.
var sameSnapshot = []cmp.Option{cmpopts.EquateEmpty()}

var testStart = time.Date(2026, 3, 1, 12, 0, 0, 123456000, time.UTC)

// finalSnapshot is a pod that has sent n requests of each operation.
func finalSnapshot(index, n int, operations ...spec.Operation) *Snapshot {
	r := rand.New(rand.NewPCG(7, uint64(index)))
	s := pod(time.Duration(index+1)*1234567, 10*time.Second, 0)
	s.Index, s.Cleaning, s.KeyBytes, s.Process = index, CleaningKeysDeleted, 27, idle()
	s.Operations = map[spec.Operation]*OperationResult{}
	s.Requests = map[spec.RPC]map[Phase]uint64{spec.RPCTxn: {PhaseControl: 3}}
	for _, operation := range operations {
		result := &OperationResult{Errors: map[string]uint64{}, CompletedInWindow: uint64(n)}
		for range n {
			result.Service.Record(r.Int64N(1e8))
			result.Latency.Record(r.Int64N(1e8))
			s.Timeline.Record(time.Duration(r.Int64N(1e10)), time.Duration(r.Int64N(1e8)), r.IntN(10) > 0)
		}
		s.Operations[operation] = result
		s.Requests[spec.RPC(operation)] = map[Phase]uint64{PhaseWarmup: 977, PhaseMeasured: uint64(n)}
	}
	if index == 0 {
		s.Target = &Target{ClusterID: "a", Members: []Member{{ID: "1", Name: "etcd-0"}}}
	}
	return s
}
