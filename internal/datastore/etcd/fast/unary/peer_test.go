package unary_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"strings"
	"testing"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/etcd/fast/eventloop/buffer"
	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/etcd/fast/frame"
	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/etcd/fast/unary"
)

var config = unary.Config{
	Scheme: "http", Authority: "server:1", UserAgent: "test", Methods: []string{"/a/A", "/b/B"},
	MaxMessage: 1 << 20, StreamWindow: 1 << 20, ConnWindow: 1 << 20,
}

// call is a unary.Call that records its events.
type call struct {
	stream   unary.Stream
	request  string
	response string
	sent     int64
	received int
	ended    int
	code     unary.Code
	detail   string
	onEnded  func()
}

func (c *call) AppendMessage(dst []byte) []byte { return append(dst, c.request...) }
func (c *call) Sent(at int64)                   { c.sent = at }

func (c *call) Received(b []byte) error {
	c.received++
	c.response = string(b)
	if c.response == "unreadable" {
		return errors.New("it is unreadable")
	}
	return nil
}

func (c *call) Ended(code unary.Code, detail string) {
	c.ended++
	c.code, c.detail = code, detail
	if c.onEnded != nil {
		c.onEnded()
	}
}

// peer is a server that sends the given frames, written with golang.org/x/net/http2.
type peer struct {
	t    *testing.T
	conn *unary.Conn
	// out is what the server sends next.
	out     bytes.Buffer
	framer  *http2.Framer
	block   bytes.Buffer
	encoder *hpack.Encoder
	// in is the client's output, and fields are its decoded headers.
	in      bytes.Buffer
	reader  *http2.Framer
	decoder *hpack.Decoder
	bodies  map[uint32]string
	headers map[uint32]map[string]hpack.HeaderField
	blocks  map[uint32][]byte
	frames  []http2.Frame
	now     int64
}

// newPeer returns a server whose client has received the SETTINGS.
func newPeer(t *testing.T, config *unary.Config, settings ...http2.Setting) *peer {
	t.Helper()
	p := unestablished(t, config)
	p.must(p.framer.WriteSettings(settings...))
	p.deliver()
	return p
}

func unestablished(t *testing.T, config *unary.Config) *peer {
	p := &peer{
		t: t, conn: unary.New(config, unary.NewPool(&buffer.Pool{})),
		bodies: map[uint32]string{}, headers: map[uint32]map[string]hpack.HeaderField{}, blocks: map[uint32][]byte{},
	}
	p.framer = http2.NewFramer(&p.out, nil)
	p.framer.AllowIllegalWrites = true
	p.encoder = hpack.NewEncoder(&p.block)
	p.reader = http2.NewFramer(nil, &p.in)
	p.decoder = hpack.NewDecoder(4096, nil)
	preface := p.conn.Output()[:len(frame.Preface)]
	if string(preface) != frame.Preface {
		t.Fatalf("the client begins with %q", preface)
	}
	p.conn.Wrote(len(preface), 0)
	p.read()
	return p
}

func (p *peer) must(err error) {
	p.t.Helper()
	if err != nil {
		p.t.Fatal(err)
	}
}

// start makes the client start a call.
func (p *peer) start(request string) *call {
	c := &call{request: request}
	p.conn.Start(&c.stream, 0, c)
	p.read()
	return c
}

// read takes the client's output.
func (p *peer) read() {
	p.t.Helper()
	p.now++
	out := p.conn.Output()
	p.in.Write(out)
	if len(out) > 0 {
		p.conn.Wrote(len(out), p.now)
	}
	for {
		f, err := p.reader.ReadFrame()
		if errors.Is(err, io.EOF) {
			return
		}
		p.must(err)
		p.note(f)
	}
}

func (p *peer) note(f http2.Frame) {
	p.t.Helper()
	id := f.Header().StreamID
	switch f := f.(type) {
	case *http2.HeadersFrame:
		p.blocks[id] = bytes.Clone(f.HeaderBlockFragment())
		p.decode(id, f.HeadersEnded())
	case *http2.ContinuationFrame:
		p.blocks[id] = append(p.blocks[id], f.HeaderBlockFragment()...)
		p.decode(id, f.HeadersEnded())
	case *http2.DataFrame:
		p.bodies[id] += string(f.Data())
	default:
		p.frames = append(p.frames, f)
	}
}

func (p *peer) decode(id uint32, ended bool) {
	p.t.Helper()
	if !ended {
		return
	}
	fields, err := p.decoder.DecodeFull(p.blocks[id])
	p.must(err)
	p.headers[id] = map[string]hpack.HeaderField{}
	for _, f := range fields {
		p.headers[id][f.Name] = f
	}
}

// deliver makes the client read the server's output.
func (p *peer) deliver() {
	p.t.Helper()
	p.must(p.tryDeliver())
	p.read()
}

func (p *peer) tryDeliver() error {
	consumed, err := p.conn.Receive(p.out.Bytes())
	p.out.Next(consumed)
	return err
}

// fields encodes a header block: name, value, name, value.
func (p *peer) fields(pairs ...string) []byte {
	p.block.Reset()
	for i := 0; i < len(pairs); i += 2 {
		p.must(p.encoder.WriteField(hpack.HeaderField{Name: pairs[i], Value: pairs[i+1]}))
	}
	return bytes.Clone(p.block.Bytes())
}

func (p *peer) sendHeaders(id uint32, end bool, pairs ...string) {
	p.must(p.framer.WriteHeaders(http2.HeadersFrameParam{
		StreamID: id, BlockFragment: p.fields(pairs...), EndHeaders: true, EndStream: end,
	}))
}

func (p *peer) head(id uint32) {
	p.sendHeaders(id, false, ":status", "200", "content-type", "application/grpc")
}

func (p *peer) data(id uint32, body string) { p.must(p.framer.WriteData(id, false, []byte(body))) }

func (p *peer) trail(id uint32, pairs ...string) {
	p.sendHeaders(id, true, append([]string{"grpc-status", "0"}, pairs...)...)
}

// answer sends a complete, valid response.
func (p *peer) answer(id uint32, message string) {
	p.head(id)
	p.data(id, prefixed(message))
	p.trail(id)
}

func prefixed(message string) string {
	return "\x00" + string(binary.BigEndian.AppendUint32(nil, uint32(len(message)))) + message
}

// wants checks the state of a call.
func (c *call) wants(t *testing.T, ended int, code unary.Code, detail string) {
	t.Helper()
	if c.ended != ended || c.code != code || !strings.Contains(c.detail, detail) {
		t.Errorf("ended %d times with %v %q, want %d times with %v %q", c.ended, c.code, c.detail, ended, code, detail)
	}
}

// frameOf returns the frames of one type that the client has sent.
func frameOf[F http2.Frame](p *peer) []F {
	var found []F
	for _, f := range p.frames {
		if f, ok := f.(F); ok {
			found = append(found, f)
		}
	}
	return found
}
