package unary_test

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/etcd/fast/eventloop/buffer"
	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/etcd/fast/frame"
	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/etcd/fast/unary"
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

// way is how a client reads the server's bytes.
type way struct {
	// chunk is how many bytes it reads at once; it reads bytes of a second frame only if together is true.
	chunk    int
	together bool
	// kept is how many bytes of the output it cannot write yet.
	kept int
	// cancel is after how many reads with complete frames it cancels a call.
	cancel int
}

// session is a client with three calls. Each begins again a few times when it has ended.
type session struct {
	way
	conn    *unary.Conn
	unread  *unary.Budget
	calls   []call
	started []int
	// pending is an incomplete frame.
	pending []byte
	reads   int
	got     transcript
}

func newSession(w way) *session {
	small := config
	small.StreamWindow, small.MaxMessage, small.Unread = 300, 1000, unary.NewBudget(1200)
	s := &session{way: w, unread: small.Unread, conn: unary.New(&small, unary.NewPool(&buffer.Pool{})), calls: make([]call, 3), started: make([]int, 3)}
	for i := range s.calls {
		c := &s.calls[i]
		c.request = string(bytes.Repeat([]byte{'r'}, i*200))
		c.onEnded = func() { s.begin(i) }
		s.begin(i)
	}
	return s
}

func (s *session) begin(i int) {
	if s.started[i] < 4 && s.conn.Open() {
		s.started[i]++
		s.conn.Start(&s.calls[i].stream, i%2, &s.calls[i])
	}
}

// next is how many of these bytes are read now.
func (s *session) next(input []byte) int {
	n := min(s.chunk, len(input))
	switch have := len(s.pending); {
	case s.together:
		return n
	case have < frame.HeaderLen:
		return min(n, frame.HeaderLen-have)
	default:
		return min(n, frame.HeaderLen+frame.Parse(s.pending).Length-have)
	}
}

func (s *session) read(chunk []byte) {
	s.pending = append(s.pending, chunk...)
	consumed, err := s.conn.Receive(s.pending)
	s.pending = append(s.pending[:0], s.pending[consumed:]...)
	s.got.Failed = err != nil
	if consumed == 0 || err != nil {
		return
	}
	if s.reads++; s.reads == s.cancel {
		if c := &s.calls[s.cancel%len(s.calls)]; c.stream.Started() {
			s.conn.Cancel(&c.stream, unary.DeadlineExceeded, "late")
		}
	}
}

func (s *session) write(kept int) {
	if n := len(s.conn.Output()) - kept; n > 0 {
		s.got.Output = append(s.got.Output, s.conn.Output()[:n]...)
		s.conn.Wrote(n, 1)
	}
}

// feed lets a client read all of these bytes, and checks that its calls have ended.
func feed(t *testing.T, input []byte, w way) transcript {
	s := newSession(w)
	for len(input) > 0 && !s.got.Failed {
		n := s.next(input)
		s.read(input[:n])
		input = input[n:]
		s.write(s.kept)
	}
	s.write(0)
	s.conn.Fail(unary.Unavailable, "end")
	for i := range s.calls {
		c := &s.calls[i]
		s.got.Calls = append(s.got.Calls, ending{c.code, c.detail, c.response, c.ended})
		if c.ended != s.started[i] || c.stream.Started() {
			t.Errorf("call %d began %d times and ended %d times", i, s.started[i], c.ended)
		}
	}
	if !s.conn.Idle() {
		t.Error("something is left on the connection")
	}
	if used := s.unread.Used(); used != 0 {
		t.Errorf("%d bytes of incomplete responses are left", used)
	}
	return s.got
}

// FuzzServer checks three things on hostile bytes: every call ends exactly once; the client does the same however its
// input is split; and the client keeps to the protocol, even if it reads many frames before it writes.
func FuzzServer(f *testing.F) {
	for _, seed := range seeds() {
		f.Add(seed, uint16(7))
		f.Add(seed, uint16(907))
	}
	f.Fuzz(func(t *testing.T, input []byte, parameters uint16) {
		chunk, cancel := int(parameters%100)+1, int(parameters/100)
		whole := feed(t, input, way{chunk: len(input) + 1, cancel: cancel})
		cut := feed(t, input, way{chunk: chunk, cancel: cancel})
		if !cmp.Equal(whole, cut) {
			t.Error(cmp.Diff(whole, cut))
		}
		readable(t, whole.Output)
		slow := feed(t, input, way{chunk: 10 * chunk, together: true, kept: chunk, cancel: cancel})
		readable(t, slow.Output)
	})
}

// readable checks that the oracle reads the client's output.
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
		_ = framer.WriteHeaders(http2.HeadersFrameParam{StreamID: id, BlockFragment: headers(":status", "200", "content-type", "application/grpc"), EndHeaders: true, PadLength: 3})
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
	var parts bytes.Buffer
	framer = http2.NewFramer(&parts, nil)
	encoder = hpack.NewEncoder(&block)
	_ = framer.WriteSettings()
	for i, id := range []uint32{1, 3, 5} {
		_ = framer.WriteHeaders(http2.HeadersFrameParam{StreamID: id, BlockFragment: headers(":status", "200", "content-type", "application/grpc"), EndHeaders: true})
		_ = framer.WriteData(id, false, []byte(prefixed(string(make([]byte, 400))))[:3+i])
		_ = framer.WriteData(id, false, []byte(prefixed(string(make([]byte, 400))))[3+i:100])
	}
	_ = framer.WriteRSTStream(1, http2.ErrCodeCancel)
	return [][]byte{all.Bytes(), one.Bytes(), []byte("HTTP/1.1 400 Bad Request\r\n\r\n"), parts.Bytes()}
}
