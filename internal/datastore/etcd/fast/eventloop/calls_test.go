package eventloop

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/etcd/servertest"
	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// wordsOf returns words of up to the greatest length that comes back in one line.
func wordsOf(client, call int) []byte {
	r := rand.New(rand.NewPCG(uint64(client), uint64(call)))
	words := make([]byte, 1+r.IntN(1<<r.IntN(16)))
	for i := range words {
		words[i] = 'a' + byte(r.IntN(26))
	}
	return words
}

// exchange makes many calls of many sizes at once, over these connections in turn, and counts their codes.
func exchange(t *testing.T, conns ...*Conn) map[string]int {
	ctx := load.WithPhase(t.Context(), results.PhaseMeasured)
	ends := map[string]int{}
	var mutex sync.Mutex
	var clients sync.WaitGroup
	for i := range 20 {
		clients.Go(func() {
			for j := range 30 {
				request := load.Request{Value: wordsOf(i, j), Timeout: time.Minute}
				switch j % 10 {
				case 3:
					request.Key = []byte("large ")
				case 6:
					request.Key, request.Value = []byte("count "), make([]byte, 100_000)
				}
				var response load.Response
				conns[i%len(conns)].Do(ctx, &request, &response)
				mutex.Lock()
				ends[response.Code+response.Detail]++
				mutex.Unlock()
			}
		})
	}
	clients.Wait()
	return ends
}

func TestManySizesAtOnce(t *testing.T) {
	forAll(t, func(t *testing.T, config Config) {
		for name, tc := range map[string]struct {
			last uint64
			call func(string) string
		}{
			"default":      {},
			"in any order": {call: func(words string) string { return string(appendAnswer(nil, []byte(words))) }},
			"short links":  {last: 50},
		} {
			t.Run(name, func(t *testing.T) {
				server := &lineServer{secure: config.TLS != nil, call: tc.call}
				address := serve(t, "127.0.0.1:0", server)
				client := newLineClient(t, lineConfig{Config: config, last: tc.last})
				conns := openOnAll(t, client, address)
				if diff := cmp.Diff(map[string]int{"": 600}, exchange(t, conns...)); diff != "" {
					t.Error(diff)
				}
				want := map[spec.RPC]map[results.Phase]uint64{spec.RPCPut: {results.PhaseMeasured: 600}}
				if diff := cmp.Diff(want, client.Requests()); diff != "" {
					t.Error(diff)
				}
				if got, least := server.begun.Load(), 600/50; tc.last > 0 && got < int64(least) {
					t.Errorf("%d links took 600 calls, 50 each", got)
				}
			})
		}
	})
}

// TestDrainLosesNothing: a server closes its connections in an orderly way again and again, and no call is lost.
func TestDrainLosesNothing(t *testing.T) {
	forAll(t, func(t *testing.T, config Config) {
		server := &lineServer{secure: config.TLS != nil}
		calls := 0
		var mutex sync.Mutex
		server.call = func(words string) string {
			mutex.Lock()
			calls++
			leave := calls%100 == 0
			mutex.Unlock()
			if leave {
				server.goodbye()
			}
			return string(appendAnswer(nil, []byte(words)))
		}
		address := serve(t, "127.0.0.1:0", server)
		conns := openOnAll(t, newLineClient(t, lineConfig{Config: config}), address)
		for range 3 {
			if diff := cmp.Diff(map[string]int{"": 600}, exchange(t, conns...)); diff != "" {
				t.Fatal(diff)
			}
		}
		if got := server.begun.Load(); got < int64(4*len(conns)) {
			t.Errorf("%d links in all", got)
		}
	})
}

// TestConnectionLoss kills the server with calls in flight, and starts it again at the same address.
func TestConnectionLoss(t *testing.T) {
	forAll(t, func(t *testing.T, config Config) {
		hanging, begun, release := hang()
		defer release()
		server := &lineServer{secure: config.TLS != nil, call: hanging}
		conns := openOnAll(t, newLineClient(t, lineConfig{Config: config}), serve(t, "127.0.0.1:0", server))
		ends := make(chan load.Response, 10)
		for i := range cap(ends) {
			go func() { ends <- say(t.Context(), conns[i%len(conns)], "words") }()
			<-begun
		}
		stopped := load.Now()
		server.stop()
		for range cap(ends) {
			got := <-ends
			if got.Code != load.CodeUnavailable {
				t.Errorf("got %+v", got)
			}
			if got.Sent > stopped || got.Received < stopped {
				t.Errorf("sent at %d and lost at %d by a server that stopped at %d", got.Sent, got.Received, stopped)
			}
		}
		if got := say(t.Context(), conns[0], "words"); got.Code != load.CodeUnavailable {
			t.Errorf("without a server: %+v", got)
		}
		serve(t, server.address, &lineServer{secure: config.TLS != nil})
		for {
			got := say(t.Context(), conns[0], "words")
			if got.Succeeded() {
				return
			}
			if got.Code != load.CodeUnavailable {
				t.Fatalf("got %+v", got)
			}
		}
	})
}

// TestSuccessorIsDialedInTime: the next connection is dialed before the call numbers of the first one are used up.
func TestSuccessorIsDialedInTime(t *testing.T) {
	server := &lineServer{}
	conn := open(t, newLineClient(t, lineConfig{last: 200}), serve(t, "127.0.0.1:0", server))
	for i := range 200 {
		if got := say(t.Context(), conn, "words"); !got.Succeeded() {
			t.Fatalf("got %+v", got)
		}
		for i == 198 && server.begun.Load() < 2 {
			if t.Context().Err() != nil || waited(conn) {
				t.Fatal("only the last call is left, and no other connection was dialed")
			}
		}
	}
}

// waited returns whether a connection neither has a link that takes calls nor dials.
func waited(conn *Conn) (idle bool) {
	onLoop(conn, func() { idle = conn.attempt == nil && conn.current != nil && len(conn.links) == 1 })
	return idle
}

// TestCallsAreCanceled cancels calls in flight, and calls that wait for a greeting or a dial.
func TestCallsAreCanceled(t *testing.T) {
	hanging, begun, release := hang()
	defer release()
	established := serve(t, "127.0.0.1:0", &lineServer{call: hanging})
	arrived := make(chan net.Conn, 1)
	silent := servertest.Accept(t, func(c net.Conn) { arrived <- c })
	client := newLineClient(t, lineConfig{Config: Config{DialTimeout: time.Minute, Loops: 1}})
	way := open(t, client, established)
	greeting := dialInBackground(client, silent)
	<-arrived
	for linked := false; !linked; {
		onLoop(greeting, func() { linked = greeting.current != nil })
	}
	dialing := client.newConn("127.0.0.1:1", 0)
	onLoop(dialing, func() { dialing.attempt = &attempt{cancel: func() {}} })
	for name, conn := range map[string]*Conn{"on its way": way, "waits for a greeting": greeting, "waits for a dial": dialing} {
		t.Run(name, func(t *testing.T) {
			if got := sayWithin(t.Context(), conn, "words", 20*time.Millisecond); got.Code != load.CodeDeadlineExceeded || got.Received.Sub(got.Sent) < 20*time.Millisecond {
				t.Errorf("got %+v", got)
			}
			ctx, cancel := context.WithCancel(t.Context())
			ended := make(chan load.Response)
			go func() { ended <- sayWithin(ctx, conn, "words", time.Minute) }()
			for flies := false; !flies; {
				onLoop(conn, func() { flies = len(conn.queue) > 0 || conn.current != nil && !conn.current.session.Idle() })
			}
			cancel()
			if got := <-ended; got.Code != load.CodeCanceled {
				t.Errorf("got %+v", got)
			}
			onLoop(conn, func() {
				if len(conn.queue) > 0 || conn.current != nil && !conn.current.session.Idle() {
					t.Error("the connection still has a call")
				}
			})
		})
	}
	// The response to a canceled call is ignored.
	<-begun
	release()
	if got := say(t.Context(), way, "words"); !got.Succeeded() {
		t.Errorf("afterwards: %+v", got)
	}
}

// TestCloseEndsRequests closes a client with a call in flight: the call ends, and its connection too.
func TestCloseEndsRequests(t *testing.T) {
	begun, gone := make(chan struct{}), make(chan struct{})
	client := newLineClient(t, lineConfig{})
	conn := open(t, client, servertest.Accept(t, func(c net.Conn) {
		_, _ = io.WriteString(c, greetingLine+"\n")
		_, _ = io.ReadFull(c, make([]byte, len("1 words\n")))
		close(begun)
		_, _ = io.Copy(io.Discard, c)
		close(gone)
	}))
	go func() {
		<-begun
		client.Close()
	}()
	if got := say(t.Context(), conn, "words"); got.Code != load.CodeUnavailable || got.Detail != closedDetail {
		t.Errorf("got %+v", got)
	}
	if got := say(t.Context(), conn, "words"); got.Code != load.CodeCanceled {
		t.Errorf("after Close: %+v", got)
	}
	<-gone
}

// An incomplete message may be as long as MaxPartial. A message without an end ends the link.
func TestLongMessages(t *testing.T) {
	forAll(t, func(t *testing.T, config Config) {
		address := serve(t, "127.0.0.1:0", &lineServer{secure: config.TLS != nil, call: func(words string) string {
			if words == "endless" {
				return strings.Repeat("x", 3*readBufferLen)
			}
			return "is the end of a line\n1 " + string(appendAnswer(nil, []byte(words)))
		}})
		conn := open(t, newLineClient(t, lineConfig{Config: config}), address)
		onLoop(conn, func() {
			long := append([]byte("#"), make([]byte, MaxPartial-1)...)
			if conn.current.receive(long); len(conn.current.partial) != MaxPartial {
				t.Errorf("%d bytes are kept of %d", len(conn.current.partial), MaxPartial)
			}
		})
		if got := say(t.Context(), conn, "large answer"); !got.Succeeded() {
			t.Errorf("after an incomplete long line: %+v", got)
		}
		if got := say(t.Context(), conn, "endless"); got.Code != load.CodeUnavailable || !strings.Contains(got.Detail, "has not ended a message") {
			t.Errorf("an answer without an end: %+v", got)
		}
	})
}

// TestBrokenProtocol: a server sends a line that is not a response.
func TestBrokenProtocol(t *testing.T) {
	address := servertest.Accept(t, func(c net.Conn) {
		_, _ = io.WriteString(c, greetingLine+"\n")
		_, _ = io.ReadFull(c, make([]byte, 1))
		_, _ = io.WriteString(c, "#whatever\nwhatever\n")
		_, _ = io.Copy(io.Discard, c)
	})
	conn := open(t, newLineClient(t, lineConfig{}), address)
	if got := say(t.Context(), conn, "words"); got.Code != load.CodeUnavailable || !strings.Contains(got.Detail, `broke the protocol: "whatever" is no answer`) {
		t.Errorf("got %+v", got)
	}
}

// EachSession reaches the sessions of all links, on their loops.
func TestEachSession(t *testing.T) {
	client := newLineClient(t, lineConfig{Config: Config{Loops: 2}})
	address := serve(t, "127.0.0.1:0", &lineServer{})
	conns := append(openOnAll(t, client, address), openOnAll(t, client, address)...)
	client.EachSession(func(s Session) { s.Ping() })
	for i, conn := range conns {
		onLoop(conn, func() {
			if got := conn.current.session.(*lines).pings; got != 1 {
				t.Errorf("connection %d was reached %d times", i, got)
			}
		})
	}
}

// A link keeps its address when its connection has moved.
func TestLinkKeepsItsAddress(t *testing.T) {
	hanging, begun, release := hang()
	defer release()
	old, next := serve(t, "127.0.0.1:0", &lineServer{call: hanging}), serve(t, "127.0.0.1:0", &lineServer{})
	conn := open(t, newLineClient(t, lineConfig{}), old)
	ended := make(chan load.Response)
	go func() { ended <- say(t.Context(), conn, "words") }()
	<-begun
	var k *Link
	onLoop(conn, func() { k = conn.current })
	conn.Move(next)
	if got := say(t.Context(), conn, "words"); !got.Succeeded() {
		t.Errorf("after the move: %+v", got)
	}
	onLoop(conn, func() {
		if got := fmt.Sprint(k.Address(), conn.current.Address()); got != old+next {
			t.Errorf("the links lead to %s", got)
		}
	})
	release()
	if got := <-ended; !got.Succeeded() {
		t.Errorf("from before the move: %+v", got)
	}
}
