package eventloop

import (
	"context"
	"io"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/etcd/servertest"
	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
)

// halting forwards its first connections to a server, and never answers the later ones: their handshakes do not end.
type halting struct {
	address string
	// forwarded and silent receive each connection.
	forwarded, silent chan net.Conn
}

func newHalting(t *testing.T, server string, forwarded int64) *halting {
	t.Helper()
	h := &halting{forwarded: make(chan net.Conn, 100), silent: make(chan net.Conn, 100)}
	var seen atomic.Int64
	h.address = servertest.Accept(t, func(client net.Conn) {
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
	go forward(upstream, client)
	go forward(client, upstream)
}

func forward(to, from net.Conn) {
	defer to.Close()
	_, _ = io.Copy(to, from)
}

// TestMoveDuringADial moves a connection whose server has closed and no longer answers, while a call waits for the dial
// in progress.
func TestMoveDuringADial(t *testing.T) {
	server := serve(t, "127.0.0.1:0", &lineServer{secure: true})
	old := newHalting(t, server, 1)
	conn := open(t, newLineClient(t, lineConfig{Config: Config{TLS: servertest.Trust("lines"), DialTimeout: time.Minute}}), old.address)
	if got := say(t.Context(), conn, "words"); !got.Succeeded() {
		t.Fatalf("got %+v", got)
	}
	_ = (<-old.forwarded).Close()
	awaitLoss(conn)
	ended := make(chan load.Response, 1)
	go func() { ended <- say(t.Context(), conn, "words") }()
	<-old.silent
	conn.Move(server)
	if got := <-ended; !got.Succeeded() {
		t.Errorf("the call that waited: %+v", got)
	}
}

// TestMoveForgetsFailures moves a connection while its calls are refused because the old address has failed.
func TestMoveForgetsFailures(t *testing.T) {
	forAll(t, func(t *testing.T, config Config) {
		before := &lineServer{secure: config.TLS != nil}
		old := serve(t, "127.0.0.1:0", before)
		server := serve(t, "127.0.0.1:0", &lineServer{secure: config.TLS != nil})
		conn := open(t, newLineClient(t, lineConfig{Config: config}), old)
		before.stop()
		awaitLoss(conn)
		if got := say(t.Context(), conn, "words"); got.Code != load.CodeUnavailable {
			t.Fatalf("without a server: %+v", got)
		}
		onLoop(conn, func() { conn.retryAt = load.Now().Add(time.Hour) })
		if got := say(t.Context(), conn, "words"); got.Code != load.CodeUnavailable {
			t.Fatalf("soon after: %+v", got)
		}
		conn.Move(server)
		if got := say(t.Context(), conn, "words"); !got.Succeeded() {
			t.Errorf("after the move: %+v", got)
		}
	})
}

// A move does not make a closed connection dial again.
func TestMoveAfterClose(t *testing.T) {
	server := serve(t, "127.0.0.1:0", &lineServer{})
	conn := open(t, newLineClient(t, lineConfig{}), server)
	onLoop(conn, conn.close)
	conn.Move(server)
	if got := say(t.Context(), conn, "words"); got.Code != load.CodeUnavailable {
		t.Errorf("got %+v", got)
	}
}

// dialInBackground starts to connect and does not wait.
func dialInBackground(c *Client, address string) *Conn {
	conn := c.newConn(address, 0)
	conn.loop.Post(conn.connect)
	return conn
}

// TestDeadAddressKeepsNoOtherWaiting makes dialsAtOnce dials of an address that does not answer, and then one of
// another address.
func TestDeadAddressKeepsNoOtherWaiting(t *testing.T) {
	server := serve(t, "127.0.0.1:0", &lineServer{secure: true})
	dead := newHalting(t, server, 0)
	client := newLineClient(t, lineConfig{Config: Config{TLS: servertest.Trust("lines"), DialTimeout: time.Minute}})
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

// TestQueueTakesNoTimeOfADial: a dial waits for its slot until two rounds of earlier dials have failed. That takes
// longer than the timeout of one dial.
func TestQueueTakesNoTimeOfADial(t *testing.T) {
	t.Parallel()
	server := serve(t, "127.0.0.1:0", &lineServer{secure: true})
	address := newReviving(t, server, 2*dialsAtOnce)
	client := newLineClient(t, lineConfig{Config: Config{TLS: servertest.Trust("lines"), DialTimeout: 2 * time.Second}})
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
		t.Errorf("%d dials have failed, want the %d that were not answered", failed, 2*dialsAtOnce)
	}
}

// newReviving does not answer its first connections, and forwards the later ones.
func newReviving(t *testing.T, server string, silent int64) string {
	t.Helper()
	var seen atomic.Int64
	return servertest.Accept(t, func(client net.Conn) {
		if seen.Add(1) > silent {
			passOn(client, server)
		}
	})
}
