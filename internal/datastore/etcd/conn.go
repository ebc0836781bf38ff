package etcd

import (
	"context"
	"errors"
	"sync/atomic"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// conn is one connection to one member.
type conn struct {
	driver *Driver
	// number is the connection's global index.
	number   int
	endpoint string
	// client is replaced when the connection follows the leader.
	client atomic.Pointer[clientv3.Client]
	// locks is for the clients that have sessions.
	locks lockView
}

var _ load.SharedConn = (*conn)(nil)

// Connect implements load.Driver. A connection is a client of one address, so
// that it is one TCP connection, to a member that is known.
func (d *Driver) Connect(ctx context.Context, connection int) (load.Conn, error) {
	if isFast(d.plan) {
		return d.connectFast(ctx, connection)
	}
	endpoint := d.endpointOf(connection)
	client, err := d.dialMember(ctx, endpoint)
	if err != nil {
		return nil, settled(ctx, err, endpoint)
	}
	c := &conn{driver: d, number: connection, endpoint: endpoint}
	c.client.Store(client)
	d.mutex.Lock()
	defer d.mutex.Unlock()
	d.conns = append(d.conns, c)
	d.follow()
	return c, nil
}

// dialMember connects to the member behind an address. Where it matters which
// one that is, it makes sure: behind an address that is shared, such as a
// Service's, each connection can end at another member.
func (d *Driver) dialMember(ctx context.Context, endpoint string) (*clientv3.Client, error) {
	client, err := d.dial(ctx, endpoint)
	if err != nil || d.plan.Target.Members == plan.MembersAll {
		return client, err
	}
	d.mutex.Lock()
	want := d.topology.at(endpoint)
	d.mutex.Unlock()
	found, err := get(ctx, client, d.markerKey(), clientv3.WithSerializable(), clientv3.WithCountOnly())
	if err == nil && found.Header.MemberId != want {
		err = d.wrongMember(endpoint, found.Header.MemberId, want)
	}
	if err != nil {
		return nil, errors.Join(err, closeClient(client))
	}
	return client, nil
}

func (d *Driver) wrongMember(endpoint string, found, want uint64) error {
	return unhealthy("%s leads to the member %s now and to %s before: for target.members %s, name an address of each member's own",
		endpoint, hexID(found), hexID(want), d.plan.Target.Members)
}

// endpointOf returns where a connection goes: connection j to the eligible
// member j modulo their number.
func (d *Driver) endpointOf(connection int) string {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	eligible := d.topology.eligible(d.plan.Target.Members)
	return eligible[connection%len(eligible)]
}

// Do implements load.Conn. clientv3 takes the request's bytes through a queue
// and a goroutine of its own; its caller comes no nearer to write and read than
// the call.
func (c *conn) Do(ctx context.Context, req *load.Request, resp *load.Response) {
	ctx, cancel := context.WithTimeout(ctx, req.Timeout)
	defer cancel()
	c.carry(ctx, req, resp)
}

// carry sends a request that ends with ctx at the latest.
func (c *conn) carry(ctx context.Context, req *load.Request, resp *load.Response) {
	client := c.client.Load()
	*resp = load.Response{}
	switch req.Operation {
	case results.OperationRange:
		doRange(ctx, client, req, resp)
	case results.OperationPut, results.OperationDelete:
		doOne(ctx, client, req, resp)
	case results.OperationTxn:
		doTxn(ctx, client, req, resp)
	case results.OperationCompareAndSwap:
		compareAndSwap(ctx, client, req, resp)
	case results.OperationSTM:
		resp.Sent = load.Now()
		finish(resp, newTransaction(c.driver.plan.Workload.STM, req).run(ctx, client, resp))
	case results.OperationOptimisticPut, results.OperationOptimisticDelete, results.OperationListBy500, results.OperationListBy10000:
		c.driver.doObject(ctx, client, req, resp)
	case results.OperationLeaseGrant, results.OperationLeaseRevoke:
		doLease(ctx, client, req, resp)
	case results.OperationLeaseKeepAlive:
		keepAliveOnce(ctx, client, req, resp)
	}
}

// Client implements load.SharedConn.
func (c *conn) Client(ctx context.Context, client int) (load.Conn, error) {
	switch p := c.driver.plan; {
	case p.Workload.Lease != nil && p.Workload.Lease.Stream:
		return &leaseStream{conn: c}, nil
	case p.Workload.Contest != nil:
		return c.newCompetitor(ctx, client)
	case p.UsesSessions():
		return c.newLockedSTM(ctx, client)
	default:
		return &caller{conn: c, limit: newTimeLimit()}, nil
	}
}

// finish fills a response whose end has been received.
func finish(resp *load.Response, err error) {
	resp.Received = load.Now()
	if err != nil {
		resp.Code, resp.Detail = codeOf(err).String(), err.Error()
	}
}

// doOne puts, reads or deletes.
func doOne(ctx context.Context, client *clientv3.Client, req *load.Request, resp *load.Response) {
	op, carry := operation(req), client.Do
	if req.InTransaction {
		carry = inTransaction(client)
	}
	resp.Sent = load.Now()
	got, err := carry(ctx, op)
	finish(resp, err)
	if err == nil {
		miss(req, resp, found(req.Operation, got))
	}
	if put := got.Put(); put != nil {
		resp.Revision = put.Header.Revision
	}
}

// miss fails a request that was carried out on fewer keys than there are.
func miss(req *load.Request, resp *load.Response, found int64) {
	if missing := req.Missing(found); missing != "" {
		resp.Code, resp.Detail = load.CodeNotFound, missing
	}
}

// found is how many keys a request was carried out on. etcd counts all that a
// read covers, even if it returns fewer.
func found(operation results.Operation, got clientv3.OpResponse) int64 {
	switch operation {
	case results.OperationRange:
		return got.Get().Count
	case results.OperationDelete:
		return got.Del().Deleted
	default:
		return 1
	}
}

func operation(req *load.Request) clientv3.Op {
	switch req.Operation {
	case results.OperationPut:
		return clientv3.OpPut(string(req.Key), string(req.Value))
	case results.OperationDelete:
		return clientv3.OpDelete(string(req.Key))
	default:
		return clientv3.OpGet(string(req.Key), readOptions(req)...)
	}
}

func readOptions(req *load.Request) []clientv3.OpOption {
	var options []clientv3.OpOption
	if req.Serializable {
		options = append(options, clientv3.WithSerializable())
	}
	if len(req.End) > 0 {
		options = append(options, clientv3.WithRange(string(req.End)), clientv3.WithLimit(req.Limit))
	}
	if req.KeysOnly {
		options = append(options, clientv3.WithKeysOnly())
	}
	if req.CountOnly {
		options = append(options, clientv3.WithCountOnly())
	}
	return options
}
