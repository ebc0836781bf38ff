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
	// Watch opens a stream with these watchers and returns once the target has
	// created all of them. They last until ctx ends, which must be before the
	// driver is closed, and are opened again where they were if their stream
	// breaks, or if the target cancels them. Only where what comes there is
	// compacted, a watcher is opened at the present and sees what comes from then
	// on.
	Watch(ctx context.Context, watchers []Watcher, audience Audience) error
}

// Watcher is one watcher of the load.
type Watcher struct {
	// Number of the watcher in its pod.
	Number int
	workload.Watcher
}

// Audience is told what watchers see. Many watchers call it at once, and each of
// them in the order of its events.
type Audience interface {
	// Event tells that a watcher has read, at an instant, the event of a put. The
	// value is not kept.
	Event(watcher int, at Instant, value []byte)
	// Duplicate tells that it was given an event once more.
	Duplicate()
	// Cancelled tells that the target has ended a watcher.
	Cancelled()
	// Resumed tells that a watcher was opened anew because its stream had broken.
	Resumed()
}

// watch opens the pod's watchers, if its workload has any. They must be there
// before the load: then every put of the pod comes after the revision at which
// each of them was created, and owes it an event.
func (s *Session) watch(ctx context.Context) error {
	if s.ledger == nil {
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
		if err := conn.Watch(lasting, watchers, s.ledger); err != nil {
			return err
		}
	}
	return nil
}

func noWatches(p plan.Plan) error {
	return Errorf(results.FailureInvalidPlan, "the transport %s carries no watches; write Client", p.Load.Transport)
}

// streams returns the pod's watchers, by the streams that carry them, and lets the
// ledger expect their events.
func (s *Session) streams() (all [][]Watcher) {
	for _, watchers := range s.workload.Watchers(s.part.Index) {
		stream := make([]Watcher, len(watchers))
		for i, w := range watchers {
			stream[i] = Watcher{Number: s.ledger.open(w.What), Watcher: w}
		}
		all = append(all, stream)
	}
	return all
}

// awaitEvents waits, for at most a while and less once ctx has ended, for the
// events that are still to come. Those that had their time and did not come are
// missed; those that had not are censored, for nobody knows.
func (s *Session) awaitEvents(ctx context.Context, atMost time.Duration) {
	if s.ledger == nil {
		return
	}
	hadTime := s.ledger.await(ctx, atMost)
	if !hadTime {
		s.ledger.await(context.WithoutCancel(ctx), min(atMost, interruptedDrain))
	}
	s.ledger.close(hadTime)
}
