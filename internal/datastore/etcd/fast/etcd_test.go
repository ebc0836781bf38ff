package fast

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/server/v3/embed"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/etcd/etcdtest"
	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// startEtcd runs an etcd in this process until the test ends. It returns its address and a clientv3 client.
func startEtcd(t *testing.T) (string, *clientv3.Client) {
	t.Helper()
	cluster := etcdtest.Start(t, 1, nil)
	return cluster.Endpoints[0], cluster.Client(t, "", "")
}

// put sends a put and waits until it has ended.
func put(ctx context.Context, conn load.Conn, key string, value []byte) load.Response {
	var response load.Response
	conn.Do(load.WithPhase(ctx, results.PhaseMeasured), &load.Request{
		Operation: spec.OperationPut, Key: []byte(key), Value: value, Timeout: 10 * time.Second,
	}, &response)
	return response
}

// TestReplyOfEtcd checks the fields that are read of a response.
func TestReplyOfEtcd(t *testing.T) {
	address, client := startEtcd(t)
	written, err := client.Put(t.Context(), "k", "v")
	if err != nil {
		t.Fatal(err)
	}
	conn := open(t, newTestClient(t, Config{}), address)
	done := make(chan struct{})
	a := conn.Slot(func() { close(done) }).(*Slot)
	var response load.Response
	conn.Loop().Post(func() {
		a.Send(results.PhaseMeasured, &load.Request{Operation: spec.OperationRange, Key: []byte("k"), Needs: 1, Timeout: time.Minute}, &response)
	})
	<-done
	if got := a.request.Reply; got.Count != 1 || got.Pairs != 1 || got.Revision != written.Header.Revision || got.Member != written.Header.MemberId {
		t.Errorf("got %+v", got)
	}
}

func TestErrorsOfEtcd(t *testing.T) {
	address, client := startEtcd(t)
	conn := open(t, newTestClient(t, Config{}), address)
	large := put(t.Context(), conn, "large", make([]byte, 1600<<10))
	_, err := client.Put(t.Context(), "large", string(make([]byte, 1600<<10)))
	if large.Code != "InvalidArgument" || err == nil || large.Detail != rpctypes.ErrorDesc(err) {
		t.Errorf("got %s %q, clientv3 gets %v", large.Code, large.Detail, err)
	}
	if got := get(t.Context(), conn, ""); got.Code != "InvalidArgument" {
		t.Errorf("an empty key: %+v", got)
	}
	if got := get(t.Context(), conn, "k"); got.Code != "NotFound" {
		t.Errorf("afterwards: %+v", got)
	}
}

func TestAuthenticationOfEtcd(t *testing.T) {
	address, client := startEtcd(t)
	enableAuth(t, client)
	without := open(t, newTestClient(t, Config{}), address)
	if got := put(t.Context(), without, "k", nil); got.Succeeded() {
		t.Errorf("without a token: %+v", got)
	}
	login := func(ctx context.Context) (string, error) {
		response, err := client.Authenticate(ctx, "root", "secret")
		if err != nil {
			return "", err
		}
		return response.Token, nil
	}
	stale := true
	token := func(ctx context.Context) (string, error) {
		if stale {
			stale = false
			return "stale.1", nil
		}
		return login(ctx)
	}
	conn := open(t, newTestClient(t, Config{Tokens: tokensOf(t, token)}), address)
	if got := put(t.Context(), conn, "k", nil); !got.Succeeded() {
		t.Errorf("with a stale token: %+v", got)
	}
}

// TestAuthStoreChanges adds a user during a run. A JWT token names the revision of the auth store, which is then old.
func TestAuthStoreChanges(t *testing.T) {
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte("of the test"), 0o600); err != nil {
		t.Fatal(err)
	}
	cluster := etcdtest.Start(t, 1, nil, func(c *embed.Config) {
		c.AuthToken = "jwt,sign-method=HS256,ttl=10m,priv-key=" + secret
	})
	enableAuth(t, cluster.Client(t, "", ""))
	client := cluster.Client(t, "root", "secret")
	tokens := tokensOf(t, func(ctx context.Context) (string, error) {
		response, err := client.Authenticate(ctx, "root", "secret")
		if err != nil {
			return "", err
		}
		return response.Token, nil
	})
	conn := open(t, newTestClient(t, Config{Tokens: tokens}), cluster.Endpoints[0])
	for i := range 3 {
		if _, err := client.UserAdd(t.Context(), fmt.Sprint("user", i), "secret"); err != nil {
			t.Fatal(err)
		}
		if got := put(t.Context(), conn, "k", nil); !got.Succeeded() || tokens.Resent() < uint64(i+1) {
			t.Errorf("with a token of before, after %d requests were sent again: %+v", tokens.Resent(), got)
		}
	}
}

func enableAuth(t *testing.T, client *clientv3.Client) {
	t.Helper()
	steps := []func() error{
		func() error { _, err := client.UserAdd(t.Context(), "root", "secret"); return err },
		func() error { _, err := client.UserGrantRole(t.Context(), "root", "root"); return err },
		func() error { _, err := client.AuthEnable(t.Context()); return err },
	}
	for _, step := range steps {
		if err := step(); err != nil {
			t.Fatal(err)
		}
	}
}
