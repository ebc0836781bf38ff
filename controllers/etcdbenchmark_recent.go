package controllers

import (
	"sync"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/benchmark"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// recents holds the counts of the last update of each run that measures. They are lost when the operator restarts. The
// zero value is ready.
type recents struct {
	mutex sync.Mutex
	runs  map[types.NamespacedName]recentRun
}

type recentRun struct {
	uid types.UID
	*benchmark.Recent
}

// update sets what happened since the last update in a run's progress, if it has one.
func (r *recents) update(run *v1alpha1.EtcdBenchmark, snapshots []*results.Snapshot) {
	key := client.ObjectKeyFromObject(run)
	if run.Status.Progress == nil {
		r.forget(key)
		return
	}
	r.mutex.Lock()
	defer r.mutex.Unlock()
	own, ok := r.runs[key]
	if !ok || own.uid != run.UID {
		if r.runs == nil {
			r.runs = map[types.NamespacedName]recentRun{}
		}
		own = recentRun{run.UID, &benchmark.Recent{}}
		r.runs[key] = own
	}
	own.Update(run.Status.Progress, snapshots)
}

// forget removes a run that has finished or is gone.
func (r *recents) forget(key types.NamespacedName) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	delete(r.runs, key)
}
