package load

import (
	"context"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
	"github.com/etcdbench/etcd-benchmark-operator/internal/workload"
)

// WatchConn is a Conn that can carry a stream of watchers.
type WatchConn interface {
	Conn
	// Watch opens a stream with these watchers and returns once the target has created all of them. They last until ctx
	// ends, which must be before the driver is closed. If the stream breaks or the target cancels a watcher, it is
	// reopened at the revision that it had reached. If that revision was compacted, the watcher is reopened at the
	// current one.
	Watch(ctx context.Context, watchers []Watcher, audience Audience) error
}

// Watcher is one watcher of the load.
type Watcher struct {
	// Number of the watcher in its pod.
	Number int
	workload.Watcher
}

// Audience receives the reports of watchers. Many watchers call it concurrently, each of them in the order of its
// events.
type Audience interface {
	// Event reports that a watcher has read the event of a put, at an instant. The value is not retained.
	Event(watcher int, at Instant, value []byte)
	// Duplicate reports that a watcher received an event again.
	Duplicate()
	// Cancelled reports that the target ended a watcher.
	Cancelled()
	// Resumed reports that a watcher was reopened because its stream had broken.
	Resumed()
}

// watch opens the pod's watchers, if its workload has any. They are created before the load begins. So every put of the
// pod comes after the revision at which each watcher was created, and each watcher must receive its event.
func (s *Session) watch(ctx context.Context) error {
	if s.matcher == nil {
		return nil
	}
	lasting, end := context.WithCancel(context.WithoutCancel(ctx))
	s.endWatch = end
	interrupt := context.AfterFunc(ctx, end)
	defer interrupt()
	for i, watchers := range s.streams() {
		conn, ok := s.carriers[i%len(s.carriers)].(WatchConn)
		if !ok {
			return noWatches(s.plan)
		}
		if err := conn.Watch(lasting, watchers, s.matcher); err != nil {
			return err
		}
	}
	return nil
}

func noWatches(p plan.Plan) error {
	return Errorf(results.FailureInvalidPlan, "the transport %s does not support watches: set spec.load.transport: Client", p.Load.Transport)
}

// streams returns the pod's watchers, by stream, and registers them with the matcher.
func (s *Session) streams() (all [][]Watcher) {
	for _, watchers := range s.workload.Watchers(s.part.Index) {
		stream := make([]Watcher, len(watchers))
		for i, w := range watchers {
			stream[i] = Watcher{Number: s.matcher.open(w.What), Watcher: w}
		}
		all = append(all, stream)
	}
	return all
}

// awaitEvents waits for the outstanding events, for at most atMost, and for less after ctx has ended. Events that had
// the full time and did not arrive are missed; if the wait was cut short, they are censored.
func (s *Session) awaitEvents(ctx context.Context, atMost time.Duration) {
	if s.matcher == nil {
		return
	}
	hadTime := s.matcher.await(ctx, atMost)
	if !hadTime {
		s.matcher.await(context.WithoutCancel(ctx), min(atMost, interruptedDrain))
	}
	s.matcher.close(hadTime)
}
