package etcd

import (
	"context"
	"net"

	clientv3 "go.etcd.io/etcd/client/v3"
	"google.golang.org/grpc/stats"

	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/etcd/fast/eventloop"
	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// ConnectLater implements load.LateConnector.
func (d *Driver) ConnectLater(number int) (load.Conn, error) {
	endpoint := d.endpointOf(number)
	c, err := d.transport.later(number, endpoint)
	if err != nil {
		return nil, err
	}
	d.adopt(c, number, endpoint)
	return c, nil
}

// openForLoad returns a client of one address that connects with its first request.
func (d *Driver) openForLoad(endpoint string) (*clientv3.Client, error) {
	creds, err := d.secrets()
	if err != nil {
		return nil, err
	}
	return clientv3.New(d.config(creds, &answerer{all: &d.answerers, address: endpoint}, endpoint))
}

// Wire implements load.Weigher.
func (d *Driver) Wire() results.Bodies { return d.wire.Counts() }

// weighs reports whether the transport counts the bytes of bodies and of connections even if that costs processor time.
func (d *Driver) weighs() bool { return d.plan.Burst() != nil }

// dialWeighed dials for a connection of the load whose bytes are counted.
func (d *Driver) dialWeighed(ctx context.Context, address string) (net.Conn, error) {
	var dialer net.Dialer
	c, err := dialer.DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	return weighedConn{c, &d.wire}, nil
}

// weighedConn counts the bytes of a connection.
type weighedConn struct {
	net.Conn
	wire *load.BodyCounter
}

func (c weighedConn) Read(p []byte) (n int, err error) {
	n, err = c.Conn.Read(p)
	c.wire.Add(results.PhaseMeasured, 0, n)
	return n, err
}

func (c weighedConn) Write(p []byte) (n int, err error) {
	n, err = c.Conn.Write(p)
	c.wire.Add(results.PhaseMeasured, n, 0)
	return n, err
}

// weighedSocket counts the bytes of a socket of an event loop.
type weighedSocket struct {
	eventloop.Socket
	wire *load.BodyCounter
}

func (s weighedSocket) Read(p []byte) (n int, err error) {
	n, err = s.Socket.Read(p)
	s.wire.Add(results.PhaseMeasured, 0, n)
	return n, err
}

func (s weighedSocket) Write(p []byte) (n int, err error) {
	n, err = s.Socket.Write(p)
	s.wire.Add(results.PhaseMeasured, n, 0)
	return n, err
}

// bodyWeigher counts the messages of gRPC calls.
type bodyWeigher struct{ bodies *load.BodyCounter }

var _ stats.Handler = bodyWeigher{}

// TagRPC implements stats.Handler.
func (bodyWeigher) TagRPC(ctx context.Context, _ *stats.RPCTagInfo) context.Context { return ctx }

// HandleRPC implements stats.Handler.
func (w bodyWeigher) HandleRPC(ctx context.Context, s stats.RPCStats) {
	switch s := s.(type) {
	case *stats.OutPayload:
		w.bodies.Add(load.PhaseOf(ctx), s.Length, 0)
	case *stats.InPayload:
		w.bodies.Add(load.PhaseOf(ctx), 0, s.Length)
	}
}

// TagConn implements stats.Handler.
func (bodyWeigher) TagConn(ctx context.Context, _ *stats.ConnTagInfo) context.Context { return ctx }

// HandleConn implements stats.Handler.
func (bodyWeigher) HandleConn(context.Context, stats.ConnStats) {}
