package fast

import (
	"bytes"
	"context"
	"encoding/binary"
	"io"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	pb "go.etcd.io/etcd/api/v3/etcdserverpb"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/etcd/fast/frame"
	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/etcd/fast/message"
	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/etcd/servertest"
	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// bareServer calls do with the bytes of each request, and writes the result.
func bareServer(t *testing.T, do func(c net.Conn, stream uint32, request []byte) []byte) string {
	return servertest.Accept(t, func(c net.Conn) {
		_, _ = c.Write(frame.AppendSettings(nil))
		_, err := io.CopyN(io.Discard, c, int64(len(frame.Preface)))
		for err == nil {
			var f rawFrame
			if f, err = readFrame(c); err == nil && f.Kind == frame.Data {
				_, err = c.Write(do(c, f.Stream, f.payload))
			}
		}
	})
}

// TestUnknownOperation: an operation without a call ends as Unimplemented, and nothing is sent.
func TestUnknownOperation(t *testing.T) {
	var requests atomic.Int64
	address := bareServer(t, func(_ net.Conn, stream uint32, _ []byte) []byte {
		requests.Add(1)
		return answer(nil, stream)
	})
	put := load.Request{Operation: spec.OperationPut, Key: []byte("k"), Timeout: time.Minute}
	unknown := put
	unknown.Operation = spec.OperationRange
	for name, way := range map[string]func(*testing.T, load.AsyncConn) func(load.Request) load.Response{"Do": useDo, "Slot": useSlot} {
		t.Run(name, func(t *testing.T) {
			requests.Store(0)
			client := newTestClient(t, Config{Calls: map[spec.Operation]*Call{spec.OperationPut: PutCall}})
			send := way(t, open(t, client, address))
			for _, request := range []load.Request{unknown, {Timeout: time.Minute}, put, unknown, put, put} {
				got := send(request)
				if request.Operation == spec.OperationPut {
					if !got.Succeeded() {
						t.Errorf("a put: %+v", got)
					}
					continue
				}
				if got.Code != load.CodeUnimplemented || !strings.Contains(got.Detail, `"`+string(request.Operation)+`"`) || got.Sent == 0 || got.Received < got.Sent {
					t.Errorf("an unknown operation: %+v", got)
				}
			}
			want := map[spec.RPC]map[results.Phase]uint64{spec.RPCPut: {results.PhaseMeasured: 3}}
			if diff := cmp.Diff(want, client.Requests()); diff != "" || requests.Load() != 3 {
				t.Errorf("the server got %d requests of 3: %s", requests.Load(), diff)
			}
		})
	}
}

func useDo(t *testing.T, conn load.AsyncConn) func(load.Request) load.Response {
	return func(request load.Request) (response load.Response) {
		conn.Do(load.WithPhase(t.Context(), results.PhaseMeasured), &request, &response)
		return response
	}
}

func useSlot(t *testing.T, conn load.AsyncConn) func(load.Request) load.Response {
	sending, ended := false, make(chan struct{})
	slot := conn.Slot(func() {
		if sending {
			t.Error("a request ended before Send had returned")
		}
		close(ended)
	})
	return func(request load.Request) (response load.Response) {
		ended = make(chan struct{})
		conn.Loop().Post(func() {
			sending = true
			slot.Send(results.PhaseMeasured, &request, &response)
			sending = false
		})
		<-ended
		return response
	}
}

// A request's send time is that of its first call, even if other calls follow.
func TestRequestIsSentWithItsFirstCall(t *testing.T) {
	const calls = 3
	arrived := make(chan load.Instant, calls)
	_, address := serve(t, "127.0.0.1:0", &kv{puts: func(context.Context, *pb.PutRequest) (*pb.PutResponse, error) {
		arrived <- load.Now()
		return &pb.PutResponse{}, nil
	}})
	made := 0
	again := &Call{Method: MethodPut, Append: PutCall.Append, Read: (*message.Reply).ReadPlain}
	again.Then = func(*Request) *Call {
		if made++; made%calls == 0 {
			return nil
		}
		return again
	}
	client := newTestClient(t, Config{Calls: map[spec.Operation]*Call{spec.OperationPut: again}})
	conn := open(t, client, address)
	ended := make(chan struct{})
	slot := conn.Slot(func() { ended <- struct{}{} })
	request := load.Request{Operation: spec.OperationPut, Key: []byte("k"), Timeout: time.Minute}
	for range 2 {
		var got load.Response
		var begun load.Instant
		conn.Loop().Post(func() {
			slot.Send(results.PhaseMeasured, &request, &got)
			for begun = load.Now(); load.Now() == begun; {
			}
		})
		<-ended
		first := <-arrived
		for range calls - 1 {
			<-arrived
		}
		if !got.Succeeded() || got.Sent <= begun || got.Sent > first {
			t.Errorf("sent at %d, wanted between %d and %d: %+v", got.Sent, begun, first, got)
		}
	}
	if got := client.Requests()[spec.RPCPut][results.PhaseMeasured]; got != 2*calls {
		t.Errorf("%d calls, wanted %d", got, 2*calls)
	}
}

// replyOf returns a response of this many bytes.
func replyOf(length int) []byte {
	const field, prefix = 15<<3 | 2, 5
	reply := binary.BigEndian.AppendUint32([]byte{0}, uint32(length))
	return append(append(reply, field, byte(length-2)), make([]byte, length-2)...)
}

// halves answers puts. For the key "half" it sends only the first half of a response of this length, and reports that.
// For the key "rest" it sends the second halves of all those on the connection. For "close" it closes the connection.
func halves(t *testing.T, length int) (address string, begun <-chan struct{}) {
	reply := replyOf(length)
	half := len(reply) / 2
	var mutex sync.Mutex
	open, began := map[net.Conn][]uint32{}, make(chan struct{}, 100)
	return bareServer(t, func(c net.Conn, stream uint32, request []byte) (out []byte) {
		mutex.Lock()
		defer mutex.Unlock()
		switch {
		case bytes.Contains(request, []byte("half")):
			open[c] = append(open[c], stream)
			began <- struct{}{}
			return appendData(appendHead(nil, stream), stream, reply[:half])
		case bytes.Contains(request, []byte("rest")):
			for _, other := range open[c] {
				out = appendTrailers(appendData(out, other, reply[half:]), other)
			}
			open[c] = nil
		case bytes.Contains(request, []byte("close")):
			_ = c.Close()
		}
		return answer(out, stream)
	}), began
}

// TestUnreadIsBounded sends responses in part, over connections of two loops: as many as MaxUnread holds, and more
// after those are complete.
func TestUnreadIsBounded(t *testing.T) {
	const length = 100
	address, begun := halves(t, length)
	// Two of them fit with their prefixes, and a third does not.
	conns := openOnAll(t, newTestClient(t, Config{Loops: 2, MaxUnread: 3*length - 1}), address)
	ask := func(i int) <-chan load.Response {
		ended := make(chan load.Response, 1)
		go func() { ended <- put(t.Context(), conns[i], "half", nil) }()
		<-begun
		return ended
	}
	// settle waits until the earlier output of the server has arrived.
	settle := func(i int, key string) {
		t.Helper()
		if got := put(t.Context(), conns[i], key, nil); !got.Succeeded() {
			t.Errorf("a small answer: %+v", got)
		}
	}
	wants := func(code string, detail string, all ...<-chan load.Response) {
		t.Helper()
		for _, ended := range all {
			if got := <-ended; got.Code != code || !strings.Contains(got.Detail, detail) {
				t.Errorf("got %+v, wanted %q", got, code)
			}
		}
	}
	const exhausted, why = "ResourceExhausted", "too long together"
	first := ask(0)
	settle(0, "k")
	second := ask(1)
	settle(1, "k")
	wants(exhausted, why, ask(0), ask(1))
	settle(0, "rest")
	wants("", "", first)
	third := ask(1)
	settle(1, "k")
	wants(exhausted, why, ask(0))
	if got := put(t.Context(), conns[1], "close", nil); got.Code != load.CodeUnavailable {
		t.Errorf("on a connection that ends: %+v", got)
	}
	wants(load.CodeUnavailable, "lost", second, third)
	fourth, fifth := ask(0), ask(0)
	settle(0, "k")
	wants(exhausted, why, ask(1))
	settle(0, "rest")
	wants("", "", fourth, fifth)
}

// answer appends an empty response of a stream.
func answer(dst []byte, stream uint32) []byte {
	return appendTrailers(appendData(appendHead(dst, stream), stream, make([]byte, 5)), stream)
}

func appendHead(dst []byte, stream uint32) []byte {
	const contentType = "application/grpc"
	head := append([]byte{0x88, 0x0f, 0x10, byte(len(contentType))}, contentType...)
	dst = frame.Header{Kind: frame.Headers, Flags: frame.EndHeaders, Stream: stream, Length: len(head)}.Append(dst)
	return append(dst, head...)
}

func appendData(dst []byte, stream uint32, data []byte) []byte {
	return append(frame.Header{Kind: frame.Data, Stream: stream, Length: len(data)}.Append(dst), data...)
}

func appendTrailers(dst []byte, stream uint32) []byte {
	const status = "grpc-status"
	trail := append(append([]byte{0, byte(len(status))}, status...), 1, '0')
	dst = frame.Header{Kind: frame.Headers, Flags: frame.EndHeaders | frame.EndStream, Stream: stream, Length: len(trail)}.Append(dst)
	return append(dst, trail...)
}
