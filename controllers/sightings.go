package controllers

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/benchmark"
)

// sightings records when this operator process first saw something about a run. Grace periods count from then: the stamps of
// the API server, of nodes and of another operator process come from other clocks, which may be minutes off. The times
// include a monotonic reading, so that a jump of the operator's clock does not matter either. A restarted operator begins
// anew. The zero value is ready.
type sightings struct {
	mutex sync.Mutex
	runs  map[types.NamespacedName]*seenRun
}

type seenRun struct {
	uid types.UID
	at  map[string]time.Time
	// recent has the counts of the last progress. Only one reconcile at a time uses it.
	recent benchmark.Recent
}

// of returns what is known about a run. The caller holds the mutex.
func (s *sightings) of(run *v1alpha1.EtcdBenchmark) *seenRun {
	key := client.ObjectKeyFromObject(run)
	if seen := s.runs[key]; seen != nil && seen.uid == run.UID {
		return seen
	}
	if s.runs == nil {
		s.runs = map[types.NamespacedName]*seenRun{}
	}
	s.runs[key] = &seenRun{uid: run.UID, at: map[string]time.Time{}}
	return s.runs[key]
}

// since returns when this was first seen, which is now if it was not seen before.
func (s *sightings) since(run *v1alpha1.EtcdBenchmark, what string, now time.Time) time.Time {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	seen := s.of(run)
	if seen.at[what].IsZero() {
		seen.at[what] = now
	}
	return seen.at[what]
}

// has reports whether this was seen.
func (s *sightings) has(run *v1alpha1.EtcdBenchmark, what string) bool {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	seen := s.runs[client.ObjectKeyFromObject(run)]
	return seen != nil && seen.uid == run.UID && !seen.at[what].IsZero()
}

// recent returns the counts of the run's last progress.
func (s *sightings) recent(run *v1alpha1.EtcdBenchmark) *benchmark.Recent {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return &s.of(run).recent
}

// forget removes a run that waits for nothing, or is gone.
func (s *sightings) forget(key types.NamespacedName) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	delete(s.runs, key)
}
