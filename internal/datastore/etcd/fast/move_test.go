package fast

import (
	"context"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
	"google.golang.org/grpc"
)

// halting forwards its first connections to a server, and leaves the later ones
// without a word: their handshakes do not end.
type halting struct {
	address string
	// forwarded and silent hear of each connection.
	forwarded, silent chan net.Conn
}

func newHalting(t *testing.T, server string, forwarded int64) *halting {
	t.Helper()
	h := &halting{forwarded: make(chan net.Conn, 100), silent: make(chan net.Conn, 100)}
	var seen atomic.Int64
	h.address = accept(t, func(client net.Conn) {
		if seen.Add(1) > forwarded {
			h.silent <- client
			return
		}
		passOn(client, server)
		h.forwarded <- client
	})
	return h
}

// passOn forwards a connection to a server, in the background.
func passOn(client net.Conn, server string) {
	upstream, err := net.Dial("tcp", server)
	if err != nil {
		_ = client.Close()
		return
	}
	var silent atomic.Bool
	go forward(upstream, client, &silent)
	go forward(client, upstream, &silent)
}

// awaitLoss waits until a connection has no link.
func awaitLoss(conn *Conn) {
	for lost := false; !lost; {
		onLoop(conn, func() { lost = conn.current == nil })
	}
}

// TestMoveDuringADial moves a connection whose server has hung up and no longer
// answers, while a call waits for the dial that goes on.
func TestMoveDuringADial(t *testing.T) {
	_, server := serve(t, "127.0.0.1:0", &kv{}, withTLS())
	old := newHalting(t, server, 1)
	conn := open(t, newTestClient(t, Config{TLS: trust(), DialTimeout: time.Minute}), old.address)
	if got := get(t.Context(), conn, "k"); !got.Succeeded() {
		t.Fatalf("got %+v", got)
	}
	_ = (<-old.forwarded).Close()
	awaitLoss(conn)
	ended := make(chan load.Response, 1)
	go func() { ended <- get(t.Context(), conn, "k") }()
	<-old.silent
	conn.Move(server)
	if got := <-ended; !got.Succeeded() {
		t.Errorf("the call that waited: %+v", got)
	}
}

// TestMoveForgetsFailures moves a connection while its calls are refused because
// the old address has failed.
func TestMoveForgetsFailures(t *testing.T) {
	forAll(t, func(t *testing.T, config Config, options []grpc.ServerOption) {
		before, old := serve(t, "127.0.0.1:0", &kv{}, options...)
		_, server := serve(t, "127.0.0.1:0", &kv{}, options...)
		conn := open(t, newTestClient(t, config), old)
		before.Stop()
		awaitLoss(conn)
		if got := get(t.Context(), conn, "k"); got.Code != load.CodeUnavailable {
			t.Fatalf("without a server: %+v", got)
		}
		onLoop(conn, func() { conn.retryAt = load.Now().Add(time.Hour) })
		if got := get(t.Context(), conn, "k"); got.Code != load.CodeUnavailable {
			t.Fatalf("soon after: %+v", got)
		}
		conn.Move(server)
		if got := get(t.Context(), conn, "k"); !got.Succeeded() {
			t.Errorf("after the move: %+v", got)
		}
	})
}

// A closed connection does not dial again because somebody moves it.
func TestMoveAfterClose(t *testing.T) {
	_, server := serve(t, "127.0.0.1:0", &kv{})
	conn := open(t, newTestClient(t, Config{}), server)
	onLoop(conn, conn.close)
	conn.Move(server)
	if got := get(t.Context(), conn, "k"); got.Code != load.CodeUnavailable {
		t.Errorf("got %+v", got)
	}
}

// dialInBackground begins to connect and does not wait.
func dialInBackground(c *Client, address string) {
	conn := c.newConn(address, 0)
	conn.loop.Post(conn.connect)
}

// TestDeadAddressKeepsNoOtherWaiting dials an address that does not answer as
// often as may be at once, and then another one.
func TestDeadAddressKeepsNoOtherWaiting(t *testing.T) {
	_, server := serve(t, "127.0.0.1:0", &kv{}, withTLS())
	dead := newHalting(t, server, 0)
	client := newTestClient(t, Config{TLS: trust(), DialTimeout: time.Minute})
	for range dialsAtOnce {
		dialInBackground(client, dead.address)
	}
	for range dialsAtOnce {
		<-dead.silent
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	if _, err := client.Connect(ctx, server, 0); err != nil {
		t.Error(err)
	}
}

// TestQueueTakesNoTimeOfADial lets a dial wait for its turn until those before it
// have failed twice over, which takes longer than it may itself.
func TestQueueTakesNoTimeOfADial(t *testing.T) {
	t.Parallel()
	_, server := serve(t, "127.0.0.1:0", &kv{}, withTLS())
	address := newReviving(t, server, 2*dialsAtOnce)
	client := newTestClient(t, Config{TLS: trust(), DialTimeout: 2 * time.Second})
	errs := make(chan error)
	for range 2*dialsAtOnce + 1 {
		go func() {
			_, err := client.Connect(t.Context(), address, 0)
			errs <- err
		}()
	}
	failed := 0
	for range 2*dialsAtOnce + 1 {
		if err := <-errs; err != nil {
			failed++
		}
	}
	if failed != 2*dialsAtOnce {
		t.Errorf("%d dials have failed, want the %d to which nobody answered", failed, 2*dialsAtOnce)
	}
}

// newReviving says nothing on its first connections, and forwards the later ones.
func newReviving(t *testing.T, server string, silent int64) string {
	t.Helper()
	var seen atomic.Int64
	return accept(t, func(client net.Conn) {
		if seen.Add(1) > silent {
			passOn(client, server)
		}
	})
}
