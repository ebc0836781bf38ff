package etcd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/kubernetes"

	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/remote"
	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
)

var _ load.WatchConn = (*conn)(nil)

// Watch implements load.WatchConn with clientv3's watcher, as applications use it. That watcher reopens a broken
// stream, and passes each event through two goroutines.
func (c *conn) Watch(ctx context.Context, watchers []load.Watcher, audience load.Audience) error {
	s := &watchStream{conn: c, audience: audience}
	for _, w := range watchers {
		if err := s.add(ctx, w); err != nil {
			return settled(ctx, err, c.driver.addresses())
		}
	}
	return nil
}

// watchStream is a gRPC stream with its watchers.
type watchStream struct {
	conn     *conn
	audience load.Audience

	mutex sync.Mutex
	// client carries the stream. It is replaced after the connection has moved.
	client  *clientv3.Client
	watcher clientv3.Watcher
	// opened counts the watchers that were opened here, and created the create requests that were sent. clientv3 sends
	// one request for each opened watcher, unless its stream is down until that watcher is given up, and one more for
	// each watcher that it resumes.
	opened, created int
}

// over returns the watcher for the connection's current client.
func (s *watchStream) over() clientv3.Watcher {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if client := s.conn.client.Load(); client != s.client {
		s.client, s.watcher = client, clientv3.NewWatcher(client)
	}
	return s.watcher
}

// hasMoved returns whether the connection has another client than the stream.
func (s *watchStream) hasMoved() bool {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return s.client != s.conn.client.Load()
}

// noteCreation is called for each request to create a watcher.
func (s *watchStream) noteCreation() {
	s.mutex.Lock()
	s.created++
	resumed := s.created > s.opened
	s.opened = max(s.opened, s.created)
	s.mutex.Unlock()
	if resumed {
		s.audience.Resumed()
	}
}

// noteOpening counts a watcher that is about to be opened. If opening it fails, the caller must call takeBack. That
// removes the watcher from the count if no create request was sent meanwhile, because then its own was not sent either.
func (s *watchStream) noteOpening() (takeBack func()) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.opened++
	before := s.created
	return func() {
		s.mutex.Lock()
		defer s.mutex.Unlock()
		if s.created == before {
			s.opened--
		}
	}
}

func (s *watchStream) add(ctx context.Context, what load.Watcher) error {
	w := &streamWatcher{stream: s, what: what}
	if err := w.open(ctx); err != nil {
		return err
	}
	s.conn.driver.watching.Go(func() { w.run(ctx) })
	return nil
}

// streamWatcher is one watcher of a stream.
type streamWatcher struct {
	stream *watchStream
	what   load.Watcher
	events clientv3.WatchChan
	// from is the revision at which to open the watcher; 0 is the current one.
	from int64
	// first is the revision at which the watcher was first created. last is the revision of its last event, or first
	// before any event.
	first, last int64
	// stop ends the current opening of the watcher.
	stop context.CancelCauseFunc
}

var errClosed = errors.New("etcd closed it and gave no reason")

// open returns once etcd has created the watcher.
func (w *streamWatcher) open(ctx context.Context) error {
	ctx, stop := context.WithCancelCause(withCreations(ctx, w.stream.noteCreation))
	w.stop = stop
	// The timer can fire just after the watcher was created, and its function can run after Stop. So it ends only this
	// opening.
	late := time.AfterFunc(remote.Timeout, func() { stop(context.DeadlineExceeded) })
	defer late.Stop()
	err := w.create(ctx)
	if err != nil {
		stop(nil)
	}
	return err
}

func (w *streamWatcher) create(ctx context.Context) error {
	if w.what.Reflect {
		ctx = clientv3.WithRequireLeader(ctx)
		if err := w.list(ctx); err != nil {
			return err
		}
	}
	takeBack := w.stream.noteOpening()
	w.events = w.stream.over().Watch(ctx, string(w.what.Key), w.options()...)
	response, ok := <-w.events
	if !ok || response.Err() != nil {
		takeBack()
		return fmt.Errorf("a watcher was not created: %w", cmp.Or(response.Err(), context.Cause(ctx), errClosed))
	}
	if w.first == 0 {
		w.first = response.Header.Revision
		if w.from > 0 {
			w.first = w.from - 1
		}
		w.last = w.first
	}
	return nil
}

// list begins a watch of objects, at the start and after a compaction. It reads all objects, as an API server fills its
// cache, and sets the revision that follows.
func (w *streamWatcher) list(ctx context.Context) error {
	if w.from > 0 {
		return nil
	}
	r := w.stream.conn.driver.registry
	revision, err := list(ctx, kubernetes.Client{Client: w.stream.conn.client.Load()}, string(w.what.Key), cachePage, func(kv *mvccpb.KeyValue) {
		r.learnFound(string(kv.Key), kv, kv.ModRevision)
	})
	if err == nil {
		w.from = revision + 1
	}
	return err
}

// cachePage is how many objects an API server requests from etcd at once.
const cachePage = 10_000

func (w *streamWatcher) options() []clientv3.OpOption {
	options := []clientv3.OpOption{clientv3.WithCreatedNotify(), clientv3.WithRev(w.from)}
	if len(w.what.End) > 0 {
		options = append(options, clientv3.WithRange(string(w.what.End)))
	}
	if w.what.PrevKV {
		options = append(options, clientv3.WithPrevKV())
	}
	if w.what.Reflect {
		options = append(options, clientv3.WithProgressNotify())
	}
	return options
}

// run reports events to the audience until ctx ends.
func (w *streamWatcher) run(ctx context.Context) {
	for {
		var last clientv3.WatchResponse
		for response := range w.events {
			w.see(response, load.Now())
			last = response
		}
		w.stop(nil)
		if ctx.Err() != nil {
			return
		}
		w.end(last.CompactRevision > 0)
		for w.open(ctx) != nil {
			if load.Pause(ctx, remote.LookEvery) != nil {
				return
			}
		}
	}
}

// see reports events. A watcher that is resumed before its first event is opened at the revision at which it was
// created, and receives the events since then again.
func (w *streamWatcher) see(response clientv3.WatchResponse, at load.Instant) {
	for _, e := range response.Events {
		revision := e.Kv.ModRevision
		if w.what.Reflect {
			w.stream.conn.driver.registry.learn(string(e.Kv.Key), revision, e.Type == clientv3.EventTypeDelete)
		}
		switch {
		case e.Type != clientv3.EventTypePut || revision <= w.first:
		case revision <= w.last:
			w.stream.audience.Duplicate()
		default:
			w.last = revision
			w.stream.audience.Event(w.what.Number, at, e.Kv.Value)
		}
	}
}

// end reports why the watcher has ended, and sets where to reopen it: after its last event, unless that revision is
// compacted.
func (w *streamWatcher) end(compacted bool) {
	w.from = w.last + 1
	switch {
	case compacted:
		w.from = 0
		w.stream.audience.Cancelled()
	case w.stream.hasMoved():
		w.stream.audience.Resumed()
	default:
		w.stream.audience.Cancelled()
	}
}
