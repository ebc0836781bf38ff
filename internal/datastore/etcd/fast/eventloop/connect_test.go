package eventloop

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/etcd/servertest"
)

func TestConnectFails(t *testing.T) {
	plain := serve(t, "127.0.0.1:0", &lineServer{})
	secure := serve(t, "127.0.0.1:0", &lineServer{secure: true})
	refused, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_ = refused.Close()
	noProtocol := servertest.Accept(t, func(conn net.Conn) {
		_ = tls.Server(conn, &tls.Config{Certificates: []tls.Certificate{servertest.Certificate()}}).Handshake()
	})
	tests := map[string]struct {
		config  Config
		address string
		want    string
	}{
		"refused":          {Config{}, refused.Addr().String(), "refused"},
		"wrong CA":         {Config{TLS: &tls.Config{}}, secure, "certificate"},
		"TLS at plain":     {Config{TLS: servertest.Trust("lines")}, plain, "tls"},
		"no protocol":      {Config{TLS: servertest.Trust("lines")}, noProtocol, `does not speak lines over TLS: it negotiated ""`},
		"other protocol":   {Config{}, servertest.Accept(t, func(c net.Conn) { _, _ = io.WriteString(c, "SSH-2.0-OpenSSH\n") }), "broke the protocol"},
		"silent":           {Config{DialTimeout: maxWait / 10}, servertest.Accept(t, func(net.Conn) {}), "the server sent no #hello within 1s"},
		"silent TLS":       {Config{TLS: servertest.Trust("lines"), DialTimeout: maxWait / 10}, servertest.Accept(t, func(net.Conn) {}), "deadline"},
		"closes":           {Config{}, servertest.Accept(t, func(c net.Conn) { _ = c.Close() }), "lost"},
		"address is wrong": {Config{}, "127.0.0.1", "port"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := newLineClient(t, lineConfig{Config: tc.config}).Connect(t.Context(), tc.address, 0)
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, want %q", err, tc.want)
			}
		})
	}
}

func TestConnectEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	because := errors.New("because")
	address := servertest.Accept(t, func(net.Conn) { cancel(because) })
	if _, err := newLineClient(t, lineConfig{}).Connect(ctx, address, 0); !errors.Is(err, because) {
		t.Errorf("got %v", err)
	}
}

// Without NextProtos, a server over TLS may negotiate any protocol.
func TestNoProtocolNeedBeNegotiated(t *testing.T) {
	config := Config{TLS: servertest.Trust("lines")}
	config.TLS.NextProtos = nil
	conn := open(t, newLineClient(t, lineConfig{Config: config}), serve(t, "127.0.0.1:0", &lineServer{secure: true}))
	if got := say(t.Context(), conn, "words"); !got.Succeeded() {
		t.Errorf("got %+v", got)
	}
}

// TestIntroductionsFail: servers do not report their name, in each way.
func TestIntroductionsFail(t *testing.T) {
	silent := func(string) string { return "" }
	for name, tc := range map[string]struct {
		name func(string) string
		want string
	}{
		"no answer":         {silent, "it gave no answer within 1s"},
		"never an answer":   {func(string) string { return "later" }, "it has not said its name"},
		"wrong answer":      {func(string) string { return "b" }, `is called "b", wanted "a"`},
		"the server closes": {nil, "the connection was lost"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := &lineServer{call: tc.name}
			if tc.name == nil {
				server.call = func(string) string { server.stop(); return "" }
			}
			address := serve(t, "127.0.0.1:0", server)
			client := newLineClient(t, lineConfig{name: "a", Config: Config{DialTimeout: maxWait / 10}})
			if _, err := client.Connect(t.Context(), address, 0); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, want %q", err, tc.want)
			}
		})
	}
}

// TestIntroductionIsRepeated: a server reports its name only at the third request.
func TestIntroductionIsRepeated(t *testing.T) {
	answers := make(chan string, 3)
	for _, answer := range []string{"later", "later", "a"} {
		answers <- answer
	}
	address := serve(t, "127.0.0.1:0", &lineServer{call: func(string) string { return <-answers }})
	open(t, newLineClient(t, lineConfig{name: "a"}), address)
	if len(answers) > 0 {
		t.Errorf("%d requests for the name are missing", len(answers))
	}
}

// TestUnansweredIntroduction: the next server of a connection does not report its name. Calls wait no longer for that
// than for a dial, and then the client connects to the server after that.
func TestUnansweredIntroduction(t *testing.T) {
	forAll(t, func(t *testing.T, config Config) {
		t.Parallel()
		named := func(words string) string {
			if words == nameCall {
				return "a"
			}
			return words
		}
		config.DialTimeout = maxWait / 4
		first := &lineServer{secure: config.TLS != nil, call: named}
		conn := open(t, newLineClient(t, lineConfig{name: "a", Config: config}), serve(t, "127.0.0.1:0", first))
		first.stop()
		awaitLoss(conn)
		second := &lineServer{secure: config.TLS != nil, call: func(string) string { return "" }}
		serve(t, first.address, second)
		if got := say(t.Context(), conn, "words"); got.Code != "Unavailable" || !strings.Contains(got.Detail, "it gave no answer within 2.5s") {
			t.Errorf("without an introduction: %+v", got)
		}
		second.stop()
		serve(t, first.address, &lineServer{secure: config.TLS != nil, call: named})
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		for got := say(ctx, conn, "words"); !got.Succeeded(); got = say(ctx, conn, "words") {
			if got.Code != "Unavailable" {
				t.Fatalf("got %+v", got)
			}
		}
	})
}
