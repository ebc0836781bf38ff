package etcd

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"google.golang.org/grpc/status"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

func init() {
	transports[spec.TransportClient] = func(d *Driver) transport {
		return &clientTransport{driver: d, dial: d.dialForLoad, open: d.openForLoad}
	}
}

// clientTransport is the transport over clientv3, as applications use it.
type clientTransport struct {
	driver *Driver
	// dial connects to one address.
	dial func(ctx context.Context, endpoint string) (*clientv3.Client, error)
	// open returns a client of one address that connects with its first request.
	open func(endpoint string) (*clientv3.Client, error)

	mutex sync.Mutex
	conns []*conn
}

// conn is one connection to one member: a client with one address has one TCP connection.
type conn struct {
	driver *Driver
	// dial connects to the member behind an address.
	dial func(ctx context.Context, endpoint string) (*clientv3.Client, error)
	// client is replaced when the connection moves.
	client atomic.Pointer[clientv3.Client]
	// locks is for clients with sessions.
	locks lockView
}

var _ load.SharedConn = (*conn)(nil)

func (l *clientTransport) connect(ctx context.Context, _ int, endpoint string) (connection, error) {
	client, err := l.dialMember(ctx, endpoint)
	if err != nil {
		return nil, err
	}
	c := &conn{driver: l.driver, dial: l.dialMember}
	c.client.Store(client)
	l.adopt(c)
	return c, nil
}

func (l *clientTransport) later(_ int, endpoint string) (connection, error) {
	client, err := l.open(endpoint)
	if err != nil {
		return nil, err
	}
	c := &conn{driver: l.driver, dial: l.dialMember}
	c.client.Store(client)
	l.adopt(c)
	return c, nil
}

func (l *clientTransport) adopt(c *conn) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	l.conns = append(l.conns, c)
}

// requests: the driver counts the requests of all its clients.
func (l *clientTransport) requests() map[spec.RPC]map[results.Phase]uint64 { return nil }

func (l *clientTransport) close() error {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	var errs []error
	for _, c := range l.conns {
		errs = append(errs, closeClient(c.client.Load()))
	}
	l.conns = nil
	return errors.Join(errs...)
}

// dialMember connects to the member behind an address. If the plan selects members, it checks which member answers:
// behind a shared address, such as a Service's, each connection can reach another member.
func (l *clientTransport) dialMember(ctx context.Context, endpoint string) (*clientv3.Client, error) {
	d := l.driver
	client, err := l.dial(ctx, endpoint)
	if err != nil || !d.plan.Target.SelectsMembers() {
		return client, err
	}
	d.mutex.Lock()
	want := d.topology.at(endpoint)
	d.mutex.Unlock()
	found, err := get(ctx, client, d.run.Marker(), clientv3.WithSerializable(), clientv3.WithCountOnly())
	if err == nil && found.Header.MemberId != want {
		err = d.wrongMember(endpoint, found.Header.MemberId, want)
	}
	if err != nil {
		return nil, errors.Join(err, closeClient(client))
	}
	return client, nil
}

// move implements connection. Requests in flight on the old client may still take up to the request timeout.
func (c *conn) move(ctx context.Context, endpoint string) error {
	client, err := c.dial(ctx, endpoint)
	if err != nil {
		return err
	}
	old := c.client.Swap(client)
	time.AfterFunc(c.driver.plan.Load.RequestTimeout(), func() { _ = closeClient(old) })
	return nil
}

// Do implements load.Conn. clientv3 passes the request's bytes through a queue and a goroutine of its own, so the time
// stamps are taken around the call.
func (c *conn) Do(ctx context.Context, req *load.Request, resp *load.Response) {
	ctx, cancel := context.WithTimeout(ctx, req.Timeout)
	defer cancel()
	c.carry(ctx, req, resp)
}

// carry sends a request that ends with ctx at the latest.
func (c *conn) carry(ctx context.Context, req *load.Request, resp *load.Response) {
	known := operations[req.Operation]
	if known.do == nil {
		resp.Unknown(req.Operation)
		return
	}
	*resp = load.Response{}
	known.do(ctx, c.driver, c.client.Load(), req, resp)
}

// Client implements load.SharedConn.
func (c *conn) Client(ctx context.Context, client int) (load.Conn, error) {
	for _, o := range c.driver.plan.Operations() {
		if own := operations[o].perClient; own != nil {
			if k, err := own(ctx, c, client); k != nil || err != nil {
				return k, err
			}
		}
	}
	return &caller{conn: c, limit: newTimeLimit()}, nil
}

// finish completes a response when its end was received.
func finish(resp *load.Response, err error) {
	resp.Received = load.Now()
	if err != nil {
		resp.Code, resp.Detail = codeOf(err).String(), messageIn(err)
	}
}

// messageIn is the server's own message, if the error has one.
func messageIn(err error) string {
	if s, ok := status.FromError(err); ok {
		return s.Message()
	}
	return err.Error()
}

// single is an operation that is one call of clientv3.
type single struct {
	op func(s *settings, req *load.Request) clientv3.Op
	// found is how many keys the operation covered; nil if that is always one.
	found func(clientv3.OpResponse) int64
}

// putOne writes a key. readOne reads: etcd counts all keys in the range, even if it returns fewer.
var (
	putOne = single{op: func(_ *settings, req *load.Request) clientv3.Op {
		return clientv3.OpPut(string(req.Key), string(req.Value))
	}}
	readOne = single{
		op: func(s *settings, req *load.Request) clientv3.Op {
			return clientv3.OpGet(string(req.Key), s.readOptions(req)...)
		},
		found: func(got clientv3.OpResponse) int64 { return got.Get().Count },
	}
)

func (o single) do(ctx context.Context, d *Driver, client *clientv3.Client, req *load.Request, resp *load.Response) {
	op, carry := o.op(&d.settings, req), client.Do
	if d.settings.inTransaction && !req.Preload {
		carry = inTransaction(client)
	}
	resp.Sent = load.Now()
	got, err := carry(ctx, op)
	finish(resp, err)
	if err == nil && o.found != nil {
		miss(req, resp, o.found(got))
	}
	if put := got.Put(); put != nil {
		resp.Revision = put.Header.Revision
	}
}

// miss fails a request that covered fewer keys than exist.
func miss(req *load.Request, resp *load.Response, found int64) {
	if missing := req.Missing(found); missing != "" {
		resp.Code, resp.Detail = load.CodeNotFound, missing
	}
}

func (s *settings) readOptions(req *load.Request) []clientv3.OpOption {
	var options []clientv3.OpOption
	if req.Consistency == spec.Serializable {
		options = append(options, clientv3.WithSerializable())
	}
	if len(req.End) > 0 {
		options = append(options, clientv3.WithRange(string(req.End)), clientv3.WithLimit(s.Limit))
	}
	if s.KeysOnly {
		options = append(options, clientv3.WithKeysOnly())
	}
	if s.CountOnly {
		options = append(options, clientv3.WithCountOnly())
	}
	return options
}
