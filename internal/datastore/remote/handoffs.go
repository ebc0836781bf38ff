package remote

import (
	"sync"

	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
)

// HandOffs records when this pod's clients released their locks, by their keys. A client always uses the same key, so
// it has at most one entry.
type HandOffs struct {
	mutex sync.Mutex
	// at is when the response to the release came, 0 while the release is in flight.
	at map[string]load.Instant
}

// Begin is called before a release is sent, because the next holder may get the lock before the response to the release
// arrives.
func (h *HandOffs) Begin(key string) { h.End(key, 0) }

// End is called when the response to the release came.
func (h *HandOffs) End(key string, at load.Instant) {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	if h.at == nil {
		h.at = map[string]load.Instant{}
	}
	h.at[key] = at
}

// Forget is called when a client has won again, or failed. The previous hand-off has been read by then.
func (h *HandOffs) Forget(key string) {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	delete(h.at, key)
}

// Freed returns when the client with a key released the lock, at most now. It returns 0 if the client belongs to
// another pod.
func (h *HandOffs) Freed(key string, now load.Instant) load.Instant {
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
