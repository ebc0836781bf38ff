package frame_test

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/net/http2"

	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/etcd/fast/frame"
)

// oracle returns the frame that golang.org/x/net/http2 reads.
func oracle(t *testing.T, b []byte) http2.Frame {
	t.Helper()
	f, err := http2.NewFramer(nil, bytes.NewReader(b)).ReadFrame()
	if err != nil {
		t.Fatalf("the oracle does not read the frame: %v", err)
	}
	return f
}

func TestAppendedFramesMeanTheSameToTheOracle(t *testing.T) {
	tests := map[string]struct {
		bytes []byte
		want  func(http2.Frame) bool
	}{
		"settings": {
			frame.AppendSettings(nil, frame.Setting{ID: frame.MaxFrameSize, Value: 1 << 20}),
			func(f http2.Frame) bool {
				value, ok := f.(*http2.SettingsFrame).Value(http2.SettingMaxFrameSize)
				return ok && value == 1<<20
			},
		},
		"acknowledged settings": {
			frame.AppendSettingsAck(nil),
			func(f http2.Frame) bool { return f.(*http2.SettingsFrame).IsAck() },
		},
		"ping": {
			frame.AppendPing(nil, []byte("12345678")),
			func(f http2.Frame) bool {
				p := f.(*http2.PingFrame)
				return !p.IsAck() && string(p.Data[:]) == "12345678"
			},
		},
		"answered ping": {
			frame.AppendPingAck(nil, []byte("12345678")),
			func(f http2.Frame) bool {
				p := f.(*http2.PingFrame)
				return p.IsAck() && string(p.Data[:]) == "12345678"
			},
		},
		"window update": {
			frame.AppendWindowUpdate(nil, 7, 1<<30),
			func(f http2.Frame) bool {
				w := f.(*http2.WindowUpdateFrame)
				return w.StreamID == 7 && w.Increment == 1<<30
			},
		},
		"reset": {
			frame.AppendResetStream(nil, 9, frame.Cancel),
			func(f http2.Frame) bool {
				r := f.(*http2.RSTStreamFrame)
				return r.StreamID == 9 && r.ErrCode == http2.ErrCodeCancel
			},
		},
		"goaway": {
			frame.AppendGoAway(nil, frame.FlowControlError, "why"),
			func(f http2.Frame) bool {
				g := f.(*http2.GoAwayFrame)
				return g.ErrCode == http2.ErrCodeFlowControl && string(g.DebugData()) == "why"
			},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if f := oracle(t, tc.bytes); !tc.want(f) {
				t.Errorf("the oracle reads %v", f)
			}
		})
	}
}

func TestHeaderRoundTrip(t *testing.T) {
	want := frame.Header{Length: 0x123456, Kind: frame.Continuation, Flags: frame.EndHeaders, Stream: 0x7edcba98}
	put := make([]byte, frame.HeaderLen)
	want.Put(put)
	if diff := cmp.Diff(put, want.Append(nil)); diff != "" {
		t.Errorf("Put and Append differ: %s", diff)
	}
	if diff := cmp.Diff(want, frame.Parse(put)); diff != "" {
		t.Error(diff)
	}
}

func TestContentIsWhatTheOracleSees(t *testing.T) {
	var b bytes.Buffer
	framer := http2.NewFramer(&b, nil)
	if err := framer.WriteDataPadded(1, false, []byte("content"), make([]byte, 9)); err != nil {
		t.Fatal(err)
	}
	priority := http2.PriorityParam{StreamDep: 3, Weight: 9}
	headers := http2.HeadersFrameParam{StreamID: 1, BlockFragment: []byte("content"), PadLength: 5, Priority: priority}
	if err := framer.WriteHeaders(headers); err != nil {
		t.Fatal(err)
	}
	for rest := b.Bytes(); len(rest) > 0; {
		h := frame.Parse(rest)
		end := frame.HeaderLen + h.Length
		got, ok := frame.Content(h, rest[frame.HeaderLen:end])
		if !ok || string(got) != "content" {
			t.Errorf("kind %d: got %q, %v", h.Kind, got, ok)
		}
		rest = rest[end:]
	}
}

func TestContentThatDoesNotFit(t *testing.T) {
	tests := map[string]struct {
		header  frame.Header
		payload []byte
	}{
		"no pad length":  {frame.Header{Kind: frame.Data, Flags: frame.Padded}, nil},
		"much padding":   {frame.Header{Kind: frame.Data, Flags: frame.Padded}, []byte{2, 0}},
		"short priority": {frame.Header{Kind: frame.Headers, Flags: frame.HasPriority}, make([]byte, 4)},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if content, ok := frame.Content(tc.header, tc.payload); ok {
				t.Errorf("got %q", content)
			}
		})
	}
}
