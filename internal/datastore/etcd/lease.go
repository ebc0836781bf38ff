package etcd

import (
	"context"
	"errors"
	"io"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"
	"google.golang.org/grpc/codes"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// leases calls below clientv3, over its connection: clientv3 does not let the caller choose a lease ID, and repeats a
// failed renewal until it succeeds.
func leases(client *clientv3.Client) etcdserverpb.LeaseClient {
	return etcdserverpb.NewLeaseClient(client.ActiveConnection())
}

func grantLease(ctx context.Context, d *Driver, client *clientv3.Client, req *load.Request, resp *load.Response) {
	resp.Sent = load.Now()
	_, err := leases(client).LeaseGrant(ctx, &etcdserverpb.LeaseGrantRequest{ID: req.Lease, TTL: d.settings.TTLSeconds})
	finish(resp, err)
}

func revokeLease(ctx context.Context, _ *Driver, client *clientv3.Client, req *load.Request, resp *load.Response) {
	resp.Sent = load.Now()
	_, err := leases(client).LeaseRevoke(ctx, &etcdserverpb.LeaseRevokeRequest{ID: req.Lease})
	finish(resp, err)
}

// keepAliveOnce renews a lease over a new stream, as clientv3's KeepAliveOnce does: it closes its sending side, and
// cancels the stream. The stream ends with the request, because ctx may live longer; otherwise each request would leave
// an open stream at both ends.
func keepAliveOnce(ctx context.Context, _ *Driver, client *clientv3.Client, req *load.Request, resp *load.Response) {
	ctx, end := context.WithCancel(ctx)
	defer end()
	resp.Sent = load.Now()
	stream, err := leases(client).LeaseKeepAlive(ctx)
	if err != nil {
		finish(resp, err)
		return
	}
	renew(stream, req, resp)
	// CloseSend can fail only on a stream that has already ended.
	_ = stream.CloseSend()
}

// renew sends one renewal and waits for its response.
func renew(stream etcdserverpb.Lease_LeaseKeepAliveClient, req *load.Request, resp *load.Response) {
	err := stream.Send(&etcdserverpb.LeaseKeepAliveRequest{ID: req.Lease})
	var renewed *etcdserverpb.LeaseKeepAliveResponse
	if err == nil || errors.Is(err, io.EOF) {
		// If the stream has ended, only Recv returns the reason.
		renewed, err = stream.Recv()
	}
	finish(resp, err)
	if err == nil && renewed.TTL <= 0 {
		resp.Code, resp.Detail = codes.NotFound.String(), "the lease does not exist: it was revoked, or it was not renewed in time and expired; raise lease.ttlSeconds"
	}
}

// leaseStream is one client's connection that renews leases over one stream, which stays open.
type leaseStream struct {
	*conn
	// client carries the stream. It is replaced after the connection has moved.
	client *clientv3.Client
	stream etcdserverpb.Lease_LeaseKeepAliveClient
	end    context.CancelFunc
	phase  results.Phase
}

// newLeaseStream is for runs whose clients keep their streams.
func newLeaseStream(_ context.Context, c *conn, _ int) (load.Conn, error) {
	if c.driver.plan.Workload.Lease.KeepAlive.Mode == spec.KeepAliveOnce {
		return nil, nil
	}
	return &leaseStream{conn: c}, nil
}

// Do implements load.Conn.
func (s *leaseStream) Do(ctx context.Context, req *load.Request, resp *load.Response) {
	if req.Operation != spec.OperationLeaseKeepAlive {
		s.conn.Do(ctx, req, resp)
		return
	}
	ctx, cancel := context.WithTimeout(ctx, req.Timeout)
	defer cancel()
	*resp = load.Response{}
	s.phase = load.PhaseOf(ctx)
	resp.Sent = load.Now()
	if err := s.open(ctx); err != nil {
		finish(resp, err)
		return
	}
	interrupt := context.AfterFunc(ctx, s.end)
	renew(s.stream, req, resp)
	interrupted := !interrupt()
	if interrupted && !resp.Succeeded() {
		resp.Code, resp.Detail = codeOf(ctx.Err()).String(), "no response within the request timeout"
	}
	if interrupted || !resp.Succeeded() {
		// A late response must not be taken for the response to the next request.
		s.close()
	}
}

// open opens the stream, unless one is open over the connection's current client.
func (s *leaseStream) open(ctx context.Context) (err error) {
	client := s.conn.client.Load()
	if s.stream != nil && s.client == client {
		return nil
	}
	s.close()
	ctx, s.end = context.WithCancel(withStreamPhase(context.WithoutCancel(ctx), func() results.Phase { return s.phase }))
	s.client = client
	if s.stream, err = leases(client).LeaseKeepAlive(ctx); err != nil {
		s.close()
	}
	return err
}

func (s *leaseStream) close() {
	if s.end != nil {
		s.end()
	}
	s.stream, s.end = nil, nil
}
