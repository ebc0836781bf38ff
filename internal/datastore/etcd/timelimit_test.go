package etcd

import (
	"context"
	"net"
	"sync"
	"testing"
	"time"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	"google.golang.org/grpc"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
)

// mute is an etcd that never answers reads of the key "silence", and answers others at once.
type mute struct {
	etcdserverpb.UnimplementedKVServer
}

func (mute) Range(ctx context.Context, req *etcdserverpb.RangeRequest) (*etcdserverpb.RangeResponse, error) {
	if string(req.Key) == "silence" {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	return &etcdserverpb.RangeResponse{Header: &etcdserverpb.ResponseHeader{}, Count: 1}, nil
}

// callers returns some clients on one connection to a mute etcd.
func callers(t *testing.T, n int) []load.Conn {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := grpc.NewServer()
	etcdserverpb.RegisterKVServer(server, mute{})
	go func() { _ = server.Serve(l) }()
	t.Cleanup(server.Stop)
	d := newDriver(t, planFor([]string{l.Addr().String()}), 0)
	d.topology = topology{members: []member{{endpoint: l.Addr().String()}}}
	var shared load.SharedConn = connect(t, d, 0)
	all := make([]load.Conn, n)
	for i := range all {
		if all[i], err = shared.Client(t.Context(), i); err != nil {
			t.Fatal(err)
		}
	}
	return all
}

func read(ctx context.Context, c load.Conn, key string, timeout time.Duration) load.Response {
	var response load.Response
	c.Do(ctx, &load.Request{Operation: spec.OperationRange, Key: []byte(key), Needs: 1, Timeout: timeout}, &response)
	return response
}

// A request that timed out has an end and a code. It affects neither the next request of its client nor other clients,
// even when timeouts are frequent and close together.
func TestAClientContinuesAfterATimeout(t *testing.T) {
	t.Parallel()
	const maxWait = 30 * time.Second
	var running sync.WaitGroup
	for _, c := range callers(t, 4) {
		running.Go(func() {
			for range 20 {
				before := load.Now()
				got := read(t.Context(), c, "silence", 10*time.Millisecond)
				if took := load.Now().Sub(before); got.Code != load.CodeDeadlineExceeded || took < 10*time.Millisecond || took > maxWait/2 {
					t.Errorf("got %+v after %v, wanted %s after 10 ms", got, took, load.CodeDeadlineExceeded)
				}
				if got := read(t.Context(), c, "k", maxWait); !got.Succeeded() {
					t.Errorf("the request after it failed: %+v", got)
				}
			}
		})
	}
	running.Wait()
}

// The timeout is of each request: together they may take longer.
func TestManyRequestsOutlastTheTimeoutOfOne(t *testing.T) {
	c, timeout := callers(t, 1)[0], time.Second
	for end := load.Now().Add(timeout + timeout/5); load.Now() < end; {
		// A read may time out only if a pause of the machine delayed it beyond its timeout.
		if got := read(t.Context(), c, "k", timeout); !got.Succeeded() && got.Received.Sub(got.Sent) < timeout {
			t.Fatalf("got %+v", got)
		}
	}
	if got := read(t.Context(), c, "silence", timeout); got.Code != load.CodeDeadlineExceeded {
		t.Errorf("got %+v, wanted %s", got, load.CodeDeadlineExceeded)
	}
}

// The end of the load is not a timeout, and the next phase has its own context.
func TestAClientEndsWithItsContext(t *testing.T) {
	c := callers(t, 1)[0]
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(20*time.Millisecond, cancel)
	if got := read(ctx, c, "silence", time.Minute); got.Code != load.CodeCanceled {
		t.Errorf("got %+v, wanted %s", got, load.CodeCanceled)
	}
	if got := read(t.Context(), c, "k", time.Minute); !got.Succeeded() {
		t.Errorf("the next phase failed: %+v", got)
	}
}
