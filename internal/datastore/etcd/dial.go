package etcd

import (
	"context"
	"errors"
	"math"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/connectivity"
)

const (
	// dialTimeout bounds opening one connection, including the login.
	dialTimeout = 10 * time.Second
	// keepAliveTime and keepAliveTimeout are those of the API server's own client. They detect a member that vanished
	// without closing its connections.
	keepAliveTime    = 30 * time.Second
	keepAliveTimeout = 10 * time.Second
)

// dial returns a client of these addresses, logged in and connected. The client retries only requests whose token was
// refused: other retries would hide what the run measures.
func (d *Driver) dial(ctx context.Context, endpoints ...string) (*clientv3.Client, error) {
	creds, err := d.secrets()
	if err != nil {
		return nil, err
	}
	return d.dialAs(ctx, creds, endpoints...)
}

// dialForLoad returns a client of one address that notes which members answer there.
func (d *Driver) dialForLoad(ctx context.Context, endpoint string) (*clientv3.Client, error) {
	creds, err := d.secrets()
	if err != nil {
		return nil, err
	}
	return d.dialWith(ctx, creds, &answerer{all: &d.answerers, address: endpoint}, endpoint)
}

// dialAs does not log in if there is no user.
func (d *Driver) dialAs(ctx context.Context, creds *credentials, endpoints ...string) (*clientv3.Client, error) {
	return d.dialWith(ctx, creds, nil, endpoints...)
}

// dialWith explains errors as those of the first endpoint.
func (d *Driver) dialWith(ctx context.Context, creds *credentials, noting *answerer, endpoints ...string) (*clientv3.Client, error) {
	endpoint := endpoints[0]
	client, err := clientv3.New(d.config(creds, noting, endpoints...))
	if err != nil {
		return nil, explain(err, endpoint)
	}
	if err := awaitReady(ctx, client.ActiveConnection()); err != nil {
		return nil, errors.Join(d.whyNotReady(ctx, endpoint, err), closeClient(client))
	}
	if err := d.firstToken(ctx, creds, endpoint); err != nil {
		return nil, errors.Join(err, closeClient(client))
	}
	return client, nil
}

// firstToken logs in, if there is a user who has no token yet.
func (d *Driver) firstToken(ctx context.Context, creds *credentials, endpoint string) error {
	if creds.username == "" {
		return nil
	}
	if err := d.tokens().First(ctx); err != nil {
		return explain(err, endpoint)
	}
	return nil
}

// config leaves it to the server which requests are too large.
func (d *Driver) config(creds *credentials, noting *answerer, endpoints ...string) clientv3.Config {
	return clientv3.Config{
		Endpoints:            urls(endpoints, creds.tls != nil),
		TLS:                  creds.tls.Clone(),
		DialTimeout:          dialTimeout,
		MaxUnaryRetries:      1,
		MaxCallSendMsgSize:   math.MaxInt32,
		Logger:               zap.NewNop(),
		DialKeepAliveTime:    keepAliveTime,
		DialKeepAliveTimeout: keepAliveTimeout,
		DialOptions:          d.dialOptions(creds, noting),
	}
}

// redial makes gRPC dial a lost member again at least every second. Its default pauses grow to two minutes, which would
// hide a recovery. Only connections of the load are as patient as a burst.
func (d *Driver) redial(isLoad bool) grpc.ConnectParams {
	patience := dialTimeout
	if isLoad {
		patience = d.dialPatience()
	}
	return grpc.ConnectParams{
		Backoff:           backoff.Config{BaseDelay: 50 * time.Millisecond, Multiplier: 2, Jitter: 0.2, MaxDelay: time.Second},
		MinConnectTimeout: patience,
	}
}

// dialPatience bounds opening a connection of the load. In a burst, the time-outs of requests bound it.
func (d *Driver) dialPatience() time.Duration {
	if b := d.plan.Burst(); b != nil {
		return max(dialTimeout, time.Duration(b.Attempts)*b.Timeout)
	}
	return dialTimeout
}

func (d *Driver) dialOptions(creds *credentials, noting *answerer) []grpc.DialOption {
	s := sender{driver: d, noting: noting}
	if creds.username != "" {
		s.tokens = d.tokens()
	}
	options := []grpc.DialOption{
		grpc.WithChainUnaryInterceptor(s.send), grpc.WithChainStreamInterceptor(s.open), grpc.WithConnectParams(d.redial(noting != nil)),
	}
	if noting != nil && d.weighs() {
		options = append(options, grpc.WithStatsHandler(bodyWeigher{&d.bodies}), grpc.WithContextDialer(d.dialWeighed))
	}
	if t := d.plan.Target.TLS; t != nil && t.ServerName != "" {
		// gRPC checks certificates against its own name for the server, not against the one in the TLS configuration.
		options = append(options, grpc.WithAuthority(t.ServerName))
	}
	return options
}

// whyNotReady returns why a connection failed. gRPC does not report the cause, so this probes the address.
func (d *Driver) whyNotReady(ctx context.Context, endpoint string, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if seen := d.probe(ctx, endpoint); seen != nil {
		return seen
	}
	return explain(err, endpoint)
}

// urls writes host:port as clientv3 expects it.
func urls(endpoints []string, secure bool) []string {
	scheme := "http://"
	if secure {
		scheme = "https://"
	}
	out := make([]string, len(endpoints))
	for i, e := range endpoints {
		out[i] = scheme + e
	}
	return out
}

// awaitReady opens a connection now, so that no request has to wait for it.
func awaitReady(ctx context.Context, cc *grpc.ClientConn) error {
	ctx, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	for {
		cc.Connect()
		state := cc.GetState()
		if state == connectivity.Ready {
			return nil
		}
		if !cc.WaitForStateChange(ctx, state) {
			return ctx.Err()
		}
	}
}
