package unary_test

import (
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"golang.org/x/net/http2"

	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/etcd/fast/frame"
	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/etcd/fast/unary"
)

// Tests of responses that arrive in part.

// prefixLen is the length of gRPC's prefix of a message.
const prefixLen = 5

// TestRoomOfAReply reads responses whose lengths are known early. Each gets a buffer of exactly its length, unless a
// longer one is in the pool.
func TestRoomOfAReply(t *testing.T) {
	own := bounded(1 << 20)
	p := newPeer(t, own)
	longest := 0
	for i, tc := range []struct {
		length int
		// pieces are the lengths of the first ones.
		pieces []int
	}{
		{300_000, nil},
		{200_000, nil},
		{400_000, []int{1, 3, 1, 1}},
		{400_001, []int{4, 2}},
		{400_000, []int{prefixLen}},
		{500_000, []int{prefixLen + 1, 0, 1}},
	} {
		id := uint32(2*i + 1)
		c := p.start("x")
		p.head(id)
		response := strings.Repeat(string(rune('a'+i)), tc.length)
		rest, sent := prefixed(response), 0
		longest = max(longest, len(rest))
		for len(rest) > 0 {
			n := min(len(rest), frame.MinMaxFrameLen)
			if len(tc.pieces) > 0 {
				n, tc.pieces = tc.pieces[0], tc.pieces[1:]
			}
			p.data(id, rest[:n])
			rest, sent = rest[n:], sent+n
			p.deliver()
			if got := c.stream.Room(); sent >= prefixLen && len(rest) > 0 && got != longest {
				t.Fatalf("with %d bytes of a response of %d there is room for %d, wanted %d", sent, tc.length, got, longest)
			}
		}
		if c.response != response {
			t.Errorf("a response of %d bytes is not the one of %d that was sent", len(c.response), tc.length)
		}
		if c.stream.Room() != 0 || own.Unread.Used() != 0 {
			t.Error("a response that was read is kept")
		}
		p.trail(id)
		p.deliver()
		c.wants(t, 1, unary.OK, "")
	}
}

// bounded returns a configuration whose partial responses are bounded.
func bounded(bytes int) *unary.Config {
	own := config
	own.Unread = unary.NewBudget(bytes)
	return &own
}

// TestPartialRepliesAreBounded sends responses in part on two connections that share a budget. A response beyond the
// budget fails, and returned room is used again.
func TestPartialRepliesAreBounded(t *testing.T) {
	const length = 1000
	response := strings.Repeat("r", length)
	whole := prefixed(response)
	own := bounded(3*len(whole) - 1)
	peers := []*peer{newPeer(t, own), newPeer(t, own)}
	uses := func(replies int) {
		t.Helper()
		if got, want := own.Unread.Used(), int64(replies*len(whole)); got != want {
			t.Fatalf("%d bytes of the budget are used, wanted %d", got, want)
		}
	}
	next := []uint32{1, 1}
	begin := func(i, bytes int) (*call, uint32) {
		c, id := peers[i].start("x"), next[i]
		next[i] += 2
		peers[i].head(id)
		peers[i].data(id, whole[:bytes])
		peers[i].deliver()
		return c, id
	}
	refused := func(i int) {
		t.Helper()
		c, id := begin(i, prefixLen)
		c.wants(t, 1, unary.ResourceExhausted, "too long together")
		resets := frameOf[*http2.RSTStreamFrame](peers[i])
		if len(resets) == 0 || resets[len(resets)-1].StreamID != id || resets[len(resets)-1].ErrCode != http2.ErrCodeCancel {
			t.Errorf("the server gets %v", resets)
		}
	}
	finish := func(i int, c *call, id uint32, had int) {
		t.Helper()
		peers[i].data(id, whole[had:])
		peers[i].trail(id)
		peers[i].deliver()
		c.wants(t, 1, unary.OK, "")
		if c.response != response {
			t.Errorf("got %d bytes", len(c.response))
		}
	}
	// Without a complete prefix the length is not known yet.
	unknown, unknownID := begin(0, prefixLen-1)
	uses(0)
	first, firstID := begin(0, prefixLen)
	uses(1)
	second, secondID := begin(1, length)
	uses(2)
	refused(0)
	refused(1)
	uses(2)
	// A response in one frame is not buffered.
	at := next[1]
	next[1] += 2
	inOne := peers[1].start("x")
	peers[1].answer(at, response)
	peers[1].deliver()
	inOne.wants(t, 1, unary.OK, "")
	uses(2)
	finish(1, second, secondID, length)
	uses(1)
	third, thirdID := begin(1, 100)
	uses(2)
	peers[0].data(unknownID, whole[prefixLen-1:100])
	peers[0].deliver()
	unknown.wants(t, 1, unary.ResourceExhausted, "too long together")
	uses(2)
	finish(0, first, firstID, prefixLen)
	finish(1, third, thirdID, 100)
	uses(0)
}

// TestUnreadIsGivenBack ends a call with a partial response, in each way.
func TestUnreadIsGivenBack(t *testing.T) {
	whole := prefixed(strings.Repeat("r", 1000))
	for name, end := range map[string]func(*peer, *call){
		"the rest comes":           func(p *peer, _ *call) { p.data(1, whole[100:]); p.trail(1) },
		"too much comes":           func(p *peer, _ *call) { p.data(1, whole[100:]+"x") },
		"another message comes":    func(p *peer, _ *call) { p.data(1, whole[100:]); p.data(1, whole[:100]) },
		"trailers come":            func(p *peer, _ *call) { p.trail(1) },
		"the server resets":        func(p *peer, _ *call) { p.must(p.framer.WriteRSTStream(1, http2.ErrCodeCancel)) },
		"the server ends it":       func(p *peer, _ *call) { p.must(p.framer.WriteData(1, true, nil)) },
		"the server goes away":     func(p *peer, _ *call) { p.must(p.framer.WriteGoAway(0, http2.ErrCodeNo, nil)) },
		"more than the window":     func(p *peer, _ *call) { p.data(1, strings.Repeat("r", 2000)) },
		"the client gives up":      func(p *peer, c *call) { p.conn.Cancel(&c.stream, unary.Canceled, "") },
		"the connection fails":     func(p *peer, _ *call) { p.conn.Fail(unary.Unavailable, "") },
		"the protocol is violated": func(p *peer, _ *call) { p.must(p.framer.WriteWindowUpdate(0, 0)) },
	} {
		t.Run(name, func(t *testing.T) {
			own := bounded(len(whole))
			own.StreamWindow = 1500
			p := newPeer(t, own)
			c := p.start("x")
			p.head(1)
			p.data(1, whole[:100])
			p.deliver()
			if got := own.Unread.Used(); got != int64(len(whole)) || c.stream.Room() != len(whole) {
				t.Errorf("%d bytes are used, and room for %d, wanted %d", got, c.stream.Room(), len(whole))
			}
			end(p, c)
			if err := p.tryDeliver(); err != nil {
				p.conn.Fail(unary.Unavailable, err.Error())
			}
			if got := own.Unread.Used(); c.ended != 1 || got != 0 || c.stream.Room() != 0 {
				t.Errorf("ended %d times, %d bytes are used and %d kept", c.ended, got, c.stream.Room())
			}
		})
	}
}

// A response that cannot be read also returns its room.
func TestUnreadOfTheUnreadable(t *testing.T) {
	own := bounded(1000)
	p := newPeer(t, own)
	c := p.start("x")
	p.head(1)
	whole := prefixed("unreadable")
	p.data(1, whole[:9])
	p.data(1, whole[9:])
	p.deliver()
	c.wants(t, 1, unary.Internal, "cannot be read")
	if got := own.Unread.Used(); got != 0 {
		t.Errorf("%d bytes are used", got)
	}
}

// A budget is shared by all goroutines.
func TestBudgetOfManyGoroutines(t *testing.T) {
	const most, each = 3, 3
	budget := unary.NewBudget(most)
	var held, taken atomic.Int64
	var takers sync.WaitGroup
	for range 8 {
		takers.Go(func() {
			for range 50_000 {
				if !budget.Take(each) {
					continue
				}
				taken.Add(1)
				if n := held.Add(each); n > most {
					t.Errorf("%d are taken of %d", n, most)
				}
				held.Add(-each)
				budget.Give(each)
			}
		})
	}
	takers.Wait()
	if budget.Used() != 0 || taken.Load() == 0 {
		t.Errorf("%d were taken, and %d are used", taken.Load(), budget.Used())
	}
}
