package etcd

import (
	"context"
	"errors"
	"sync"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/etcd/fast"
	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/etcd/fast/eventloop"
	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

func init() {
	transports[spec.TransportFast] = func(d *Driver) transport { return &fastTransport{driver: d} }
}

// fastTransport is the transport over package fast.
type fastTransport struct {
	driver *Driver

	mutex sync.Mutex
	// client is nil before the first connection.
	client *fast.Client
}

// burstDials is how many connections of a burst to one address are dialed at once: a burst is meant to overload it.
const burstDials = 1024

// fastConn is one connection of fastTransport.
type fastConn struct{ *eventloop.Conn }

var _ load.AsyncConn = fastConn{}

func (f *fastTransport) connect(ctx context.Context, number int, endpoint string) (connection, error) {
	client, err := f.open()
	if err != nil {
		return nil, err
	}
	bounded, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	opened, err := client.Connect(bounded, endpoint, number)
	if wrong, ok := errors.AsType[*fast.WrongMemberError](err); ok {
		return nil, f.driver.wrongMember(endpoint, wrong.Found, wrong.Want)
	}
	if err != nil {
		return nil, f.driver.whyNotReady(ctx, endpoint, err)
	}
	return fastConn{opened}, nil
}

func (f *fastTransport) later(number int, endpoint string) (connection, error) {
	client, err := f.open()
	if err != nil {
		return nil, err
	}
	return fastConn{client.ConnectLater(endpoint, number)}, nil
}

// move implements connection.
func (c fastConn) move(_ context.Context, endpoint string) error {
	c.Move(endpoint)
	return nil
}

// open returns the client of all connections.
func (f *fastTransport) open() (*fast.Client, error) {
	d := f.driver
	creds, err := d.secrets()
	if err != nil {
		return nil, err
	}
	d.mutex.Lock()
	wanted := d.topology.wanted(d.plan.Target)
	d.mutex.Unlock()
	f.mutex.Lock()
	defer f.mutex.Unlock()
	if f.client != nil {
		return f.client, nil
	}
	config := fast.Config{
		Calls: calls(), Options: d.settings.Options,
		TLS: creds.tls, DialTimeout: d.dialPatience(), KeepAliveTime: keepAliveTime, KeepAliveTimeout: keepAliveTimeout,
		Members: wanted, MemberKey: []byte(d.run.Marker()), AnsweredBy: d.answerers.saw,
	}
	if creds.username != "" {
		config.Tokens = d.tokens()
	}
	if burst := d.plan.Burst(); burst != nil {
		config.Late, config.DialsAtOnce, config.Bodies = burst.Connects, burstDials, &d.bodies
		config.Wrap = func(s eventloop.Socket) eventloop.Socket { return weighedSocket{s, &d.wire} }
	}
	client, err := fast.NewClient(config)
	if err != nil {
		return nil, load.Errorf(results.FailurePodFailed, "the Fast transport cannot start: %w; set spec.load.transport: Client", err)
	}
	f.client = client
	return client, nil
}

func (f *fastTransport) opened() *fast.Client {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	return f.client
}

func (f *fastTransport) requests() map[spec.RPC]map[results.Phase]uint64 {
	if client := f.opened(); client != nil {
		return client.Requests()
	}
	return nil
}

func (f *fastTransport) close() error {
	if client := f.opened(); client != nil {
		client.Close()
	}
	return nil
}
