package consul

import (
	"context"
	"net"
	"sync"
	"sync/atomic"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/remote"
	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/secrets"
	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
	"github.com/etcdbench/etcd-benchmark-operator/internal/ownership"
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// Driver is load.Driver for Consul.
type Driver struct {
	*ownership.Ownership
	*ownership.TargetLock

	plan        plan.Plan
	index       int
	addresses   *remote.Addresses
	run         *ownership.Run
	leases      leases
	requests    load.RequestCounter
	credentials func() (secrets.Credentials, error)
	// control sends what is not load. turn counts the temporary errors: the next request goes to the next address.
	control func() (link, error)
	turn    atomic.Int64

	handOffs remote.HandOffs
	// closed is closed with the driver.
	closed chan struct{}
	end    func()

	mutex sync.Mutex
	links []link
}

var (
	_ load.LateConnector = (*Driver)(nil)

	_ load.Locker   = (*Driver)(nil)
	_ load.Observer = (*Driver)(nil)
	_ load.Prober   = (*Driver)(nil)
	_ load.Resender = (*Driver)(nil)
	_ load.Sampler  = (*Driver)(nil)
)

// New returns the driver of the pod with this index. It reads nothing and connects to nothing yet.
func New(p plan.Plan, index int) *Driver {
	d := &Driver{plan: p, index: index, addresses: remote.NewAddresses(p, index), closed: make(chan struct{})}
	d.end = sync.OnceFunc(func() { close(d.closed) })
	d.credentials = sync.OnceValues(func() (secrets.Credentials, error) { return secrets.Read(p.Target) })
	d.control = sync.OnceValues(func() (link, error) { return d.open(controlConnections, answerTimeout) })
	d.run = &ownership.Run{Prefix: p.Prefix, UID: p.RunUID, Pod: index, Things: p.WrittenKeys() + revokeFactor*p.LeaseCount(), RequestTimeoutSeconds: p.Load.RequestTimeoutSeconds}
	d.leases = d.newLeases()
	d.Ownership, d.TargetLock = ownership.New(d.run, d.ownClaims(d.run)), ownership.NewTargetLock(d.run, &targetLock{kv: kv{d}})
	return d
}

// Connect implements load.Driver. Each connection stays with one address: after a loss it reconnects to the same one.
func (d *Driver) Connect(ctx context.Context, connection int) (load.Conn, error) {
	endpoint := d.addresses.Of(connection)
	l, err := d.open(1, 0)
	if err == nil {
		// The connection is open before the load.
		err = remote.Repeat(ctx, passes, func(ctx context.Context) error {
			_, _, err := l.send(ctx, endpoint, statusLeader, everything)
			return err
		})
	}
	if err != nil {
		return nil, remote.Settled(ctx, err, d.explain, endpoint)
	}
	return &conn{l, endpoint}, nil
}

// ConnectLater implements load.LateConnector.
func (d *Driver) ConnectLater(connection int) (load.Conn, error) {
	l, err := d.open(1, 0)
	if err != nil {
		return nil, err
	}
	l.DialWith(func(ctx context.Context, address string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "tcp", address)
	})
	return &conn{l, d.addresses.Of(connection)}, nil
}

// Requests implements load.Driver.
func (d *Driver) Requests() map[spec.RPC]map[results.Phase]uint64 { return d.requests.Counts() }

// Close implements load.Driver.
func (d *Driver) Close() error {
	d.end()
	d.mutex.Lock()
	defer d.mutex.Unlock()
	for _, l := range d.links {
		l.Close()
	}
	return nil
}

// Resent implements load.Resender.
func (d *Driver) Resent() uint64 { return d.requests.Resent() }
