package eventloop

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
)

// newTestSlot returns a slot without a connection.
func newTestSlot() *Slot {
	a := &Slot{}
	a.Init(nil, nil)
	return a
}

// TestWheelAgainstOracle starts, stops and expires timers at random, and compares with their deadlines in a map.
func TestWheelAgainstOracle(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	now := load.Instant(12345678)
	w := newWheel(now)
	slots := make([]*Slot, 500)
	for i := range slots {
		slots[i] = newTestSlot()
	}
	due := map[*Slot]load.Instant{}
	for range 20000 {
		a := slots[random.IntN(len(slots))]
		if _, ok := due[a]; ok && random.IntN(2) == 0 {
			w.stop(&a.timer)
			delete(due, a)
		} else if !ok {
			due[a] = now.Add(time.Duration(random.Int64N(int64(40 * time.Second))))
			w.start(&a.timer, due[a])
		}
		now = now.Add(time.Duration(random.Int64N(int64(15 * time.Millisecond))))
		if random.IntN(5000) == 0 {
			now = now.Add(20 * time.Second)
		}
		checkNext(t, w, due)
		w.advance(now, func(a *Slot) {
			if at, ok := due[a]; !ok || at > now {
				t.Fatalf("expired %v early, or twice", at.Sub(now))
			}
			delete(due, a)
		})
		for a, at := range due {
			if now.Sub(at) > 2*tick {
				t.Fatalf("%v late and not expired", now.Sub(due[a]))
			}
		}
	}
}

// checkNext checks that no timer is due before next.
func checkNext(t *testing.T, w *wheel, due map[*Slot]load.Instant) {
	t.Helper()
	next, ok := w.next()
	for _, at := range due {
		if !ok || next.Sub(at) > 2*tick {
			t.Fatalf("next is %v (%v), a timer is due at %v", next, ok, at)
		}
	}
}

func TestWheelExpiresAndStartsAgain(t *testing.T) {
	w := newWheel(0)
	a := newTestSlot()
	expired := 0
	w.start(&a.timer, 0)
	for now := load.Instant(0); now < load.Instant(time.Second); now += load.Instant(tick) {
		w.advance(now, func(a *Slot) {
			expired++
			w.start(&a.timer, now)
		})
	}
	if expired < 100 || expired > 250 {
		t.Errorf("expired %d times in 250 ticks", expired)
	}
}

// A timer that outlives its call would end the next call of its slot.
func TestAnEndedCallHasNoTimer(t *testing.T) {
	conn := open(t, newLineClient(t, lineConfig{}), serve(t, "127.0.0.1:0", &lineServer{}))
	if got := say(t.Context(), conn, "words"); !got.Succeeded() {
		t.Fatalf("got %+v", got)
	}
	onLoop(conn, func() {
		for i := range conn.loop.wheel.slots {
			if s := &conn.loop.wheel.slots[i]; s.next != s {
				t.Errorf("wanted no timer after the call, found one in slot %d", i)
			}
		}
	})
}
