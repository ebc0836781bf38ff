package unary_test

import (
	"strings"
	"testing"

	"golang.org/x/net/http2"

	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/etcd/fast/unary"
)

// startMethod starts a call of a method and returns its header block.
func (p *peer) startMethod(method int) []byte {
	c := &call{}
	before := len(p.blocks)
	p.conn.Start(&c.stream, method, c)
	p.read()
	return p.blocks[uint32(2*before+1)]
}

func TestRepeatedBlockIsAFewIndexBytes(t *testing.T) {
	p := newPeer(t, &config)
	first, second, third := p.startMethod(0), p.startMethod(0), p.startMethod(0)
	if len(second) != 7 || string(second) != string(third) || len(first) < 30 {
		t.Errorf("the blocks are %x, %x, %x", first, second, third)
	}
}

// TestBlocksMeanTheSame goes through all changes of the header table, and checks what the server's decoder reads in
// each block.
func TestBlocksMeanTheSame(t *testing.T) {
	p := newPeer(t, &config)
	steps := []func(){
		func() {},
		func() { p.setTable(0) },
		func() { p.setTable(4096) },
		func() { p.setTable(60) },
		func() { p.setTable(1 << 20) },
		func() { p.setTable(0); p.setTable(4096) },
		func() { p.conn.SetToken("secret") },
		func() { p.conn.SetToken("other") },
		func() { p.conn.SetToken("") },
	}
	token := []string{"", "", "", "", "", "", "secret", "other", ""}
	for i, step := range steps {
		step()
		resized := i > 0 && i < 6
		for _, method := range []int{0, 1, 0, 0, 1, 1} {
			block := p.startMethod(method)
			got := p.headers[uint32(2*len(p.blocks)-1)]
			if got[":path"].Value != config.Methods[method] || got[":authority"].Value != config.Authority || len(got) != fieldsWith(token[i]) {
				t.Fatalf("step %d, method %d: the server sees %v in %x", i, method, got, block)
			}
			// The block announces the new size before any field that refers to the table.
			if first := block[0]&0xe0 == 0x20; first != resized {
				t.Errorf("step %d: the block %x begins with the table's size: %v, wanted %v", i, block, first, resized)
			}
			resized = false
			if got["token"].Value != token[i] {
				t.Errorf("step %d: the token is %v", i, got["token"])
			}
		}
	}
}

func fieldsWith(token string) int {
	if token == "" {
		return 7
	}
	return 8
}

func (p *peer) setTable(size uint32) {
	p.must(p.framer.WriteSettings(http2.Setting{ID: http2.SettingHeaderTableSize, Val: size}))
	p.decoder.SetAllowedMaxDynamicTableSize(size)
	p.deliver()
}

func TestTokenIsNeverIndexed(t *testing.T) {
	p := newPeer(t, &config)
	p.conn.SetToken("secret")
	for range 3 {
		p.startMethod(0)
		got := p.headers[uint32(2*len(p.blocks)-1)]["token"]
		if got.Value != "secret" || !got.Sensitive {
			t.Errorf("the server sees %+v", got)
		}
	}
}

func TestLongToken(t *testing.T) {
	p := newPeer(t, &config)
	long := strings.Repeat("Z~", 10000)
	p.conn.SetToken(long)
	for range 2 {
		p.startMethod(0)
		if got := p.headers[uint32(2*len(p.blocks)-1)]["token"].Value; got != long {
			t.Errorf("the server sees %d bytes", len(got))
		}
	}
}

func TestSteadyStateDoesNotAllocate(t *testing.T) {
	p := newPeer(t, &config)
	c := &call{request: "request"}
	var id uint32 = 1
	round := func() {
		p.conn.Start(&c.stream, 0, c)
		p.conn.Wrote(len(p.conn.Output()), 1)
		p.out.Reset()
		p.answer(id, "response")
		id += 2
		if _, err := p.conn.Receive(p.out.Bytes()); err != nil {
			t.Fatal(err)
		}
	}
	// The server of this test allocates too; the client's part is the difference, which includes the string of
	// call.response.
	for range 100 {
		round()
	}
	server := testing.AllocsPerRun(1000, func() { p.out.Reset(); p.answer(1, "response") })
	both := testing.AllocsPerRun(1000, round)
	if both > server+1 {
		t.Errorf("a call allocates %v times", both-server-1)
	}
	c.wants(t, c.ended, unary.OK, "")
}

// TestHeaderTableChangesBetweenEqualBlocks sends the same bytes again after the header table has given them another
// meaning.
func TestHeaderTableChangesBetweenEqualBlocks(t *testing.T) {
	p := newPeer(t, &config)
	trailers := func(id uint32, status string) []byte {
		block := p.fields("grpc-status", status)
		p.must(p.framer.WriteHeaders(http2.HeadersFrameParam{StreamID: id, BlockFragment: block, EndHeaders: true, EndStream: true}))
		return block
	}
	var blocks []string
	id := uint32(1)
	for _, status := range []string{"5", "5", "5", "7", "7", "7", "5", "7"} {
		c := p.start("x")
		blocks = append(blocks, string(trailers(id, status)))
		p.deliver()
		want := map[string]unary.Code{"5": unary.NotFound, "7": unary.PermissionDenied}[status]
		c.wants(t, 1, want, "")
		id += 2
	}
	if blocks[1] != blocks[4] {
		t.Errorf("the blocks are not equal, so the test checks nothing: %x", blocks)
	}
}
