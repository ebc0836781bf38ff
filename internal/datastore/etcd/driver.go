package etcd

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/etcd/fast"
	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// Driver is load.Driver over clientv3, or with the load over Fast.
type Driver struct {
	plan     plan.Plan
	index    int
	requests load.RequestCounter
	// compacted is the newest revision that this driver has compacted.
	compacted atomic.Int64
	// storms is how many storms of leases there were.
	storms atomic.Int64

	// registry is what the driver knows of the objects of a Kubernetes registry.
	registry *registry
	// secrets reads the credentials, once.
	secrets func() (*credentials, error)

	mutex sync.Mutex
	// control carries claims, deletions and questions; the load has
	// connections of its own.
	control *clientv3.Client
	// viewers ask each member how it is, by its address.
	viewers  map[string]*clientv3.Client
	topology topology
	conns    []*conn
	// contenders have a session each.
	contenders []*contender
	handOffs   handOffs
	// fast is the client of fastConns; nil before the first.
	fast      *fast.Client
	fastConns []*fastConn
	// following ends the goroutine that follows the leader.
	following context.CancelFunc
	followed  sync.WaitGroup
	// watching are the goroutines of watchers, which end with their contexts.
	watching sync.WaitGroup
}

var _ load.Driver = (*Driver)(nil)

// New returns the driver of the pod with this index. It reads nothing and
// connects to nothing yet.
func New(p plan.Plan, index int) *Driver {
	return &Driver{plan: p, index: index, registry: newRegistry(p, index), secrets: sync.OnceValues(func() (*credentials, error) { return readCredentials(p.Target) })}
}

// Requests implements load.Driver.
func (d *Driver) Requests() map[results.RPC]map[results.Phase]uint64 {
	sum := d.requests.Counts()
	for rpc, phases := range d.fastRequests() {
		if sum[rpc] == nil {
			sum[rpc] = map[results.Phase]uint64{}
		}
		for phase, n := range phases {
			sum[rpc][phase] += n
		}
	}
	return sum
}

// Close implements load.Driver.
func (d *Driver) Close() error {
	d.mutex.Lock()
	following := d.following
	d.mutex.Unlock()
	if following != nil {
		following()
		d.followed.Wait()
	}
	d.watching.Wait()
	d.closeFast()
	d.mutex.Lock()
	defer d.mutex.Unlock()
	var errs []error
	for _, c := range d.conns {
		errs = append(errs, closeClient(c.client.Load()))
	}
	for _, c := range d.viewers {
		errs = append(errs, closeClient(c))
	}
	if d.control != nil {
		errs = append(errs, closeClient(d.control))
	}
	d.conns, d.control, d.viewers = nil, nil, nil
	return errors.Join(errs...)
}

// addresses names the target where no single address is to blame.
func (d *Driver) addresses() string { return strings.Join(d.plan.Target.Endpoints, ", ") }

// closeClient forgives what a client says of its own closing.
func closeClient(c *clientv3.Client) error {
	if err := c.Close(); err != nil && !errors.Is(err, context.Canceled) {
		return err
	}
	return nil
}

// controlClient returns the client for all but the load. It knows every
// address, so that a member that goes away does not keep keys from being
// deleted.
func (d *Driver) controlClient(ctx context.Context) (*clientv3.Client, error) {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	if d.control != nil {
		return d.control, nil
	}
	c, err := d.dial(ctx, d.plan.Target.Endpoints...)
	if err != nil {
		return nil, err
	}
	d.control = c
	return c, nil
}
