package eventloop

import (
	"math/bits"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
)

// tick is the resolution of timeouts: a request times out up to two ticks late, never early.
const tick = 4 * time.Millisecond

// wheelSlots is a power of two. A timer that is due after more than one revolution, 8 s, stays in its slot for several
// revolutions.
const wheelSlots = 2048

// timer is a slot's entry in the wheel. The zero value is not in the wheel.
type timer struct {
	next, previous *timer
	// due is the tick in which the timer expires.
	due  int64
	slot *Slot
}

// wheel is a timer wheel for the timeouts of a loop. Starting and stopping a timer takes constant time.
type wheel struct {
	slots [wheelSlots]timer
	// used has a bit for each slot that may hold timers.
	used [wheelSlots / 64]uint64
	// past is the last tick whose timers have expired.
	past int64
}

func newWheel(now load.Instant) *wheel {
	w := &wheel{past: tickOf(now)}
	for i := range w.slots {
		s := &w.slots[i]
		s.next, s.previous = s, s
	}
	return w
}

func tickOf(i load.Instant) int64 { return int64(i) / int64(tick) }

// start sets a timer to expire at an instant, or up to two ticks later.
func (w *wheel) start(t *timer, at load.Instant) {
	t.due = max(tickOf(at), w.past) + 1
	n := t.due % wheelSlots
	s := &w.slots[n]
	t.next, t.previous = s, s.previous
	s.previous.next, s.previous = t, t
	w.used[n/64] |= 1 << (n % 64)
}

// stop removes a timer, if it is in the wheel.
func (w *wheel) stop(t *timer) {
	if t.next == nil {
		return
	}
	t.previous.next, t.next.previous = t.next, t.previous
	t.next, t.previous = nil, nil
}

// advance removes the timers that are due and calls expire for each. expire may start and stop others.
func (w *wheel) advance(now load.Instant, expire func(*Slot)) {
	current := tickOf(now)
	for first := max(w.past+1, current-wheelSlots+1); first <= current; first++ {
		w.past = first
		if w.used[first%wheelSlots/64]&(1<<(first%64)) != 0 {
			w.expireSlot(first%wheelSlots, current, expire)
		}
	}
	w.past = max(w.past, current)
}

func (w *wheel) expireSlot(n, current int64, expire func(*Slot)) {
	s := &w.slots[n]
	for t := s.next; t != s; {
		if t.due > current {
			t = t.next
			continue
		}
		w.stop(t)
		expire(t.slot)
		// expire may have changed the list.
		t = s.next
	}
	if s.next == s {
		w.used[n/64] &^= 1 << (n % 64)
	}
}

// next returns when to advance: at the first slot that may hold timers.
func (w *wheel) next() (load.Instant, bool) {
	first := w.past + 1
	for ahead := int64(0); ahead <= wheelSlots; {
		n := (first + ahead) % wheelSlots
		if word := w.used[n/64] >> (n % 64); word != 0 {
			at := first + ahead + int64(bits.TrailingZeros64(word))
			return load.Instant(at * int64(tick)), true
		}
		ahead += 64 - n%64
	}
	return 0, false
}
