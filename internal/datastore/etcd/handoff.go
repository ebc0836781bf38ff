package etcd

import (
	"context"

	clientv3 "go.etcd.io/etcd/client/v3"
)

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
