package benchmark

import (
	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// Progress returns how far a run is, from the newest snapshot of each pod that
// has one. snaps may hold nil for pods that have none.
func Progress(b *v1alpha1.EtcdBenchmark, snaps []*results.Snapshot) *v1alpha1.Progress {
	return nil
}

// Pod returns what a snapshot knows of its pod. The caller adds what only the
// cluster knows: name, node, road and whether the snapshot is partial.
func Pod(snap *results.Snapshot) v1alpha1.PodStatus {
	return v1alpha1.PodStatus{}
}
