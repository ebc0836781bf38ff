package workload

import (
	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
)

// checkKine accepts the load of API servers: kine serves no other requests.
func checkKine(r *Run) []error {
	return []error{Wanted(r.Workload.Type == spec.WorkloadKubernetes, "workload.type", "Kubernetes for Kine", r.Workload.Type)}
}
