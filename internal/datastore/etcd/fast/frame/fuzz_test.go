package frame_test

import (
	"bytes"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/net/http2"

	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/etcd/fast/frame"
)

// FuzzFrame reads hostile bytes as one frame, and compares the result with golang.org/x/net/http2.
func FuzzFrame(f *testing.F) {
	for _, seed := range seeds(f) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) < frame.HeaderLen {
			return
		}
		h := frame.Parse(b)
		if !bytes.Equal(h.Append(nil)[:5], b[:5]) || h.Stream > frame.MaxStream {
			t.Fatalf("the header %x is read as %+v", b[:frame.HeaderLen], h)
		}
		h.Length = len(b) - frame.HeaderLen
		if h.Length > frame.MinMaxFrameLen {
			return
		}
		h.Put(b)
		oracle, err := lenient(b).ReadFrame()
		if err != nil {
			refuses(t, h, b[frame.HeaderLen:], err)
			return
		}
		agrees(t, oracle, h, b[frame.HeaderLen:])
	})
}

// lenient is an oracle of single frames: it accepts a CONTINUATION without a header block before it.
func lenient(b []byte) *http2.Framer {
	oracle := http2.NewFramer(nil, bytes.NewReader(b))
	oracle.AllowIllegalReads = true
	return oracle
}

// refuses checks that this package also refuses a frame that the oracle refuses, if the reason is that its parts do not
// fit into it.
func refuses(t *testing.T, h frame.Header, payload []byte, why error) {
	t.Helper()
	if h.Stream > 0 && (h.Kind == frame.Data || h.Kind == frame.Headers) {
		if content, ok := frame.Content(h, payload); ok {
			t.Errorf("the oracle does not read %+v (%v), this package reads %x", h, why, content)
		}
	}
}

// agrees checks that a frame is read as the oracle reads it.
func agrees(t *testing.T, oracle http2.Frame, h frame.Header, payload []byte) {
	t.Helper()
	switch o := oracle.(type) {
	case *http2.DataFrame:
		wantContent(t, h, payload, o.Data())
	case *http2.HeadersFrame:
		wantContent(t, h, payload, o.HeaderBlockFragment())
	case *http2.SettingsFrame:
		var got, want []frame.Setting
		whole := frame.ParseSettings(payload, func(s frame.Setting) bool { got = append(got, s); return true })
		for i := range o.NumSettings() {
			want = append(want, frame.Setting{ID: frame.SettingID(o.Setting(i).ID), Value: o.Setting(i).Val})
		}
		if !whole || !slices.Equal(got, want) {
			t.Errorf("settings: got %v, whole %v; wanted %v", got, whole, want)
		}
	case *http2.WindowUpdateFrame:
		if got := frame.ParseUint31(payload); got != int(o.Increment) {
			t.Errorf("window: got %d, wanted %d", got, o.Increment)
		}
	case *http2.RSTStreamFrame:
		if got := frame.ParseErrorCode(payload); uint32(got) != uint32(o.ErrCode) || got.String() == "" {
			t.Errorf("reset: got %v, wanted %v", got, o.ErrCode)
		}
	case *http2.GoAwayFrame:
		last, code, why := frame.ParseGoAway(payload)
		if last != o.LastStreamID || uint32(code) != uint32(o.ErrCode) || !bytes.Equal(why, o.DebugData()) {
			t.Errorf("goaway: got %d, %v, %q; wanted %v", last, code, why, o)
		}
	}
}

func wantContent(t *testing.T, h frame.Header, payload, want []byte) {
	t.Helper()
	got, ok := frame.Content(h, payload)
	if diff := cmp.Diff(string(want), string(got)); !ok || diff != "" {
		t.Errorf("content of %+v: %v\n%s", h, ok, diff)
	}
}

func seeds(f *testing.F) (all [][]byte) {
	f.Helper()
	var b bytes.Buffer
	framer := http2.NewFramer(&b, nil)
	for _, write := range []func() error{
		func() error { return framer.WriteDataPadded(1, true, []byte("content"), make([]byte, 3)) },
		func() error {
			return framer.WriteHeaders(http2.HeadersFrameParam{
				StreamID: 1, BlockFragment: []byte("block"), PadLength: 2, Priority: http2.PriorityParam{StreamDep: 3},
			})
		},
		func() error { return framer.WriteContinuation(1, true, []byte("block")) },
		func() error { return framer.WriteSettings(http2.Setting{ID: http2.SettingMaxFrameSize, Val: 1 << 20}) },
		func() error { return framer.WriteWindowUpdate(1, 7) },
		func() error { return framer.WriteRSTStream(1, http2.ErrCodeCancel) },
		func() error { return framer.WriteGoAway(5, http2.ErrCodeNo, []byte("bye")) },
		func() error { return framer.WritePing(true, [8]byte{1}) },
	} {
		b.Reset()
		if err := write(); err != nil {
			f.Fatal(err)
		}
		all = append(all, bytes.Clone(b.Bytes()))
	}
	return all
}
