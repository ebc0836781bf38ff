package etcd

import (
	"context"
	"sync"
	"sync/atomic"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"
	"google.golang.org/grpc"

	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// lockView is the client that clientv3's concurrency package uses. It differs from the connection's own client in four
// ways:
//   - It follows the connection when that moves; a session is otherwise bound to one client.
//   - Its watches count for the phase in which they send.
//   - Its watches record which key a request waits for.
//   - Its context has ended. With a live context, an abandoned lock request would wait without limit to delete its key.
//     Here that deletion fails at once, and the contender deletes the key after the clock was read.
type lockView struct {
	once   sync.Once
	client *clientv3.Client
	// phase is that of the connection's last request.
	phase atomic.Value
}

// of returns the view of a connection. control keeps the leases alive.
func (v *lockView) of(c *conn, control *clientv3.Client) *clientv3.Client {
	v.once.Do(func() {
		ended, cancel := context.WithCancel(context.Background())
		cancel()
		v.client = clientv3.NewCtxClient(ended)
		moving := movingConn{c}
		v.client.KV = clientv3.NewKVFromKVClient(etcdserverpb.NewKVClient(moving), v.client)
		v.client.Watcher = queueWatcher{clientv3.NewWatchFromWatchClient(etcdserverpb.NewWatchClient(moving), v.client)}
		v.client.Lease = control.Lease
	})
	return v.client
}

func (v *lockView) currentPhase() results.Phase {
	phase, _ := v.phase.Load().(results.Phase)
	return phase
}

// close ends the watches.
func (v *lockView) close() { _ = v.client.Watcher.Close() }

// movingConn is the current gRPC connection of a conn.
type movingConn struct{ conn *conn }

var _ grpc.ClientConnInterface = movingConn{}

// Invoke implements grpc.ClientConnInterface.
func (m movingConn) Invoke(ctx context.Context, method string, args, reply any, opts ...grpc.CallOption) error {
	return m.conn.client.Load().ActiveConnection().Invoke(ctx, method, args, reply, opts...)
}

// NewStream implements grpc.ClientConnInterface.
func (m movingConn) NewStream(ctx context.Context, desc *grpc.StreamDesc, method string, opts ...grpc.CallOption) (grpc.ClientStream, error) {
	return m.conn.client.Load().ActiveConnection().NewStream(ctx, desc, method, opts...)
}
