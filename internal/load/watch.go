package load

import (
	"context"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/internal/load/workload"
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
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

// Watcher is what one watcher watches.
type Watcher struct {
	// Number of the watcher in its pod.
	Number int
	// Key is the first key that is watched, and End the one before which that
	// ends; empty for one key.
	Key, End []byte
	// PrevKV asks for the previous value with each event.
	PrevKV bool
	// Reflect lets the watcher begin with a list of what there is, ask to be told
	// of progress, and be cancelled while there is no leader, as those of API
	// servers do.
	Reflect bool
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
	return Errorf(results.FailureInvalidPlan, "the transport %s carries no watches; write ClientV3", p.Load.Transport)
}

// streams returns the pod's watchers, by the streams that carry them. An API
// server has one watcher of each resource.
func (s *Session) streams() (all [][]Watcher) {
	if s.plan.Workload.Watch == nil {
		return [][]Watcher{s.reflectors()}
	}
	for _, numbers := range s.workload.Watchers(s.part) {
		all = append(all, s.watchers(numbers))
	}
	return all
}

func (s *Session) reflectors() (all []Watcher) {
	for _, resource := range workload.Resources {
		key := s.workload.AppendResource(nil, resource)
		// The key after all that begin like it: its last byte is a slash.
		end := append(key[:len(key)-1:len(key)-1], '/'+1)
		all = append(all, Watcher{Number: s.ledger.open(int64(resource), true), Key: key, End: end, PrevKV: true, Reflect: true})
	}
	return all
}

// watchers returns those with these numbers among the watchers of all pods, and
// lets the ledger expect their events.
func (s *Session) watchers(numbers []int) []Watcher {
	out := make([]Watcher, len(numbers))
	for i, number := range numbers {
		w := Watcher{Key: s.workload.AppendKey(nil, 0), End: s.workload.AppendAfterLast(nil), PrevKV: s.plan.Workload.Watch.PrevKV}
		key, one := s.workload.WatchedKey(number)
		if one {
			w.Key, w.End = s.workload.AppendKey(nil, key), nil
		}
		w.Number = s.ledger.open(key, one)
		out[i] = w
	}
	return out
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
