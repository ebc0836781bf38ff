package etcd

import (
	"context"

	"go.etcd.io/etcd/client/v3/concurrency"
	"go.etcd.io/etcd/server/v3/etcdserver/api/v3lock/v3lockpb"

	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
)

// newLockCompetitor competes for a lock.
func newLockCompetitor(ctx context.Context, c *conn, client int) (load.Conn, error) {
	return newCompetitor(ctx, c, client, byMutex)
}

// mutexLocker locks with clientv3's concurrency package, as applications do.
type mutexLocker struct{ mutex *concurrency.Mutex }

func byMutex(k *contender) locker { return &mutexLocker{concurrency.NewMutex(k.session, k.name)} }

func (l *mutexLocker) lock(ctx context.Context) error   { return l.mutex.Lock(ctx) }
func (l *mutexLocker) unlock(ctx context.Context) error { return l.mutex.Unlock(ctx) }

// rpcLocker calls etcd's lock service, which does the same inside a member.
type rpcLocker struct {
	stub  v3lockpb.LockClient
	name  []byte
	lease int64
	// key is the lock that is held.
	key []byte
}

func byRPC(k *contender) locker {
	return &rpcLocker{stub: v3lockpb.NewLockClient(movingConn{k.conn}), name: []byte(k.name), lease: int64(k.lease)}
}

func (l *rpcLocker) lock(ctx context.Context) error {
	locked, err := l.stub.Lock(ctx, &v3lockpb.LockRequest{Name: l.name, Lease: l.lease})
	if err == nil {
		l.key = locked.Key
	}
	return err
}

func (l *rpcLocker) unlock(ctx context.Context) error {
	_, err := l.stub.Unlock(ctx, &v3lockpb.UnlockRequest{Key: l.key})
	return err
}
