package etcd

import (
	"context"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// transport is how the load travels. Its methods may be called at any time.
type transport interface {
	// connect opens the connection with this global number to the member behind an
	// address.
	connect(ctx context.Context, number int, endpoint string) (connection, error)
	// requests counts what was sent.
	requests() map[spec.RPC]map[results.Phase]uint64
	// close ends all connections. What they sent stays counted.
	close() error
}

// connection is a load.Conn that can go elsewhere.
type connection interface {
	load.Conn
	// move lets the connection go to another address. If that fails it stays where it
	// is.
	move(ctx context.Context, endpoint string) error
}

// transports makes each transport for a driver. Each registers itself here.
var transports = map[spec.Transport]func(*Driver) transport{}

// placed is a connection of the load, and where it leads.
type placed struct {
	connection
	number   int
	endpoint string
}

// Connect implements load.Driver. A connection is one TCP connection, to a member
// that is known.
func (d *Driver) Connect(ctx context.Context, number int) (load.Conn, error) {
	endpoint := d.endpointOf(number)
	c, err := d.transport.connect(ctx, number, endpoint)
	if err != nil {
		return nil, settled(ctx, err, endpoint)
	}
	d.mutex.Lock()
	defer d.mutex.Unlock()
	d.conns = append(d.conns, &placed{connection: c, number: number, endpoint: endpoint})
	d.follow()
	return c, nil
}

// endpointOf returns where a connection goes: connection j to the eligible
// member j modulo their number.
func (d *Driver) endpointOf(connection int) string {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	eligible := d.topology.eligible(d.plan.Target.Members)
	return eligible[connection%len(eligible)]
}

// place connects c to where it belongs now. If that fails its requests say how it
// goes where it is.
func (d *Driver) place(ctx context.Context, c *placed) {
	if endpoint := d.endpointOf(c.number); endpoint != c.endpoint && c.move(ctx, endpoint) == nil {
		c.endpoint = endpoint
	}
}

func (d *Driver) wrongMember(endpoint string, found, want uint64) error {
	return unhealthy("%s leads to the member %s now and to %s before: for target.members %s, name an address of each member's own",
		endpoint, hexID(found), hexID(want), d.plan.Target.Members)
}
