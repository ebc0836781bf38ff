package zookeeper

import (
	"context"
	"sync"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/remote"
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
	_ load.Driver   = (*Driver)(nil)
	_ load.Locker   = (*Driver)(nil)
	_ load.Observer = (*Driver)(nil)
	_ load.Prober   = (*Driver)(nil)
)

// New returns the driver of the pod with this index. It reads nothing and connects to
// nothing yet.
func New(p plan.Plan, index int) *Driver {
	d := &Driver{plan: p, index: index, addresses: remote.NewAddresses(p, index), tree: treeOf(p.Run, p.RunUID)}
	d.run = &ownership.Run{Prefix: p.Prefix, UID: p.RunUID, Pod: index, Things: d.tree.written, RequestTimeoutSeconds: p.Load.RequestTimeoutSeconds}
	own := d.ownClaims()
	d.Ownership, d.TargetLock = ownership.New(d.run, own), ownership.NewTargetLock(d.run, targetLock{own})
	return d
}

// Connect implements load.Driver. Each connection stays with one server: after a loss it
// reconnects to the same one.
func (d *Driver) Connect(ctx context.Context, connection int) (load.Conn, error) {
	endpoint := d.addresses.Of(connection)
	var s *session
	err := remote.Repeat(ctx, passes, func(ctx context.Context) (err error) {
		s, err = d.open(ctx, d.frameBytes(), endpoint)
		return err
	})
	if err != nil {
		return nil, remote.Settled(ctx, err, explain, endpoint)
	}
	d.mutex.Lock()
	defer d.mutex.Unlock()
	d.load = append(d.load, s)
	return &conn{session: s, tree: d.tree}, nil
}

// Requests implements load.Driver. A request is counted when it is written to a
// connection.
func (d *Driver) Requests() map[spec.RPC]map[results.Phase]uint64 { return d.requests.Counts() }

// Close implements load.Driver. The servers would keep a session that is not closed until
// its time-out.
func (d *Driver) Close() error {
	d.mutex.Lock()
	sessions := d.load
	if d.control != nil {
		sessions = append(sessions, d.control)
	}
	if d.locking != nil {
		sessions = append(sessions, d.locking)
	}
	d.load, d.control, d.locking, d.closed = nil, nil, nil, true
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
