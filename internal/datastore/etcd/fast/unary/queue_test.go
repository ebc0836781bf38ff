package unary

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/etcd/fast/eventloop/buffer"
	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/etcd/fast/frame"
)

// A queue behaves like a slice: streams are appended, taken from the front and removed from the middle, even when it
// wraps round and grows.
func TestQueueIsASlice(t *testing.T) {
	for seed := range uint64(50) {
		random := rand.New(rand.NewPCG(seed, 1))
		var q queue
		var want []*Stream
		for range 2000 {
			// It usually grows in the first half of the steps, and shrinks then.
			switch n := random.IntN(100); {
			case n < 45+int(seed):
				s := &Stream{}
				q.put(s)
				want = append(want, s)
			case len(want) == 0:
			case n < 95:
				if got := q.take(); got != want[0] {
					t.Fatal("a stream was taken that was not the first one")
				}
				want = want[1:]
			default:
				i := random.IntN(len(want))
				q.remove(want[i])
				want = slices.Delete(slices.Clone(want), i, i+1)
			}
			checkQueue(t, &q, want)
		}
		q.remove(&Stream{})
		checkQueue(t, &q, want)
	}
}

// checkQueue checks that a queue has exactly these streams.
func checkQueue(t *testing.T, q *queue, want []*Stream) {
	t.Helper()
	got := make([]*Stream, q.length)
	for i := range got {
		got[i] = *q.at(i)
	}
	if !slices.Equal(got, want) {
		t.Fatalf("the queue has %v, wanted %v", got, want)
	}
	kept := 0
	for _, s := range q.places {
		if s != nil {
			kept++
		}
	}
	if kept != len(want) {
		t.Fatalf("%d streams are kept of %d", kept, len(want))
	}
}

// waiter is a call that records its end.
type waiter struct {
	stream Stream
	ended  *[]*waiter
}

func (*waiter) AppendMessage(dst []byte) []byte { return dst }
func (*waiter) Sent(int64)                      {}
func (*waiter) Received([]byte) error           { return nil }
func (w *waiter) Ended(Code, string)            { *w.ended = append(*w.ended, w) }

// receive makes a connection handle bytes and write its output.
func receive(t *testing.T, c *Conn, bytes []byte) {
	t.Helper()
	if _, err := c.Receive(bytes); err != nil {
		t.Fatal(err)
	}
	if n := len(c.Output()); n > 0 {
		c.Wrote(n, 1)
	}
}

// TestManyWaitingStreams processes a long queue: no waiting stream is moved when another one leaves, and the queue
// grows only a few times.
func TestManyWaitingStreams(t *testing.T) {
	const streams = 100_000
	c := New(&Config{Methods: []string{"/a/A"}, ConnWindow: frame.DefaultWindow}, NewPool(&buffer.Pool{}))
	receive(t, c, frame.AppendSettings(nil, frame.Setting{ID: frame.MaxConcurrentStreams, Value: 1}))
	var ended []*waiter
	waiters := make([]waiter, streams)
	grown, places := 0, 0
	for i := range waiters {
		waiters[i].ended = &ended
		c.Start(&waiters[i].stream, 0, &waiters[i])
		if len(c.waiting.places) != places {
			grown, places = grown+1, len(c.waiting.places)
		}
	}
	if grown > 17 {
		t.Errorf("the queue has grown %d times for %d streams", grown, streams)
	}
	receive(t, c, nil)
	for i := range waiters {
		var before []*Stream
		looks := i%1009 == 0 && c.waiting.length > 0
		if looks {
			before = slices.Clone(c.waiting.places)
		}
		receive(t, c, frame.AppendResetStream(nil, waiters[i].stream.id, frame.RefusedStream))
		if len(ended) != i+1 || ended[i] != &waiters[i] || waiters[i].stream.Started() {
			t.Fatalf("after %d resets %d streams have ended", i+1, len(ended))
		}
		if moved := differences(before, c.waiting.places); looks && moved != 1 {
			t.Fatalf("%d places of %d have changed for one stream", moved, len(before))
		}
	}
	if !c.Idle() {
		t.Error("a stream still waits")
	}
}

// differences counts the places at which two slices differ.
func differences(a, b []*Stream) (n int) {
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			n++
		}
	}
	return n + max(len(a), len(b)) - min(len(a), len(b))
}

// A stream in the middle of the queue may be canceled, and the others continue in order.
func TestWaitingStreamsAreGivenUp(t *testing.T) {
	c := New(&Config{Methods: []string{"/a/A"}, ConnWindow: frame.DefaultWindow}, NewPool(&buffer.Pool{}))
	var ended, want []*waiter
	waiters := make([]waiter, 100)
	for i := range waiters {
		waiters[i].ended = &ended
		c.Start(&waiters[i].stream, 0, &waiters[i])
	}
	for i := 0; i < len(waiters); i += 3 {
		want = append(want, &waiters[i])
		c.Cancel(&waiters[i].stream, Canceled, "")
	}
	for i := range waiters {
		if i%3 != 0 {
			want = append(want, &waiters[i])
		}
	}
	receive(t, c, frame.AppendSettings(nil, frame.Setting{ID: frame.MaxConcurrentStreams, Value: 1}))
	for id := uint32(1); len(ended) < len(waiters); id += 2 {
		receive(t, c, frame.AppendResetStream(nil, id, frame.RefusedStream))
	}
	if !slices.Equal(ended, want) {
		t.Error("the calls have ended in another order")
	}
}
