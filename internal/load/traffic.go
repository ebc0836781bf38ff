package load

import (
	"sync"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// traffic notes the bytes on the connections of a burst over its time. The zero value notes nothing.
type traffic struct {
	mutex    sync.Mutex
	timeline results.Timeline
}

// begin notes the bytes since the start of a window until the returned function is called.
func (t *traffic) begin(source Weigher, start Instant) (end func()) {
	stop, ended, before := make(chan struct{}), make(chan struct{}), source.Wire()
	go func() {
		defer close(ended)
		ticker := time.NewTicker(results.TimelineInterval)
		defer ticker.Stop()
		for {
			last := false
			select {
			case <-ticker.C:
			case <-stop:
				last = true
			}
			now := source.Wire()
			t.note(Now().Sub(start), results.Bodies{Sent: now.Sent - before.Sent, Received: now.Received - before.Received})
			if before = now; last {
				return
			}
		}
	}()
	return func() {
		close(stop)
		<-ended
	}
}

// note takes the bytes that ended at an offset. Those of an interval are known at its end.
func (t *traffic) note(offset time.Duration, bytes results.Bodies) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	if bytes != (results.Bodies{}) {
		t.timeline.Carry(max(offset-results.TimelineInterval/2, 0), bytes)
	}
}

// course adds the bytes to a snapshot.
func (t *traffic) course(snapshot *results.Snapshot) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	snapshot.Timeline.Merge(&t.timeline)
}
