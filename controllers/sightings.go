package controllers

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
)

// sightings records when this operator process first saw something about a run. Grace periods count from then: the stamps of
// the API server, of nodes and of another operator process come from other clocks, which may be minutes off. The times
// include a monotonic reading, so that a jump of the operator's clock does not matter either. A restarted operator begins
// anew. The zero value is ready.
type sightings struct {
	mutex sync.Mutex
	runs  map[types.NamespacedName]seenRun
}

type seenRun struct {
	uid types.UID
	at  map[string]time.Time
}

// since returns when this was first seen, which is now if it was not seen before.
func (s *sightings) since(run *v1alpha1.EtcdBenchmark, what string, now time.Time) time.Time {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	key := client.ObjectKeyFromObject(run)
	seen, ok := s.runs[key]
	if !ok || seen.uid != run.UID {
		if s.runs == nil {
			s.runs = map[types.NamespacedName]seenRun{}
		}
		seen = seenRun{run.UID, map[string]time.Time{}}
		s.runs[key] = seen
	}
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
	return seen.uid == run.UID && !seen.at[what].IsZero()
}

// forget removes a run that waits for nothing, or is gone.
func (s *sightings) forget(key types.NamespacedName) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	delete(s.runs, key)
}
