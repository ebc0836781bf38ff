package fast

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	"google.golang.org/grpc/metadata"

	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/etcd/login"
	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
)

// tokensOf closes the tokens with the test.
func tokensOf(t testing.TB, request func(context.Context) (string, error)) *login.Tokens {
	t.Helper()
	tokens := login.New(request, maxWait)
	t.Cleanup(tokens.Close)
	return tokens
}

// tokenOf is the token that a call carries.
func tokenOf(ctx context.Context) string {
	md, _ := metadata.FromIncomingContext(ctx)
	if token := md["token"]; len(token) == 1 {
		return token[0]
	}
	return ""
}

// TestRefusedTokens: a server refuses the first token, in each way in which etcd does it. The request succeeds with the
// second one, and its latency includes the login.
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
			var renewed atomic.Int64
			tokens := tokensOf(t, func(context.Context) (string, error) {
				defer renewed.Store(int64(load.Now()))
				return []string{"", "second"}[min(logins.Add(1), 2)-1], nil
			})
			got := get(t.Context(), open(t, newTestClient(t, Config{Tokens: tokens}), address), "k")
			if !got.Succeeded() || tokens.Resent() == 0 {
				t.Errorf("after %d requests were sent again: %+v", tokens.Resent(), got)
			}
			if login := load.Instant(renewed.Load()); got.Sent > login || got.Received < login {
				t.Errorf("the login at %d is not within the request: %+v", login, got)
			}
		})
	}
}

// Another error with the same code is not a refusal of the token.
func TestOtherErrorsRenewNoToken(t *testing.T) {
	_, address := serve(t, "127.0.0.1:0", &kv{ranges: func(context.Context, *pb.RangeRequest) (*pb.RangeResponse, error) {
		return nil, rpctypes.ErrGRPCEmptyKey
	}})
	tokens := tokensOf(t, func(context.Context) (string, error) { return "token", nil })
	if got := get(t.Context(), open(t, newTestClient(t, Config{Tokens: tokens}), address), "k"); got.Code != "InvalidArgument" {
		t.Errorf("got %+v", got)
	}
	if tokens.Renewing() || tokens.Resent() != 0 {
		t.Errorf("%d requests were sent again", tokens.Resent())
	}
}

// TestRefusedForEver: a request ends with the server's error if the login fails, and if new tokens do not help.
func TestRefusedForEver(t *testing.T) {
	_, address := serve(t, "127.0.0.1:0", &kv{ranges: func(context.Context, *pb.RangeRequest) (*pb.RangeResponse, error) {
		return nil, rpctypes.ErrGRPCUserEmpty
	}})
	for name, gone := range map[string]error{"login fails": errors.New("the user is gone"), "does not help": nil} {
		t.Run(name, func(t *testing.T) {
			var logins atomic.Int64
			tokens := tokensOf(t, func(context.Context) (string, error) {
				if logins.Add(1) > 1 {
					return "", gone
				}
				return "", nil
			})
			client := newTestClient(t, Config{Tokens: tokens})
			if got := get(t.Context(), open(t, client, address), "k"); got.Code != "InvalidArgument" {
				t.Errorf("got %+v", got)
			}
		})
	}
}

// TestAbortDuringALogin: the request ends at once, and nothing of it is sent later.
func TestAbortDuringALogin(t *testing.T) {
	var asked atomic.Int64
	_, address := serve(t, "127.0.0.1:0", &kv{ranges: func(ctx context.Context, r *pb.RangeRequest) (*pb.RangeResponse, error) {
		asked.Add(1)
		if tokenOf(ctx) == "old" {
			return nil, rpctypes.ErrGRPCInvalidAuthToken
		}
		return found(ctx, r)
	}})
	begun, release := make(chan struct{}), make(chan struct{})
	var logins atomic.Int64
	tokens := tokensOf(t, func(context.Context) (string, error) {
		if logins.Add(1) == 1 {
			return "old", nil
		}
		close(begun)
		<-release
		return "new", nil
	})
	conn := open(t, newTestClient(t, Config{Tokens: tokens}), address)
	ctx, abort := context.WithCancel(t.Context())
	ended := make(chan load.Response)
	go func() { ended <- get(ctx, conn, "k") }()
	<-begun
	abort()
	if got := <-ended; got.Code != load.CodeCanceled {
		t.Errorf("got %+v", got)
	}
	before := asked.Load()
	close(release)
	if got := get(t.Context(), conn, "k"); !got.Succeeded() {
		t.Errorf("afterwards: %+v", got)
	}
	if n := asked.Load() - before; n > 2 {
		t.Errorf("%d requests were sent for one", n)
	}
}
