package fast

import (
	"context"
	"crypto/tls"
	"net"
	"testing"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/mvccpb"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/etcd/fast/eventloop"
	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/etcd/servertest"
	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// kv is etcd's KV service as grpc-go serves it, with the behaviour of a test.
type kv struct {
	pb.UnimplementedKVServer
	ranges func(context.Context, *pb.RangeRequest) (*pb.RangeResponse, error)
	puts   func(context.Context, *pb.PutRequest) (*pb.PutResponse, error)
	txns   func(context.Context, *pb.TxnRequest) (*pb.TxnResponse, error)
}

func (s *kv) Range(ctx context.Context, r *pb.RangeRequest) (*pb.RangeResponse, error) {
	if s.ranges == nil {
		return &pb.RangeResponse{Count: 1, Kvs: []*mvccpb.KeyValue{{}}}, nil
	}
	return s.ranges(ctx, r)
}

func (s *kv) Put(ctx context.Context, r *pb.PutRequest) (*pb.PutResponse, error) {
	return s.puts(ctx, r)
}

func (s *kv) DeleteRange(context.Context, *pb.DeleteRangeRequest) (*pb.DeleteRangeResponse, error) {
	return &pb.DeleteRangeResponse{Deleted: 1}, nil
}

func (s *kv) Txn(ctx context.Context, r *pb.TxnRequest) (*pb.TxnResponse, error) {
	return s.txns(ctx, r)
}

// lessor is etcd's Lease service; every call succeeds.
type lessor struct{ pb.UnimplementedLeaseServer }

func (lessor) LeaseGrant(_ context.Context, r *pb.LeaseGrantRequest) (*pb.LeaseGrantResponse, error) {
	return &pb.LeaseGrantResponse{ID: r.ID, TTL: r.TTL}, nil
}

func (lessor) LeaseRevoke(context.Context, *pb.LeaseRevokeRequest) (*pb.LeaseRevokeResponse, error) {
	return &pb.LeaseRevokeResponse{}, nil
}

func withTLS() grpc.ServerOption {
	return grpc.Creds(credentials.NewTLS(&tls.Config{Certificates: []tls.Certificate{servertest.Certificate()}, NextProtos: []string{"h2"}}))
}

// serve runs a server until the test ends. "127.0.0.1:0" selects a free port.
func serve(t *testing.T, address string, s *kv, options ...grpc.ServerOption) (*grpc.Server, string) {
	t.Helper()
	listener, err := net.Listen("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	server := newServer(s, options...)
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(server.Stop)
	return server, listener.Addr().String()
}

func newServer(s *kv, options ...grpc.ServerOption) *grpc.Server {
	server := grpc.NewServer(options...)
	pb.RegisterKVServer(server, s)
	pb.RegisterLeaseServer(server, lessor{})
	return server
}

// allCalls has all operations that this package has calls for.
var allCalls = map[spec.Operation]*Call{
	spec.OperationRange: RangeCall, spec.OperationPut: PutCall, spec.OperationDelete: DeleteCall, spec.OperationTxn: TxnCall,
	spec.OperationCompareAndSwap: SwapCall, spec.OperationLeaseGrant: GrantCall, spec.OperationLeaseRevoke: RevokeCall,
}

// newTestClient returns a client that is closed with the test. It has all calls, unless the configuration has some.
func newTestClient(t *testing.T, config Config) *Client {
	t.Helper()
	if config.Calls == nil {
		config.Calls = allCalls
	}
	c, err := NewClient(config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// maxWait is how long a test waits for something that should happen soon.
const maxWait = 10 * time.Second

func open(t *testing.T, c *Client, address string) *eventloop.Conn {
	t.Helper()
	conn, err := c.Connect(t.Context(), address, 0)
	if err != nil {
		t.Fatal(err)
	}
	return conn
}

// openOnAll opens one connection on each loop.
func openOnAll(t *testing.T, c *Client, address string) []*eventloop.Conn {
	t.Helper()
	conns := make([]*eventloop.Conn, c.Loops())
	for i := range conns {
		conn, err := c.Connect(t.Context(), address, i)
		if err != nil {
			t.Fatal(err)
		}
		conns[i] = conn
	}
	return conns
}

// get sends a range and waits until it has ended.
func get(ctx context.Context, conn load.Conn, key string) load.Response {
	var response load.Response
	conn.Do(load.WithPhase(ctx, results.PhaseMeasured), &load.Request{
		Operation: spec.OperationRange, Key: []byte(key), Needs: 1, Timeout: 10 * time.Second,
	}, &response)
	return response
}

// configs are the variants of a connection.
var configs = map[string]Config{
	"epoll":        {},
	"epoll TLS":    {TLS: servertest.Trust()},
	"portable":     {Portable: true},
	"portable TLS": {Portable: true, TLS: servertest.Trust()},
	"two loops":    {Loops: 2, TLS: servertest.Trust()},
}

// forAll runs a test with each variant.
func forAll(t *testing.T, test func(t *testing.T, config Config, options []grpc.ServerOption)) {
	for name, config := range configs {
		t.Run(name, func(t *testing.T) {
			var options []grpc.ServerOption
			if config.TLS != nil {
				options = append(options, withTLS())
			}
			test(t, config, options)
		})
	}
}
