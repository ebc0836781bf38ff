package fast

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	"google.golang.org/grpc/metadata"

	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/wire"
	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
)

// firstPause is the pause after the first login.
var firstPause = wire.Longer(0)

// tokenOf is the token that a call carries.
func tokenOf(ctx context.Context) string {
	md, _ := metadata.FromIncomingContext(ctx)
	if token := md["token"]; len(token) == 1 {
		return token[0]
	}
	return ""
}

// TestRefusedTokens: a server refuses the first token, in each way in which etcd does it.
func TestRefusedTokens(t *testing.T) {
	for name, refusal := range map[string]error{
		"invalid":      rpctypes.ErrGRPCInvalidAuthToken,
		"old revision": rpctypes.ErrGRPCAuthOldRevision,
		"none":         rpctypes.ErrGRPCUserEmpty,
	} {
		t.Run(name, func(t *testing.T) {
			_, address := serve(t, "127.0.0.1:0", &kv{ranges: func(ctx context.Context, r *pb.RangeRequest) (*pb.RangeResponse, error) {
				if tokenOf(ctx) != "second" {
					return nil, refusal
				}
				return found(ctx, r)
			}})
			var logins atomic.Int64
			conn := open(t, newTestClient(t, Config{Token: func(context.Context) (string, error) {
				return []string{"", "second"}[min(logins.Add(1), 2)-1], nil
			}}), address)
			ctx, cancel := context.WithTimeout(t.Context(), maxWait)
			defer cancel()
			for got := get(ctx, conn, "k"); !got.Succeeded(); got = get(ctx, conn, "k") {
				if got.Code == load.CodeCanceled {
					t.Fatalf("the token was not renewed in %v", maxWait)
				}
			}
		})
	}
}

// Another error with the same code is not a refusal of the token.
func TestOtherErrorsRenewNoToken(t *testing.T) {
	_, address := serve(t, "127.0.0.1:0", &kv{ranges: func(context.Context, *pb.RangeRequest) (*pb.RangeResponse, error) {
		return nil, rpctypes.ErrGRPCEmptyKey
	}})
	var logins atomic.Int64
	client := newTestClient(t, Config{Token: func(context.Context) (string, error) { logins.Add(1); return "token", nil }})
	if got := get(t.Context(), open(t, client, address), "k"); got.Code != "InvalidArgument" {
		t.Errorf("got %+v", got)
	}
	if client.tokens.isRenewing() || logins.Load() != 1 {
		t.Errorf("%d logins", logins.Load())
	}
}

// TestFailedLoginsAreFew: all logins but the first fail while all calls are refused. A login is expensive for etcd.
func TestFailedLoginsAreFew(t *testing.T) {
	_, address := serve(t, "127.0.0.1:0", &kv{ranges: func(context.Context, *pb.RangeRequest) (*pb.RangeResponse, error) {
		return nil, rpctypes.ErrGRPCInvalidAuthToken
	}})
	var logins atomic.Int64
	conn := open(t, newTestClient(t, Config{Token: func(context.Context) (string, error) {
		if logins.Add(1) > 1 {
			return "", errors.New("the user is gone")
		}
		return "token", nil
	}}), address)
	began := load.Now()
	for load.Now().Sub(began) < 4*firstPause {
		get(t.Context(), conn, "k")
	}
	// The pauses grow: 50, 100 and 200 ms.
	if atMost := 1 + int64(load.Now().Sub(began)/firstPause); logins.Load() < 2 || logins.Load() > 1+atMost {
		t.Errorf("%d logins in %v", logins.Load(), load.Now().Sub(began))
	}
}

// TestStaleRefusal: a call with the old token is refused when a new token exists already.
func TestStaleRefusal(t *testing.T) {
	begun, release := make(chan struct{}), make(chan struct{})
	_, address := serve(t, "127.0.0.1:0", &kv{ranges: func(ctx context.Context, r *pb.RangeRequest) (*pb.RangeResponse, error) {
		switch {
		case tokenOf(ctx) == "new":
			return found(ctx, r)
		case string(r.Key) == "slow":
			close(begun)
			<-release
		}
		return nil, rpctypes.ErrGRPCInvalidAuthToken
	}})
	var logins atomic.Int64
	client := newTestClient(t, Config{Token: func(context.Context) (string, error) {
		return []string{"old", "new"}[min(logins.Add(1), 2)-1], nil
	}})
	conn := open(t, client, address)
	slow := make(chan load.Response)
	go func() { slow <- get(t.Context(), conn, "slow") }()
	<-begun
	for got := get(t.Context(), conn, "k"); !got.Succeeded(); got = get(t.Context(), conn, "k") {
	}
	client.tokens.endBackOff()
	close(release)
	if got := <-slow; got.Code != "Unauthenticated" {
		t.Errorf("got %+v", got)
	}
	if client.tokens.isRenewing() || logins.Load() != 2 {
		t.Errorf("%d logins", logins.Load())
	}
}

func (t *tokens) isRenewing() bool {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	return t.renewing
}

// endBackOff lets the next login begin at once.
func (t *tokens) endBackOff() {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	t.retryAt = 0
}
