package workload

import (
	"fmt"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
)

// Limits of ZooKeeper: it keeps every znode in memory, and rejects requests above 1 MiB.
const (
	mostNodes        = 10_000_000
	mostNodeBytes    = 1_000_000
	leastNodeNameLen = 4
)

// checkZooKeeper accepts runs in which each request creates another znode.
func checkZooKeeper(r *Run) []error {
	keys, values := r.Keys(), r.Values()
	requests := r.Load.RequestBound()
	return []error{
		Wanted(r.Workload.Type == spec.WorkloadPut, "workload.type", "Put for ZooKeeper", r.Workload.Type),
		Wanted(keys.Distribution == spec.Sequential, "keys.distribution", "Sequential for ZooKeeper", keys.Distribution),
		Wanted(keys.SizeBytes >= leastNodeNameLen && keys.Count <= mostNodes, "keys", fmt.Sprintf("at least %d bytes, and at most %d keys, for ZooKeeper", leastNodeNameLen, mostNodes), keys),
		Wanted(values.SizeBytes <= mostNodeBytes, "values.sizeBytes", fmt.Sprintf("at most %d for ZooKeeper", mostNodeBytes), values.SizeBytes),
		Wanted(r.Load.Requests != nil && requests <= keys.Count, "load.requests", "at most keys.count for ZooKeeper", requests),
		Wanted(r.Load.WarmupSeconds == 0, "load.warmupSeconds", "0 for ZooKeeper", r.Load.WarmupSeconds),
	}
}
