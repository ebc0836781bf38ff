package load

import (
	"sync/atomic"
	"testing"

	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// weighed is a driver whose connections have carried so many bytes.
type weighed struct{ sent atomic.Uint64 }

func (w *weighed) Bodies() results.Bodies { return results.Bodies{} }

func (w *weighed) Wire() results.Bodies {
	return results.Bodies{Sent: w.sent.Load(), Received: 10 * w.sent.Load()}
}

// All bytes between the start and the end of the load are in the timeline, and none from before.
func TestTheTimelineHasTheTrafficOfABurst(t *testing.T) {
	w, noted := &weighed{}, traffic{}
	w.sent.Store(1000)
	end := noted.begin(w, Now())
	w.sent.Add(10)
	end()
	var snapshot results.Snapshot
	noted.course(&snapshot)
	var sum results.Bodies
	for _, p := range snapshot.Timeline.Points {
		sum.Sent, sum.Received = sum.Sent+p.Carried.Sent, sum.Received+p.Carried.Received
	}
	if want := (results.Bodies{Sent: 10, Received: 100}); sum != want {
		t.Errorf("got %+v, wanted %+v", sum, want)
	}
}
