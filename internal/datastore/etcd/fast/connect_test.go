package fast

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/grpc/stats"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/etcd/servertest"
	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
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

// Servers that do not speak gRPC, and a refused login. The tests of connections have the other failures.
func TestConnectFails(t *testing.T) {
	_, plain := serve(t, "127.0.0.1:0", &kv{})
	noH2 := servertest.Accept(t, func(conn net.Conn) {
		_ = tls.Server(conn, &tls.Config{Certificates: []tls.Certificate{servertest.Certificate()}}).Handshake()
	})
	tests := map[string]struct {
		config  Config
		address string
		want    string
	}{
		"no h2":          {Config{TLS: servertest.Trust()}, noH2, "h2"},
		"not HTTP/2":     {Config{}, servertest.Accept(t, func(c net.Conn) { _, _ = c.Write([]byte("HTTP/1.1 400 Bad Request\r\n\r\n")) }), "protocol"},
		"silent":         {Config{DialTimeout: time.Second}, servertest.Accept(t, func(net.Conn) {}), "no HTTP/2 settings"},
		"wrong password": {Config{Tokens: tokensOf(t, func(context.Context) (string, error) { return "", errors.New("wrong password") })}, plain, "wrong password"},
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

// An attempt begins with its dial, and one that joins a dial at once. One that times out before its dial begins has waited for
// the load generator only.
func TestAnAttemptBeginsWithItsDial(t *testing.T) {
	address := servertest.Accept(t, func(c net.Conn) { _, _ = io.Copy(io.Discard, c) })
	client := newTestClient(t, Config{Late: true, DialsAtOnce: 1, TLS: servertest.Trust(), DialTimeout: time.Minute})
	dials, waits := client.ConnectLater(address, 0), client.ConnectLater(address, 1)
	for attempt := range 2 {
		for conn, begins := range map[load.Conn]bool{dials: true, waits: false} {
			if conn == waits && attempt == 0 {
				continue
			}
			var response load.Response
			conn.Do(t.Context(), &load.Request{Operation: spec.OperationRange, Key: []byte("k"), Timeout: 200 * time.Millisecond}, &response)
			if response.Code != load.CodeDeadlineExceeded || (response.Sent < response.Received) != begins {
				t.Errorf("attempt %d: got %s after %v, wanted a time-out after some time: %v", attempt, response.Code, response.Received.Sub(response.Sent), begins)
			}
		}
	}
}
