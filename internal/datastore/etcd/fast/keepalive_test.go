package fast

import (
	"context"
	"strings"
	"testing"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"google.golang.org/grpc"
	"google.golang.org/grpc/keepalive"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/etcd/fast/frame"
	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
)

// TestServerVanishes makes the server's end of a connection disappear without closing it. The client must notice and
// connect again.
func TestServerVanishes(t *testing.T) {
	forAll(t, func(t *testing.T, config Config, options []grpc.ServerOption) {
		_, server := serve(t, "127.0.0.1:0", &kv{}, append(options, patient())...)
		w := newTunnel(t, server)
		config.KeepAliveTime, config.KeepAliveTimeout = 300*time.Millisecond, 300*time.Millisecond
		conn := open(t, newTestClient(t, config), w.address)
		if got := getWithLongTimeout(t.Context(), conn); !got.Succeeded() {
			t.Fatalf("got %+v", got)
		}
		w.vanish()
		if got := getWithLongTimeout(t.Context(), conn); got.Code != load.CodeUnavailable || !strings.Contains(got.Detail, "PING") {
			t.Errorf("from a server that has vanished: %+v", got)
		}
		if got := getWithLongTimeout(t.Context(), conn); !got.Succeeded() {
			t.Errorf("afterwards: %+v", got)
		}
	})
}

// patient is a server that accepts any number of PINGs.
func patient() grpc.ServerOption {
	return grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: time.Nanosecond, PermitWithoutStream: true})
}

// getWithLongTimeout sends a request that the timeout does not end.
func getWithLongTimeout(ctx context.Context, conn load.Conn) load.Response {
	var response load.Response
	conn.Do(ctx, &load.Request{Operation: spec.OperationRange, Key: []byte("k"), Needs: 1, Timeout: 10 * time.Minute}, &response)
	return response
}

// TestSlowServerIsKept: a server answers a request only after several PINGs.
func TestSlowServerIsKept(t *testing.T) {
	asked := make(chan struct{}, 1000)
	_, server := serve(t, "127.0.0.1:0", &kv{ranges: func(ctx context.Context, r *pb.RangeRequest) (*pb.RangeResponse, error) {
		for range 3 {
			<-asked
		}
		return found(ctx, r)
	}}, patient())
	address := interpose(t, server, func() mangler {
		return mangler{toServer: func(f rawFrame) []rawFrame {
			if f.Kind == frame.Ping && !f.Flags.Has(frame.Ack) {
				asked <- struct{}{}
			}
			return []rawFrame{f}
		}}
	})
	conn := open(t, newTestClient(t, Config{KeepAliveTime: 10 * time.Millisecond, KeepAliveTimeout: time.Minute}), address)
	if got := getWithLongTimeout(t.Context(), conn); !got.Succeeded() {
		t.Errorf("got %+v", got)
	}
}
