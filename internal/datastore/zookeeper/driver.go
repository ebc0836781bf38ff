package zookeeper

import (
	"context"
	"crypto/tls"
	"net"
	"slices"
	"sync"

	"github.com/go-zookeeper/zk"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/remote"
	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/secrets"
	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
	"github.com/etcdbench/etcd-benchmark-operator/internal/ownership"
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// Driver is load.Driver for ZooKeeper.
type Driver struct {
	*ownership.Ownership
	*ownership.TargetLock
	run *ownership.Run

	plan      plan.Plan
	index     int
	addresses *remote.Addresses
	tree      tree
	requests  load.RequestCounter
	handOffs  remote.HandOffs
	// credentials are read when they are first needed.
	credentials func() (secrets.Credentials, error)

	// opening is held while the control session is opened.
	opening sync.Mutex
	mutex   sync.Mutex
	closed  bool
	// control carries claims, deletions and checks. load has the sessions of the load.
	control *session
	load    []*session
	// locking has the lock of the target.
	locking *session
	// lost is how many control sessions were dropped.
	lost int
}

var (
	_ load.LateConnector = (*Driver)(nil)

	_ load.Driver   = (*Driver)(nil)
	_ load.Locker   = (*Driver)(nil)
	_ load.Observer = (*Driver)(nil)
	_ load.Prober   = (*Driver)(nil)
	_ load.Sampler  = (*Driver)(nil)
	_ load.Resumer  = (*Driver)(nil)
)

// New returns the driver of the pod with this index. It reads nothing and connects to
// nothing yet.
func New(p plan.Plan, index int) *Driver {
	d := &Driver{plan: p, index: index, addresses: remote.NewAddresses(p, index), tree: treeOf(p.Run, p.RunUID)}
	d.credentials = sync.OnceValues(func() (secrets.Credentials, error) { return secrets.Read(p.Target) })
	d.run = &ownership.Run{Prefix: p.Prefix, UID: p.RunUID, Pod: index, Things: d.tree.written, RequestTimeoutSeconds: p.Load.RequestTimeoutSeconds}
	own := d.ownClaims()
	d.Ownership, d.TargetLock = ownership.New(d.run, own), ownership.NewTargetLock(d.run, targetLock{own})
	return d
}

// ConnectLater implements load.LateConnector.
func (d *Driver) ConnectLater(connection int) (load.Conn, error) {
	return &lateConn{driver: d, number: connection}, nil
}

// Connect implements load.Driver. Each connection stays with one server: after a loss it
// reconnects to the same one.
func (d *Driver) Connect(ctx context.Context, connection int) (load.Conn, error) {
	var c *conn
	err := remote.Repeat(ctx, passes, func(ctx context.Context) (err error) {
		c, err = d.connectOnce(ctx, connection)
		return err
	})
	if err != nil {
		return nil, remote.Settled(ctx, err, d.explain, d.addresses.Of(connection))
	}
	return c, nil
}

func (d *Driver) connectOnce(ctx context.Context, connection int) (*conn, error) {
	s, err := d.open(ctx, d.plan.Load.SessionTimeout(), d.frameBytes(), d.addresses.Of(connection))
	if err != nil {
		return nil, err
	}
	d.mutex.Lock()
	defer d.mutex.Unlock()
	d.load = append(d.load, s)
	return &conn{session: s, tree: d.tree, acl: d.acl(), preloaded: d.preloads()}, nil
}

// preloads reports whether the keys that requests write exist before the load.
func (d *Driver) preloads() bool { return d.plan.PreloadCount() > 0 }

// everybody is the ACL of a run without a user, and of what it shares with other runs.
var everybody = zk.WorldACL(zk.PermAll)

// acl is that of the run's own znodes.
func (d *Driver) acl() []zk.ACL {
	if d.plan.Target.Auth == nil {
		return everybody
	}
	return zk.AuthACL(zk.PermAll)
}

// connect opens a connection to an address, over TLS if the target has it.
func (d *Driver) connect(ctx context.Context, address string) (net.Conn, error) {
	creds, err := d.credentials()
	if err != nil {
		return nil, err
	}
	if creds.TLS == nil {
		return (&net.Dialer{}).DialContext(ctx, "tcp", address)
	}
	return (&tls.Dialer{Config: creds.TLS.Config}).DialContext(ctx, "tcp", address)
}

// Requests implements load.Driver. A request is counted when it is written to a
// connection.
func (d *Driver) Requests() map[spec.RPC]map[results.Phase]uint64 { return d.requests.Counts() }

// Close implements load.Driver. The servers would keep a session that is not closed until
// its time-out.
func (d *Driver) Close() error {
	d.mutex.Lock()
	if d.closed {
		d.mutex.Unlock()
		return nil
	}
	sessions := slices.Clone(d.load)
	if d.control != nil {
		sessions = append(sessions, d.control)
	}
	if d.locking != nil {
		sessions = append(sessions, d.locking)
	}
	d.control, d.locking, d.closed = nil, nil, true
	d.mutex.Unlock()
	var closing sync.WaitGroup
	for _, s := range sessions {
		// closeSession is no request of the load.
		s.setPhase(context.Background())
		closing.Go(s.close)
	}
	closing.Wait()
	return nil
}
