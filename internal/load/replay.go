package load

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
	"github.com/etcdbench/etcd-benchmark-operator/internal/workload"
)

// ReplayConn is a Conn whose watchers can start at a past revision.
type ReplayConn interface {
	Conn
	// Replay starts watchers on one stream. Each reads the history from its beginning, over and over, until ctx ends,
	// which must be before the driver is closed. Replay does not wait for them.
	Replay(ctx context.Context, watchers int, history History, audience ReplayAudience)
}

// History describes the past events of a key.
type History struct {
	Key []byte
	// First and Last are the revisions of the first and of the last event.
	First, Last int64
}

// ReplayAudience receives the reports of watchers of a history. Many goroutines call it concurrently.
type ReplayAudience interface {
	// Replayed reports that a watcher has read the history to its end: the number of events, and how many of them came
	// more than once.
	Replayed(events, duplicate int)
	// Cancelled reports that the target ended a watcher before the end of the history.
	Cancelled()
	// Compacted reports that the history was compacted, so the watcher reads no more.
	Compacted()
}

// replays counts what this pod's watchers read of its history in the measured window.
type replays struct {
	history History
	// settings say how many events the history has, and how many watchers read it.
	settings workload.History
	// inWindow reports whether the window is open.
	inWindow func() bool
	// sinceStart is the time since the start of the window, negative before it.
	sinceStart func() time.Duration

	read, missed, duplicate, cancelledTimes atomic.Uint64
	// compactedAfter is results.Watch.CompactedAfter.
	compactedAfter atomic.Int64
}

var _ ReplayAudience = (*replays)(nil)

// Replayed implements ReplayAudience. A put of the history that was repeated because its first response was lost can
// have produced an extra event.
func (r *replays) Replayed(events, duplicate int) {
	if !r.inWindow() {
		return
	}
	r.missed.Add(uint64(max(r.settings.Events-events, 0)))
	r.duplicate.Add(uint64(duplicate))
	r.read.Add(1)
}

// Cancelled implements ReplayAudience.
func (r *replays) Cancelled() {
	if r.inWindow() {
		r.cancelledTimes.Add(1)
	}
}

// Compacted implements ReplayAudience. A compaction before the window counts as one at its start.
func (r *replays) Compacted() {
	after := r.sinceStart()
	if after <= 0 || r.inWindow() {
		r.compactedAfter.CompareAndSwap(0, int64(max(after, time.Millisecond)))
	}
}

func (r *replays) results() results.Watch {
	missed, read := r.missed.Load(), r.read.Load()
	return results.Watch{
		Watchers: uint64(r.settings.Streams * r.settings.WatchersPerStream), Replays: read, Expected: max(read*uint64(r.settings.Events), missed), Missed: missed,
		Duplicate: r.duplicate.Load(), Cancelled: r.cancelledTimes.Load(),
		CompactedAfter: time.Duration(r.compactedAfter.Load()),
	}
}

// writeHistory writes the pod's own key once for each event, if its workload replays a history.
func (s *Session) writeHistory(ctx context.Context, c *client) error {
	if s.replays == nil {
		return nil
	}
	for _, conn := range s.conns {
		if _, ok := conn.(ReplayConn); !ok {
			return noWatches(s.plan)
		}
	}
	ctx = WithPhase(ctx, results.PhasePreload)
	key := s.replays.settings.Key
	s.replays.history.Key = s.workload.AppendKey(nil, key)
	for i := range int64(s.replays.settings.Events) {
		if err := c.write(ctx, workload.Write(key, s.part.Number(i))); err != nil {
			return err
		}
		if i == 0 {
			s.replays.history.First = c.response.Revision
		}
		s.replays.history.Last = c.response.Revision
	}
	return nil
}

// replay starts the watchers that read the pod's history.
func (s *Session) replay(ctx context.Context, e *engine) {
	if s.replays == nil {
		return
	}
	s.replays.inWindow = func() bool { now := Now(); return now >= e.measured.start && e.inWindow(now) }
	s.replays.sinceStart = func() time.Duration { return Now().Sub(e.measured.start) }
	ctx, s.endWatch = context.WithCancel(context.WithoutCancel(ctx))
	for i := range s.replays.settings.Streams {
		conn := s.carriers[i%len(s.carriers)].(ReplayConn)
		conn.Replay(ctx, s.replays.settings.WatchersPerStream, s.replays.history, s.replays)
	}
}
