package benchmark

import (
	"strings"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
)

// perfdashName names what was measured. It is the name of etcd's own benchmark
// where that measures the same; else it begins with the workload, so that what
// two workloads do with the same operation never joins one graph.
func perfdashName(w *v1alpha1.Workload, operation v1alpha1.Operation) string {
	if name := etcdsName(w, operation); name != "" {
		return name
	}
	name, workload := strings.ToUpper(string(operation)), strings.ToUpper(string(w.Type))
	if strings.HasPrefix(name, workload) {
		return name
	}
	return workload + "-" + name
}

// measurement is an operation of a workload.
type measurement struct {
	workload  v1alpha1.WorkloadType
	operation v1alpha1.Operation
}

// etcdsNames are those of etcd's own benchmark.
var etcdsNames = map[measurement]string{
	{v1alpha1.WorkloadTxn, v1alpha1.OperationTxn}:             "TXN-PUT",
	{v1alpha1.WorkloadWatch, v1alpha1.OperationPut}:           "WATCH-LATENCY-PUT",
	{v1alpha1.WorkloadWatch, v1alpha1.OperationWatchDelivery}: "WATCH-LATENCY-WATCH",
	{v1alpha1.WorkloadWatchGet, v1alpha1.OperationRange}:      "WATCH-GET",
}

// etcdsName is empty where etcd's own benchmark does not measure the same.
func etcdsName(w *v1alpha1.Workload, operation v1alpha1.Operation) string {
	switch {
	case w.Mixed != nil && w.Mixed.InTransaction && operation == v1alpha1.OperationPut:
		return "TXN-MIXED-WRITE"
	case w.Mixed != nil && w.Mixed.InTransaction && operation == v1alpha1.OperationRange:
		return "TXN-MIXED-READ"
	case operation != v1alpha1.OperationLeaseKeepAlive:
		return etcdsNames[measurement{w.Type, operation}]
	case w.Lease != nil && w.Lease.KeepAlive != nil && w.Lease.KeepAlive.Mode == v1alpha1.KeepAliveOnce:
		return "LEASE-KEEPALIVE"
	}
	return "LEASE-KEEPALIVE-STREAM"
}
