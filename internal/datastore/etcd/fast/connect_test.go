package fast

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/grpc/stats"

	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/wire/wiretest"
)

// counter counts connections.
type counter struct{ begun atomic.Int64 }

func newCounter() *counter { return &counter{} }

func (c *counter) TagRPC(ctx context.Context, _ *stats.RPCTagInfo) context.Context   { return ctx }
func (c *counter) HandleRPC(context.Context, stats.RPCStats)                         {}
func (c *counter) TagConn(ctx context.Context, _ *stats.ConnTagInfo) context.Context { return ctx }

func (c *counter) HandleConn(_ context.Context, s stats.ConnStats) {
	if _, ok := s.(*stats.ConnBegin); ok {
		c.begun.Add(1)
	}
}

func TestConnectFails(t *testing.T) {
	_, plain := serve(t, "127.0.0.1:0", &kv{})
	_, secure := serve(t, "127.0.0.1:0", &kv{}, withTLS())
	refused, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_ = refused.Close()
	noH2 := wiretest.Accept(t, func(conn net.Conn) {
		_ = tls.Server(conn, &tls.Config{Certificates: []tls.Certificate{wiretest.Certificate()}}).Handshake()
	})
	tests := map[string]struct {
		config  Config
		address string
		want    string
	}{
		"refused":          {Config{}, refused.Addr().String(), "refused"},
		"wrong CA":         {Config{TLS: &tls.Config{}}, secure, "certificate"},
		"TLS at plain":     {Config{TLS: wiretest.Trust()}, plain, "tls"},
		"plain at TLS":     {Config{DialTimeout: time.Second}, secure, "lost"},
		"no h2":            {Config{TLS: wiretest.Trust()}, noH2, "h2"},
		"not HTTP/2":       {Config{}, wiretest.Accept(t, func(c net.Conn) { _, _ = c.Write([]byte("HTTP/1.1 400 Bad Request\r\n\r\n")) }), "protocol"},
		"silent":           {Config{DialTimeout: time.Second}, wiretest.Accept(t, func(net.Conn) {}), "no HTTP/2 settings"},
		"silent TLS":       {Config{TLS: wiretest.Trust(), DialTimeout: time.Second}, wiretest.Accept(t, func(net.Conn) {}), "deadline"},
		"closes":           {Config{}, wiretest.Accept(t, func(c net.Conn) { _ = c.Close() }), "lost"},
		"wrong password":   {Config{Tokens: tokensOf(t, func(context.Context) (string, error) { return "", errors.New("wrong password") })}, plain, "wrong password"},
		"address is wrong": {Config{}, "127.0.0.1", "port"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := newTestClient(t, tc.config).Connect(t.Context(), tc.address, 0)
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, want %q", err, tc.want)
			}
		})
	}
}

func TestConnectEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	because := errors.New("because")
	address := wiretest.Accept(t, func(net.Conn) { cancel(because) })
	if _, err := newTestClient(t, Config{}).Connect(ctx, address, 0); !errors.Is(err, because) {
		t.Errorf("got %v", err)
	}
}
