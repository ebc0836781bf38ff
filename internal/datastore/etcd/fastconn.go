package etcd

import (
	"context"
	"errors"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"

	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/etcd/fast"
	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// fastConn is one connection of the Fast transport, to one member.
type fastConn struct {
	*fast.Conn
	// number is the connection's global index.
	number   int
	endpoint string
}

var _ load.LaneConn = (*fastConn)(nil)

// connectFast is Connect over the Fast transport.
func (d *Driver) connectFast(ctx context.Context, connection int) (load.Conn, error) {
	endpoint := d.endpointOf(connection)
	client, err := d.fastClient()
	if err != nil {
		return nil, err
	}
	bounded, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	opened, err := client.Connect(bounded, endpoint, connection)
	if wrong, ok := errors.AsType[*fast.WrongMemberError](err); ok {
		return nil, d.wrongMember(endpoint, wrong.Found, wrong.Want)
	}
	if err != nil {
		return nil, settled(ctx, d.whyNotReady(ctx, endpoint, err), endpoint)
	}
	c := &fastConn{Conn: opened, number: connection, endpoint: endpoint}
	d.mutex.Lock()
	defer d.mutex.Unlock()
	d.fastConns = append(d.fastConns, c)
	d.follow()
	return c, nil
}

// fastClient returns the client of all Fast connections.
func (d *Driver) fastClient() (*fast.Client, error) {
	creds, err := d.secrets()
	if err != nil {
		return nil, err
	}
	d.mutex.Lock()
	defer d.mutex.Unlock()
	if d.fast != nil {
		return d.fast, nil
	}
	config := fast.Config{
		TLS: creds.tls, DialTimeout: dialTimeout, KeepAliveTime: keepAliveTime, KeepAliveTimeout: keepAliveTimeout,
		Members: d.topology.wanted(d.plan.Target.Members), MemberKey: []byte(d.markerKey()),
	}
	if creds.username != "" {
		config.Token = d.token
	}
	client, err := fast.NewClient(config)
	if err != nil {
		return nil, load.Errorf(results.FailurePodFailed, "the Fast transport can not start: %w; choose ClientV3", err)
	}
	d.fast = client
	return client, nil
}

// token logs in over the control connections. There is none, "", as long as the
// target wants none.
func (d *Driver) token(ctx context.Context) (string, error) {
	creds, err := d.secrets()
	if err != nil {
		return "", err
	}
	client, err := d.controlClient(ctx)
	if err != nil {
		return "", err
	}
	response, err := client.Authenticate(ctx, creds.username, creds.password)
	if errors.Is(err, rpctypes.ErrAuthNotEnabled) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	return response.Token, nil
}

// moveFast lets c go to where it belongs now.
func (d *Driver) moveFast(c *fastConn) {
	if endpoint := d.endpointOf(c.number); endpoint != c.endpoint {
		c.endpoint = endpoint
		c.Move(endpoint)
	}
}

// fastRequests returns what the Fast connections have sent.
func (d *Driver) fastRequests() map[results.RPC]map[results.Phase]uint64 {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	if d.fast == nil {
		return nil
	}
	return d.fast.Requests()
}

// closeFast ends the Fast connections. What they sent stays counted.
func (d *Driver) closeFast() {
	d.mutex.Lock()
	client := d.fast
	d.mutex.Unlock()
	if client != nil {
		client.Close()
	}
}

// isFast says whether the plan wants the Fast transport.
func isFast(p plan.Plan) bool { return p.Load.Transport == plan.TransportFast }
