package etcd

import (
	"context"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// transport carries the load. Its methods may be called at any time.
type transport interface {
	// connect opens the connection with this global number to the member behind an address.
	connect(ctx context.Context, number int, endpoint string) (connection, error)
	// later returns a connection that is opened for its first request.
	later(number int, endpoint string) (connection, error)
	// requests counts the requests sent.
	requests() map[spec.RPC]map[results.Phase]uint64
	// close ends all connections. Their requests stay counted.
	close() error
}

// connection is a load.Conn that can move to another address.
type connection interface {
	load.Conn
	// move moves the connection to another address. If that fails, the connection stays at the old one.
	move(ctx context.Context, endpoint string) error
}

// transports has the constructor of each transport. Each registers itself here.
var transports = map[spec.Transport]func(*Driver) transport{}

// memberConn is a connection of the load, with its address.
type memberConn struct {
	connection
	number   int
	endpoint string
}

// Connect implements load.Driver. Each connection is one TCP connection to a known member.
func (d *Driver) Connect(ctx context.Context, number int) (load.Conn, error) {
	endpoint := d.endpointOf(number)
	c, err := d.transport.connect(ctx, number, endpoint)
	if err != nil {
		return nil, settled(ctx, err, endpoint)
	}
	d.adopt(c, number, endpoint)
	return c, nil
}

// adopt keeps a connection, so that it can move.
func (d *Driver) adopt(c connection, number int, endpoint string) {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	d.conns = append(d.conns, &memberConn{connection: c, number: number, endpoint: endpoint})
	d.follow()
}

// endpointOf returns the address for a connection: connection j goes to the eligible member j modulo their number.
func (d *Driver) endpointOf(connection int) string {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	eligible := d.topology.eligible(d.plan.Target)
	return eligible[connection%len(eligible)]
}

// place moves c to the address where it belongs now. If that fails, c stays and its requests report errors.
func (d *Driver) place(ctx context.Context, c *memberConn) {
	if endpoint := d.endpointOf(c.number); endpoint != c.endpoint && c.move(ctx, endpoint) == nil {
		c.endpoint = endpoint
	}
}

func (d *Driver) wrongMember(endpoint string, found, want uint64) error {
	return unhealthy("%s leads to the member %s now, and led to %s before: %s needs an address for each member that leads only to that member",
		endpoint, hexID(found), hexID(want), d.plan.Target.Selection())
}
