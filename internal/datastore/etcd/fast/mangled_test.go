package fast

import (
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc"

	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/etcd/fast/frame"
)

// Tests against grpc-go's server. Its frames are changed on their way into other valid HTTP/2, or cut off.

// TestShatteredFrames splits the server's frames into many small ones, adds priorities and frames of unknown types, and
// changes the size of the header table again and again.
func TestShatteredFrames(t *testing.T) {
	for name, config := range configs {
		t.Run(name, func(t *testing.T) {
			_, server := serve(t, "127.0.0.1:0", echo)
			address := interposeAs(t, config, server, func() mangler { return mangler{toClient: newShatterer().shatter} })
			got := exchange(t, open(t, newTestClient(t, config), address))
			if diff := cmp.Diff(map[string]int{"": 600}, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

type shatterer struct {
	// tables are the sizes to set for the header table, in turn.
	tables []uint32
	blocks int
}

func newShatterer() *shatterer { return &shatterer{tables: []uint32{4096, 0, 100, 1 << 20}} }

func (s *shatterer) shatter(f rawFrame) []rawFrame {
	switch f.Kind {
	case frame.Data:
		return cut(f, frame.Data, 97, frame.EndStream)
	case frame.Headers:
		s.blocks++
		size := s.tables[s.blocks%len(s.tables)]
		before := []rawFrame{
			{Header: frame.Header{Kind: frame.Settings}, payload: settingsPayload(frame.Setting{ID: frame.HeaderTableSize, Value: size})},
			{Header: frame.Header{Kind: frame.Priority, Stream: f.Stream}, payload: make([]byte, frame.PriorityLen)},
			{Header: frame.Header{Kind: 0xbe, Flags: 0xff, Stream: f.Stream}, payload: []byte("unknown")},
		}
		return append(before, cut(prioritized(f), frame.Continuation, 3, frame.EndHeaders)...)
	}
	return []rawFrame{f}
}

func settingsPayload(settings ...frame.Setting) []byte {
	return frame.AppendSettings(nil, settings...)[frame.HeaderLen:]
}

// prioritized adds a priority to a HEADERS.
func prioritized(f rawFrame) rawFrame {
	f.Flags |= frame.HasPriority
	f.payload = append(make([]byte, frame.PriorityLen), f.payload...)
	return f
}

// cut splits a frame into pieces. The pieces after the first are of another kind. Only the last piece keeps the flag,
// if the frame has it.
func cut(f rawFrame, others frame.Kind, length int, last frame.Flags) []rawFrame {
	rest, flags := f.payload, f.Flags&last
	f.Flags &^= last
	var pieces []rawFrame
	for {
		// The first piece of a header block must hold its priority.
		n := min(len(rest), length+len(pieces)%2+frame.PriorityLen)
		f.payload, rest = rest[:n], rest[n:]
		if len(rest) == 0 {
			f.Flags |= flags
			return append(pieces, f)
		}
		pieces = append(pieces, f)
		f.Kind = others
		if others != frame.Data {
			f.Flags = 0
		}
	}
}

// TestForcedResets sends a RST_STREAM before every tenth response and before the first one, which fills the header
// table. Later frames on the closed streams must still count for the header table and the connection's window.
func TestForcedResets(t *testing.T) {
	_, server := serve(t, "127.0.0.1:0", echo)
	var resets atomic.Int64
	address := interpose(t, server, func() mangler {
		heads := 0
		return mangler{toClient: func(f rawFrame) []rawFrame {
			if f.Kind != frame.Headers || f.Flags.Has(frame.EndStream) {
				return []rawFrame{f}
			}
			if heads++; heads%10 != 1 {
				return []rawFrame{f}
			}
			resets.Add(1)
			reset := rawFrame{Header: frame.Header{Kind: frame.ResetStream, Stream: f.Stream}, payload: []byte{0, 0, 0, byte(frame.RefusedStream)}}
			return []rawFrame{reset, f}
		}}
	})
	got := exchange(t, open(t, newTestClient(t, Config{ConnWindow: 1}), address))
	want := map[string]int{"": 540, "Unavailablethe server reset the stream with REFUSED_STREAM": 60}
	if diff := cmp.Diff(want, got); diff != "" || resets.Load() != 60 {
		t.Errorf("%d resets: %s", resets.Load(), diff)
	}
}

// TestForcedGoAway makes the server close each connection in the middle: after the hundredth response it refuses all
// later streams.
func TestForcedGoAway(t *testing.T) {
	connections := newCounter()
	_, server := serve(t, "127.0.0.1:0", echo, grpc.StatsHandler(connections))
	address := interpose(t, server, func() mangler {
		answers := 0
		return mangler{toClient: func(f rawFrame) []rawFrame {
			if f.Kind != frame.Headers || !f.Flags.Has(frame.EndStream) {
				return []rawFrame{f}
			}
			if answers++; answers != 100 {
				return []rawFrame{f}
			}
			last := []byte{byte(f.Stream >> 24), byte(f.Stream >> 16), byte(f.Stream >> 8), byte(f.Stream)}
			goAway := rawFrame{Header: frame.Header{Kind: frame.GoAway}, payload: append(last, 0, 0, 0, byte(frame.InternalError))}
			return []rawFrame{f, goAway}
		}}
	})
	got := exchange(t, open(t, newTestClient(t, Config{}), address))
	refused := 0
	for end, n := range got {
		if strings.HasPrefix(end, "Unavailable") && strings.Contains(end, "INTERNAL_ERROR") {
			refused += n
		}
	}
	if got[""]+refused != 600 || connections.begun.Load() < 4 {
		t.Errorf("over %d connections: %v", connections.begun.Load(), got)
	}
}

// TestCompressedIsRefused sets the flag of a compressed response, which this client never offers.
func TestCompressedIsRefused(t *testing.T) {
	_, server := serve(t, "127.0.0.1:0", &kv{})
	address := interpose(t, server, func() mangler {
		return mangler{toClient: func(f rawFrame) []rawFrame {
			if f.Kind == frame.Data {
				f.payload[0] = 1
			}
			return []rawFrame{f}
		}}
	})
	got := get(t.Context(), open(t, newTestClient(t, Config{}), address), "k")
	if got.Code != "Internal" || !strings.Contains(got.Detail, "compressed") {
		t.Errorf("got %+v", got)
	}
}
