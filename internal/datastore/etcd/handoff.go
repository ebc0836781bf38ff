package etcd

import (
	"context"
	"sync"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
)

// handOffs knows when this pod's clients gave back what they held, by their
// keys. A client's key is its own, so that it has one entry at most.
type handOffs struct {
	mutex sync.Mutex
	// at is when the answer to the release came, 0 while it is on its way.
	at map[string]load.Instant
}

// begin is called before a release is sent: who waits for it may hear of it
// before the answer comes.
func (h *handOffs) begin(key string) { h.end(key, 0) }

func (h *handOffs) end(key string, at load.Instant) {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	if h.at == nil {
		h.at = map[string]load.Instant{}
	}
	h.at[key] = at
}

// forget is called when a client has won again, or failed: whom it gave back to
// before has looked by then, and what comes after it is another hand-off.
func (h *handOffs) forget(key string) {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	delete(h.at, key)
}

// freed returns when the client with a key gave back what another has now, at
// most now, and 0 if it is none of this pod's.
func (h *handOffs) freed(key string, now load.Instant) load.Instant {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	at, known := h.at[key]
	switch {
	case !known:
		return 0
	case at == 0:
		return now
	default:
		return min(at, now)
	}
}

type queueKey struct{}

// withQueue returns a context for a request that waits in a queue. When it has
// ended, before is the key of the one that was last in front of it, empty if
// nobody was.
func withQueue(ctx context.Context, before *string) context.Context {
	return context.WithValue(ctx, queueKey{}, before)
}

// queueWatcher notes for whom a request waits: clientv3's locks watch the key in
// front of their own, and tell nobody which it was.
type queueWatcher struct{ clientv3.Watcher }

func (w queueWatcher) Watch(ctx context.Context, key string, opts ...clientv3.OpOption) clientv3.WatchChan {
	if before, ok := ctx.Value(queueKey{}).(*string); ok {
		*before = key
	}
	return w.Watcher.Watch(ctx, key, opts...)
}
