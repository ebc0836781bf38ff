package fast

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/mvccpb"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/etcd/fast/eventloop"
	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/etcd/servertest"
	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// valueOf is the value of a key, of up to 100 KB.
func valueOf(key string) []byte {
	seed := uint64(len(key))
	for _, b := range []byte(key) {
		seed = seed*31 + uint64(b)
	}
	r := rand.New(rand.NewPCG(seed, 1))
	value := make([]byte, r.IntN(1<<r.IntN(18)))
	for i := range value {
		value[i] = byte(r.Uint32())
	}
	return value
}

// echo answers only correct requests.
var echo = &kv{
	ranges: func(_ context.Context, r *pb.RangeRequest) (*pb.RangeResponse, error) {
		return &pb.RangeResponse{Count: 1, Kvs: []*mvccpb.KeyValue{{Key: r.Key, Value: valueOf(string(r.Key))}}}, nil
	},
	puts: func(_ context.Context, r *pb.PutRequest) (*pb.PutResponse, error) {
		if !bytes.Equal(r.Value, valueOf(string(r.Key))) {
			return nil, status.Errorf(codes.DataLoss, "the value of %q is not right", r.Key)
		}
		return &pb.PutResponse{}, nil
	},
}

// exchange sends many requests of many sizes at once, over these connections in turn, and counts their codes.
func exchange(t *testing.T, conns ...*eventloop.Conn) map[string]int {
	ctx := load.WithPhase(t.Context(), results.PhaseMeasured)
	ends := map[string]int{}
	var mutex sync.Mutex
	var clients sync.WaitGroup
	for i := range 20 {
		clients.Go(func() {
			for j := range 30 {
				key := fmt.Sprint(i, "-", j)
				request := load.Request{Operation: spec.OperationRange, Key: []byte(key), Needs: 1, Timeout: time.Minute}
				if j%2 == 0 {
					request.Operation, request.Value, request.Needs = spec.OperationPut, valueOf(key), 0
				}
				var response load.Response
				conns[i%len(conns)].Do(ctx, &request, &response)
				mutex.Lock()
				ends[response.Code+response.Detail]++
				mutex.Unlock()
			}
		})
	}
	clients.Wait()
	return ends
}

// The flow-control windows are small, few streams and stream IDs are allowed, and the header table is empty.
func TestNarrowLimits(t *testing.T) {
	_, address := serve(t, "127.0.0.1:0", echo, grpc.MaxConcurrentStreams(3), grpc.HeaderTableSize(0), grpc.InitialWindowSize(1<<16), grpc.InitialConnWindowSize(1<<16))
	client := newTestClient(t, Config{StreamWindow: 500, ConnWindow: 1, LastStream: 99})
	if diff := cmp.Diff(map[string]int{"": 600}, exchange(t, openOnAll(t, client, address)...)); diff != "" {
		t.Error(diff)
	}
	want := map[spec.RPC]map[results.Phase]uint64{
		spec.RPCPut:   {results.PhaseMeasured: 300},
		spec.RPCRange: {results.PhaseMeasured: 300},
	}
	if diff := cmp.Diff(want, client.Requests()); diff != "" {
		t.Error(diff)
	}
}

// TestGoAwayLosesNothing: the server closes its connections by GOAWAY again and again, and no request is lost.
func TestGoAwayLosesNothing(t *testing.T) {
	forAll(t, func(t *testing.T, config Config, options []grpc.ServerOption) {
		connections := newCounter()
		age := grpc.KeepaliveParams(keepalive.ServerParameters{MaxConnectionAge: 20 * time.Millisecond, MaxConnectionAgeGrace: time.Minute})
		slow := &kv{ranges: func(ctx context.Context, r *pb.RangeRequest) (*pb.RangeResponse, error) {
			return &pb.RangeResponse{Count: 1, Kvs: []*mvccpb.KeyValue{{}}}, nil
		}, puts: echo.puts}
		_, address := serve(t, "127.0.0.1:0", slow, append(options, age, grpc.StatsHandler(connections))...)
		conns := openOnAll(t, newTestClient(t, config), address)
		for connections.begun.Load() < int64(4*len(conns)) {
			if diff := cmp.Diff(map[string]int{"": 600}, exchange(t, conns...)); diff != "" {
				t.Fatal(diff)
			}
		}
	})
}

func TestStatusOfTheServer(t *testing.T) {
	_, address := serve(t, "127.0.0.1:0", &kv{ranges: func(_ context.Context, r *pb.RangeRequest) (*pb.RangeResponse, error) {
		return nil, status.Error(codes.FailedPrecondition, "100% wrong: "+string(r.Key)+" ✗\n")
	}})
	got := get(t.Context(), open(t, newTestClient(t, Config{}), address), "k")
	if got.Code != "FailedPrecondition" || got.Detail != "100% wrong: k ✗\n" {
		t.Errorf("got %q: %q", got.Code, got.Detail)
	}
	if got.Received < got.Sent {
		t.Errorf("received %v before it was sent", got.Sent.Sub(got.Received))
	}
}

// hang answers nothing until the client cancels, and reports that.
func hang() (*kv, <-chan struct{}, <-chan struct{}) {
	begun, ended := make(chan struct{}, 100), make(chan struct{}, 100)
	return &kv{ranges: func(ctx context.Context, _ *pb.RangeRequest) (*pb.RangeResponse, error) {
		begun <- struct{}{}
		<-ctx.Done()
		ended <- struct{}{}
		return nil, ctx.Err()
	}}, begun, ended
}

func TestTimeout(t *testing.T) {
	server, begun, ended := hang()
	_, address := serve(t, "127.0.0.1:0", server)
	conn := open(t, newTestClient(t, Config{}), address)
	var response load.Response
	conn.Do(t.Context(), &load.Request{Operation: spec.OperationRange, Key: []byte("k"), Needs: 1, Timeout: time.Second}, &response)
	if took := response.Received.Sub(response.Sent); response.Code != load.CodeDeadlineExceeded || took < 995*time.Millisecond {
		t.Errorf("after %v: %+v", took, response)
	}
	// The server receives the cancellation.
	<-begun
	<-ended
}

func TestCancel(t *testing.T) {
	server, begun, ended := hang()
	_, address := serve(t, "127.0.0.1:0", server)
	conn := open(t, newTestClient(t, Config{}), address)
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-begun
		cancel()
	}()
	if got := get(ctx, conn, "k"); got.Code != load.CodeCanceled {
		t.Errorf("got %+v", got)
	}
	<-ended
}

// TestAuthority checks the :authority header.
func TestAuthority(t *testing.T) {
	asked := make(chan string, 1)
	_, address := serve(t, "127.0.0.1:0", &kv{ranges: func(ctx context.Context, r *pb.RangeRequest) (*pb.RangeResponse, error) {
		md, _ := metadata.FromIncomingContext(ctx)
		asked <- md[":authority"][0]
		return found(ctx, r)
	}}, withTLS())
	for name, want := range map[string]string{"": address, "example.com": "example.com"} {
		config := Config{TLS: servertest.Trust()}
		config.TLS.ServerName = name
		if got := get(t.Context(), open(t, newTestClient(t, config), address), "k"); !got.Succeeded() {
			t.Fatalf("got %+v", got)
		}
		if got := <-asked; got != want {
			t.Errorf("with the server name %q the :authority is %s, want %s", name, got, want)
		}
	}
}

func TestToken(t *testing.T) {
	var good atomic.Pointer[string]
	first := "first"
	good.Store(&first)
	_, address := serve(t, "127.0.0.1:0", &kv{ranges: func(ctx context.Context, _ *pb.RangeRequest) (*pb.RangeResponse, error) {
		if md, _ := metadata.FromIncomingContext(ctx); len(md["token"]) != 1 || md["token"][0] != *good.Load() {
			return nil, status.Error(codes.Unauthenticated, "etcdserver: invalid auth token")
		}
		return &pb.RangeResponse{Count: 1, Kvs: []*mvccpb.KeyValue{{}}}, nil
	}})
	conn := open(t, newTestClient(t, Config{Tokens: tokensOf(t, func(context.Context) (string, error) { return *good.Load(), nil })}), address)
	if got := get(t.Context(), conn, "k"); !got.Succeeded() {
		t.Errorf("got %+v", got)
	}
	second := "second"
	good.Store(&second)
	if got := get(t.Context(), conn, "k"); !got.Succeeded() {
		t.Errorf("with an old token: %+v", got)
	}
}

// TestMove moves a connection from server to server under load.
func TestMove(t *testing.T) {
	forAll(t, func(t *testing.T, config Config, options []grpc.ServerOption) {
		var addresses [2]string
		var servers [2]*counter
		for i := range addresses {
			servers[i] = newCounter()
			_, addresses[i] = serve(t, "127.0.0.1:0", echo, append(options, grpc.StatsHandler(servers[i]))...)
		}
		conns := openOnAll(t, newTestClient(t, config), addresses[0])
		for i := range 6 {
			for _, conn := range conns {
				conn.Move(addresses[(i+1)%2])
			}
			if diff := cmp.Diff(map[string]int{"": 600}, exchange(t, conns...)); diff != "" {
				t.Fatal(diff)
			}
		}
		if servers[0].begun.Load() < 2 || servers[1].begun.Load() < 2 {
			t.Error("the connection has not moved")
		}
	})
}
