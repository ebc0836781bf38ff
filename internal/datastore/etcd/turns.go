package etcd

import (
	"context"
	"sync"
)

// turns lets the writers of a key do so one after the other, in the order in which
// they came. In a cluster whoever writes an object waits for the answer before it
// writes again; here any client may be handed the object's next change.
type turns struct {
	mutex sync.Mutex
	taken map[string]*turn
}

// turn is of one key, which so many writers hold or wait for.
type turn struct {
	held    chan struct{}
	writers int
}

func newTurns() *turns { return &turns{taken: map[string]*turn{}} }

// take waits until the key is the caller's, who gives it back by done.
func (t *turns) take(ctx context.Context, key string) (done func(), err error) {
	t.mutex.Lock()
	own := t.taken[key]
	if own == nil {
		own = &turn{held: make(chan struct{}, 1)}
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

// leave forgets the key with its last writer.
func (t *turns) leave(key string, own *turn) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	if own.writers--; own.writers == 0 {
		delete(t.taken, key)
	}
}
