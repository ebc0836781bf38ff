package unary_test

import (
	"bytes"
	"testing"

	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/etcd/fast/unary"
	"github.com/google/go-cmp/cmp"
	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// transcript is everything that a client did.
type transcript struct {
	Output []byte
	Failed bool
	Calls  []ending
}

type ending struct {
	Code     unary.Code
	Detail   string
	Response string
	Ended    int
}

// feed lets a client with three calls read bytes in chunks of this length.
func feed(t *testing.T, input []byte, chunk int) transcript {
	small := config
	small.StreamWindow, small.MaxMessage = 300, 1000
	conn := unary.New(&small, &unary.Pool{})
	calls := make([]call, 3)
	for i := range calls {
		calls[i].request = string(bytes.Repeat([]byte{'r'}, i*200))
		conn.Start(&calls[i].stream, i%2, &calls[i])
	}
	var got transcript
	var kept []byte
	for len(input) > 0 && !got.Failed {
		n := min(chunk, len(input))
		kept = append(kept, input[:n]...)
		input = input[n:]
		consumed, err := conn.Receive(kept)
		kept = append([]byte(nil), kept[consumed:]...)
		got.Failed = err != nil
		got.Output = append(got.Output, conn.Output()...)
		if n := len(conn.Output()); n > 0 {
			conn.Wrote(n, 1)
		}
	}
	conn.Fail(unary.Unavailable, "end")
	for i := range calls {
		got.Calls = append(got.Calls, ending{calls[i].code, calls[i].detail, calls[i].response, calls[i].ended})
		if calls[i].ended != 1 || calls[i].stream.Started() {
			t.Errorf("call %d ended %d times", i, calls[i].ended)
		}
	}
	if !conn.Idle() {
		t.Error("something is left on the connection")
	}
	return got
}

// FuzzServer checks that hostile bytes end every call exactly once, that the
// client does the same however they are cut, and that it keeps to the protocol
// itself.
func FuzzServer(f *testing.F) {
	for _, seed := range seeds() {
		f.Add(seed, uint16(7))
	}
	f.Fuzz(func(t *testing.T, input []byte, chunk uint16) {
		whole := feed(t, input, len(input)+1)
		cut := feed(t, input, int(chunk%100)+1)
		// The number of unread answers depends on how often the client writes.
		if len(whole.Output) < 100000 && !cmp.Equal(whole, cut) {
			t.Error(cmp.Diff(whole, cut))
		}
		readable(t, whole.Output)
	})
}

// readable checks that the oracle reads what the client sent.
func readable(t *testing.T, output []byte) {
	output = bytes.TrimPrefix(output, []byte(http2.ClientPreface))
	framer := http2.NewFramer(nil, bytes.NewReader(output))
	framer.SetMaxReadFrameSize(1<<24 - 1)
	for read := 0; read < len(output); {
		f, err := framer.ReadFrame()
		if err != nil {
			t.Fatalf("the oracle does not read byte %d of the output: %v", read, err)
		}
		read += 9 + int(f.Header().Length)
	}
}

func seeds() [][]byte {
	var block bytes.Buffer
	encoder := hpack.NewEncoder(&block)
	headers := func(pairs ...string) []byte {
		block.Reset()
		for i := 0; i < len(pairs); i += 2 {
			_ = encoder.WriteField(hpack.HeaderField{Name: pairs[i], Value: pairs[i+1]})
		}
		return bytes.Clone(block.Bytes())
	}
	var all, one bytes.Buffer
	framer := http2.NewFramer(&all, nil)
	_ = framer.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 100}, http2.Setting{ID: http2.SettingMaxConcurrentStreams, Val: 2})
	one.Write(all.Bytes())
	for _, id := range []uint32{1, 3, 5} {
		_ = framer.WriteHeaders(http2.HeadersFrameParam{StreamID: id, BlockFragment: headers(":status", "200"), EndHeaders: true, PadLength: 3})
		_ = framer.WriteData(id, false, []byte(prefixed("response")))
		_ = framer.WriteWindowUpdate(0, 10000)
		_ = framer.WriteWindowUpdate(id, 10000)
		_ = framer.WritePing(false, [8]byte{1})
		trailers := headers("grpc-status", "0", "grpc-message", "%41")
		_ = framer.WriteHeaders(http2.HeadersFrameParam{StreamID: id, BlockFragment: trailers[:1], EndStream: true})
		_ = framer.WriteContinuation(id, true, trailers[1:])
	}
	_ = framer.WriteGoAway(1, http2.ErrCodeNo, []byte("bye"))
	one.WriteString("\x00\x00\x04\x03\x00\x00\x00\x00\x01\x00\x00\x00\x08")
	return [][]byte{all.Bytes(), one.Bytes(), []byte("HTTP/1.1 400 Bad Request\r\n\r\n")}
}
