package consul

import (
	"bytes"
	"context"
	"net/http"
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
	requests    load.RequestCounter
	credentials func() (secrets.Credentials, error)
	// control sends what is not load. turn counts the temporary errors: the next request goes to the next address.
	control func() (*link, error)
	turn    atomic.Int64

	mutex sync.Mutex
	links []*link
}

var (
	_ load.Locker   = (*Driver)(nil)
	_ load.Observer = (*Driver)(nil)
	_ load.Prober   = (*Driver)(nil)
)

// New returns the driver of the pod with this index. It reads nothing and connects to nothing yet.
func New(p plan.Plan, index int) *Driver {
	d := &Driver{plan: p, index: index, addresses: remote.NewAddresses(p, index)}
	d.credentials = sync.OnceValues(func() (secrets.Credentials, error) { return secrets.Read(p.Target) })
	d.control = sync.OnceValues(func() (*link, error) { return d.open(controlConnections, answerTimeout) })
	d.run = &ownership.Run{Prefix: p.Prefix, UID: p.RunUID, Pod: index, Things: p.WrittenKeys(), RequestTimeoutSeconds: p.Load.RequestTimeoutSeconds}
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

// Requests implements load.Driver.
func (d *Driver) Requests() map[spec.RPC]map[results.Phase]uint64 { return d.requests.Counts() }

// Close implements load.Driver.
func (d *Driver) Close() error {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	for _, l := range d.links {
		l.CloseIdleConnections()
	}
	return nil
}

// conn is a connection of the load. HTTP/1.1 carries one request at a time.
type conn struct {
	*link
	endpoint string
}

// Do implements load.Conn. Sent is just before net/http gets the request: the service time includes a dial after a loss. A read
// returns JSON with the value in base64, as for Consul's own library.
func (c *conn) Do(ctx context.Context, req *load.Request, resp *load.Response) {
	r := get(spec.RPCKVGet, kvPath+string(req.Key)+"?consistent")
	switch {
	case req.Operation == spec.OperationPut:
		r = put(spec.RPCKVPut, kvPath+string(req.Key), bytes.Clone(req.Value))
	case req.Operation != spec.OperationRange:
		resp.Unknown(req.Operation)
		return
	case req.Consistency == spec.Serializable:
		r = get(spec.RPCKVGet, kvPath+string(req.Key)+"?stale")
	}
	ctx, cancel := context.WithTimeout(ctx, req.Timeout)
	defer cancel()
	*resp = load.Response{Sent: load.Now()}
	body, found, err := c.send(ctx, c.endpoint, r, everything)
	resp.Received = load.Now()
	switch {
	case err != nil:
		resp.Code, resp.Detail = kindOf(err).code, err.Error()
	case !found:
		resp.Code, resp.Detail = load.CodeNotFound, req.Missing(0)
	case r.method == http.MethodPut && !isTrue(body):
		resp.Code, resp.Detail = codeUnknown, "the server did not write the key"
	}
}

func isTrue(body []byte) bool { return string(bytes.TrimSpace(body)) == "true" }
