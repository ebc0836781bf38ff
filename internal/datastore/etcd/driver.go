package etcd

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/etcd/fast"
	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/etcd/login"
	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/remote"
	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
	"github.com/etcdbench/etcd-benchmark-operator/internal/ownership"
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// Driver is load.Driver for etcd. Everything but the load goes over clientv3.
type Driver struct {
	*ownership.Ownership
	*ownership.TargetLock
	run    *ownership.Run
	claims *claims
	lock   *targetLock

	plan     plan.Plan
	settings settings
	index    int
	requests load.RequestCounter
	// bodies are counted by a transport that has bodies.
	bodies load.BodyCounter
	// wire has the bytes of the connections of a load that weighs.
	wire load.BodyCounter
	// compacted is the newest revision that this driver has compacted.
	compacted atomic.Int64
	// storms is the number of lease storms so far.
	storms atomic.Int64

	// registry is what the driver knows of the objects of a Kubernetes registry.
	registry *registry
	// hidesOutages: the server reports with the code Unknown that its database does not answer, as kine does.
	hidesOutages bool
	// secrets reads the credentials, once.
	secrets func() (*credentials, error)
	// tokens is for a target with a user.
	tokens func() *login.Tokens

	// learners are the addresses of the plan that lead to learners; nil before looking for them.
	learners []string
	looking  sync.Mutex

	mutex sync.Mutex
	// control carries claims, deletions and checks. The load has its own connections.
	control *clientv3.Client
	// viewers are the connections that read each member's status, by address.
	viewers  map[string]*clientv3.Client
	topology topology
	// reached are the addresses of the plan that the last preflight has reached, without learners. Only these get load.
	reached []string
	// transport carries the load, over conns.
	transport transport
	conns     []*memberConn
	// answerers are the members that answered the load.
	answerers answerers
	// contenders are the clients with a session.
	contenders []*contender
	handOffs   remote.HandOffs
	// following stops the goroutine that follows the leader.
	following context.CancelFunc
	followed  sync.WaitGroup
	// watching counts the goroutines of watchers, which end with their contexts.
	watching sync.WaitGroup
}

var (
	_ load.Driver        = (*Driver)(nil)
	_ load.Locker        = (*Driver)(nil)
	_ load.Observer      = (*Driver)(nil)
	_ load.Prober        = (*Driver)(nil)
	_ load.Resender      = (*Driver)(nil)
	_ load.Weigher       = (*Driver)(nil)
	_ load.LateConnector = (*Driver)(nil)
	_ load.Answerer      = (*Driver)(nil)
	_ load.Sampler       = (*Driver)(nil)
	_ load.Pinger        = (*Driver)(nil)
	_ load.Deleter       = (*Driver)(nil)
	_ load.Disturber     = (*Driver)(nil)
)

// New returns the driver of the pod with this index. It reads nothing and connects to nothing yet.
func New(p plan.Plan, index int) *Driver {
	d := &Driver{
		plan: p, settings: settingsOf(p.Workload), index: index, registry: newRegistry(p, index),
		secrets: sync.OnceValues(func() (*credentials, error) { return readCredentials(p.Target) }),
	}
	d.run = runOf(p, index)
	d.claims, d.lock = d.ownClaims(), &targetLock{driver: d}
	d.Ownership, d.TargetLock = ownership.New(d.run, d.claims), ownership.NewTargetLock(d.run, d.lock)
	d.tokens = sync.OnceValue(func() *login.Tokens { return login.New(d.logIn, dialTimeout) })
	// The transport is known, because the plan was validated.
	d.transport = transports[p.Load.Transport](d)
	return d
}

// runOf returns the run of the pod with this index.
func runOf(p plan.Plan, index int) *ownership.Run {
	return &ownership.Run{
		Prefix: p.Prefix, UID: p.RunUID, Pod: index, RequestTimeoutSeconds: p.Load.RequestTimeoutSeconds,
		Things: p.Keys().Count + p.LeaseCount() + p.StormKeys(),
	}
}

// Requests implements load.Driver.
func (d *Driver) Requests() map[spec.RPC]map[results.Phase]uint64 {
	return load.AddRequests(d.requests.Counts(), d.transport.requests())
}

// Resent implements load.Resender.
func (d *Driver) Resent() uint64 { return d.tokens().Resent() + d.requests.Resent() }

// Bodies implements load.Weigher.
func (d *Driver) Bodies() results.Bodies { return d.bodies.Counts() }

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
	d.tokens().Close()
	errs := []error{d.transport.close()}
	d.mutex.Lock()
	defer d.mutex.Unlock()
	for _, c := range d.viewers {
		errs = append(errs, closeClient(c))
	}
	if d.control != nil {
		errs = append(errs, closeClient(d.control))
	}
	d.conns, d.control, d.viewers = nil, nil, nil
	return errors.Join(errs...)
}

// loaded returns the addresses that get load: all but those of learners and those that the run skips.
func (d *Driver) loaded() []string {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	if d.reached == nil {
		return d.plan.Target.Endpoints
	}
	return d.reached
}

// addresses names the target in errors that are not about one address.
func (d *Driver) addresses() string { return strings.Join(d.plan.Target.Endpoints, ", ") }

// closeClient ignores the error that a client reports because of its own closing.
func closeClient(c *clientv3.Client) error {
	if err := c.Close(); err != nil && !errors.Is(err, context.Canceled) {
		return err
	}
	return nil
}

// controlClient returns the client for everything but the load. It knows the address of every voting member, so that keys
// can be deleted while a member is down.
func (d *Driver) controlClient(ctx context.Context) (*clientv3.Client, error) {
	serving, err := d.serving(ctx)
	if err != nil {
		return nil, err
	}
	d.mutex.Lock()
	defer d.mutex.Unlock()
	if d.control != nil {
		return d.control, nil
	}
	c, err := d.dial(ctx, serving...)
	if err != nil {
		return nil, err
	}
	d.control = c
	return c, nil
}

// settings are the fields of the workload that only etcd has. They are the same for all requests.
type settings struct {
	fast.Options
	// pageKeys is the number of keys in a page of a paged read; 0 reads in one response. stream: the response is a
	// stream.
	pageKeys int64
	stream   bool
	// inTransaction makes a put or a read the only operation of a transaction.
	inTransaction bool
}

func settingsOf(w spec.Workload) (s settings) {
	if r := w.Range; r != nil {
		s.Options = fast.Options{KeysOnly: r.KeysOnly, CountOnly: r.CountOnly}
		if r.Limit != nil {
			s.Limit = *r.Limit
		}
		if r.KeysPerPage != nil {
			s.pageKeys = *r.KeysPerPage
		}
		s.stream = r.Delivery == spec.DeliveryStream
	}
	if w.Lease != nil {
		s.TTLSeconds = w.Lease.TTLSeconds
	}
	if m := w.Mixed; m != nil {
		s.inTransaction = m.InTransaction
		if m.ReadLimit != nil {
			s.Limit = *m.ReadLimit
		}
	}
	return s
}
