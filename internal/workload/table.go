package workload

import (
	"maps"
	"slices"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
)

// kinds has each type of workload.
var kinds = map[spec.WorkloadType]func(spec.Workload) kind{
	spec.WorkloadPut:        newPut,
	spec.WorkloadRange:      newRange,
	spec.WorkloadMixed:      newMixed,
	spec.WorkloadDelete:     newDelete,
	spec.WorkloadTxn:        newTxn,
	spec.WorkloadSTM:        newSTM,
	spec.WorkloadLock:       newLock,
	spec.WorkloadElection:   newElection,
	spec.WorkloadLease:      newLease,
	spec.WorkloadWatch:      newWatch,
	spec.WorkloadWatchGet:   newWatchGet,
	spec.WorkloadKubernetes: newKubernetes,
}

// Types returns all types of workloads, sorted.
func Types() []spec.WorkloadType { return slices.Sorted(maps.Keys(kinds)) }
