package etcd

import (
	"context"
	"sync"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
)

// handOffs records when this pod's clients released their locks, by their keys. A client always uses the same key, so
// it has at most one entry.
type handOffs struct {
	mutex sync.Mutex
	// at is when the response to the release came, 0 while the release is in flight.
	at map[string]load.Instant
}

// begin is called before a release is sent, because the next holder may get the lock before the response to the release
// arrives.
func (h *handOffs) begin(key string) { h.end(key, 0) }

func (h *handOffs) end(key string, at load.Instant) {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	if h.at == nil {
		h.at = map[string]load.Instant{}
	}
	h.at[key] = at
}

// forget is called when a client has won again, or failed. The previous hand-off has been read by then.
func (h *handOffs) forget(key string) {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	delete(h.at, key)
}

// freed returns when the client with a key released the lock, at most now. It returns 0 if the client belongs to
// another pod.
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

// withQueue returns a context for a request that waits in a queue. After the request, before is the key that was last
// in front of it, or empty if it did not wait.
func withQueue(ctx context.Context, before *string) context.Context {
	return context.WithValue(ctx, queueKey{}, before)
}

// queueWatcher records which key a request waits for: clientv3's locks watch the key in front of their own and do not
// report it.
type queueWatcher struct{ clientv3.Watcher }

func (w queueWatcher) Watch(ctx context.Context, key string, opts ...clientv3.OpOption) clientv3.WatchChan {
	if before, ok := ctx.Value(queueKey{}).(*string); ok {
		*before = key
	}
	return w.Watcher.Watch(ctx, key, opts...)
}
