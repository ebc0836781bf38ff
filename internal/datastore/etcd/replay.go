package etcd

import (
	"context"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/remote"
	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
)

var _ load.ReplayConn = (*conn)(nil)

// Replay implements load.ReplayConn. A watcher that begins in the past is unsynchronized: etcd reads its events from
// the database, for some hundred watchers at a time, ten times a second or more.
func (c *conn) Replay(ctx context.Context, watchers int, history load.History, audience load.ReplayAudience) {
	s := &watchStream{conn: c}
	for range watchers {
		c.driver.watching.Go(func() { s.replayOver(ctx, history, audience) })
	}
}

// replayOutcome is how one reading of a history ended.
type replayOutcome int

const (
	// replayCut: it ended early, and not because of a compaction.
	replayCut replayOutcome = iota
	replayWhole
	// replayCompacted: the target has compacted the history.
	replayCompacted
)

// replayOver reads the history repeatedly, until it is compacted or ctx ends.
func (s *watchStream) replayOver(ctx context.Context, history load.History, audience load.ReplayAudience) {
	for ctx.Err() == nil {
		events, duplicate, ended := s.replay(ctx, history)
		switch {
		case ended == replayWhole:
			audience.Replayed(events, duplicate)
		case ended == replayCompacted:
			audience.Compacted()
			return
		case ctx.Err() == nil:
			audience.Cancelled()
			// A pause, so that a watcher that is refused at once does not retry in a tight loop.
			_ = load.Pause(ctx, remote.LookEvery)
		}
	}
}

// replay reads the history once, with its own watcher.
func (s *watchStream) replay(ctx context.Context, history load.History) (events, duplicate int, ended replayOutcome) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	last := int64(0)
	for response := range s.over().Watch(ctx, string(history.Key), clientv3.WithRev(history.First)) {
		if response.CompactRevision > 0 {
			return events, duplicate, replayCompacted
		}
		for _, e := range response.Events {
			if e.Kv.ModRevision <= last {
				duplicate++
				continue
			}
			last = e.Kv.ModRevision
			events++
		}
		if last >= history.Last {
			return events, duplicate, replayWhole
		}
	}
	return events, duplicate, replayCut
}
