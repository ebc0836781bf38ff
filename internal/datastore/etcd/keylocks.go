package etcd

import (
	"context"
	"sync"
)

// keyLocks lets only one client at a time write a key, in the order of arrival. A Kubernetes client waits for the answer
// before it writes the same object again; here any client may get the object's next change.
type keyLocks struct {
	mutex sync.Mutex
	taken map[string]*keyLock
}

// keyLock is the lock of one key, with the number of writers that hold it or wait for it.
type keyLock struct {
	held    chan struct{}
	writers int
}

func newKeyLocks() *keyLocks { return &keyLocks{taken: map[string]*keyLock{}} }

// take waits until the caller may write the key. The caller must then call done.
func (t *keyLocks) take(ctx context.Context, key string) (done func(), err error) {
	t.mutex.Lock()
	own := t.taken[key]
	if own == nil {
		own = &keyLock{held: make(chan struct{}, 1)}
		t.taken[key] = own
	}
	own.writers++
	t.mutex.Unlock()
	select {
	case own.held <- struct{}{}:
		return func() { <-own.held; t.leave(key, own) }, nil
	case <-ctx.Done():
		t.leave(key, own)
		return nil, context.Cause(ctx)
	}
}

// leave forgets the key after its last writer.
func (t *keyLocks) leave(key string, own *keyLock) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	if own.writers--; own.writers == 0 {
		delete(t.taken, key)
	}
}
