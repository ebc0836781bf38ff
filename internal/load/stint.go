package load

import (
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/internal/load/arrival"
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
	"github.com/etcdbench/etcd-benchmark-operator/internal/workload"
)

// unlimited is the limit of a stint that time alone ends.
const unlimited = math.MaxInt64

// stint is a stretch of load of one kind: the warm-up, or the measured window.
// Clients draw its operations by their ordinal among this pod's, from 0.
type stint struct {
	stream workload.Stream
	part   plan.Part
	// walk goes, in an open loop, from arrival to arrival, relative to start; it
	// is nil in a closed loop. It only moves while turn is held.
	walk  *arrival.Walk
	start Instant
	// end is when nothing is due or sent any more, as Instant; stop moves it
	// forward.
	end atomic.Int64
	// grace is for how long after its end what was due before may still be sent.
	grace time.Duration
	// limit is how many operations there are.
	limit int64
	// next is the ordinal of the next operation. In an open loop it moves with
	// walk, and so does due: when the next operation is due, as Instant.
	next, due atomic.Int64

	// turn is held by the one free client that waits for the next arrival of
	// an open loop; the other free clients queue behind it. So the backlog is
	// nothing but next lagging behind the clock.
	turn  sync.Mutex
	alarm alarm
}

// newStint returns a stint that somebody must close. walk is nil in a closed
// loop.
func newStint(stream workload.Stream, part plan.Part, walk *arrival.Walk, start, end Instant, limit int64) *stint {
	s := &stint{stream: stream, part: part, walk: walk, start: start, limit: limit, alarm: newAlarm()}
	s.end.Store(int64(end))
	if walk != nil {
		s.due.Store(int64(start.Add(walk.Due())))
	}
	return s
}

// scheduled says whether arrivals are due at times of their own.
func (s *stint) scheduled() bool { return s.walk != nil }

// over says whether nothing that is due, or is sent, at this instant belongs
// to the stint.
func (s *stint) over(i Instant) bool { return int64(i) >= s.end.Load() }

// closed says whether nothing is sent any more at this instant, even if it was
// due before.
func (s *stint) closed(i Instant) bool { return s.over(i) && s.over(i.Add(-s.grace)) }

// stop ends the stint at an instant, if it has not ended before.
func (s *stint) stop(at Instant) {
	for end := s.end.Load(); int64(at) < end; end = s.end.Load() {
		if s.end.CompareAndSwap(end, int64(at)) {
			break
		}
	}
	s.alarm.interrupt()
}

// close frees what the stint holds, once no client is in it.
func (s *stint) close() { s.alarm.close() }

// draw returns the ordinal of the next operation of a closed loop.
func (s *stint) draw() (ordinal int64, ok bool) {
	ordinal = s.next.Add(1) - 1
	return ordinal, ordinal < s.limit
}

// await waits until the next arrival of an open loop is due and returns it. An
// arrival that was due before is returned at once.
func (s *stint) await() (ordinal int64, due Instant, ok bool) {
	s.turn.Lock()
	defer s.turn.Unlock()
	if ordinal, due, ok = s.peek(); !ok {
		return 0, 0, false
	}
	if due > Now() {
		s.alarm.wait(due)
	}
	// The end may have come while this client waited, or while all clients
	// were busy.
	if s.over(due) || s.closed(Now()) {
		return 0, 0, false
	}
	s.take()
	return ordinal, due, true
}

// peek returns the next arrival of an open loop, if there is one. Who does not
// hold turn may see it half taken: the ordinal of one arrival and the time of
// its neighbour.
func (s *stint) peek() (ordinal int64, due Instant, ok bool) {
	ordinal, due = s.next.Load(), Instant(s.due.Load())
	return ordinal, due, ordinal < s.limit && !s.over(due)
}

// take takes the next arrival of an open loop for whoever holds turn.
func (s *stint) take() {
	s.walk.Next()
	s.due.Store(int64(s.start.Add(s.walk.Due())))
	s.next.Add(1)
}

// owedAlone is how many arrivals takeOwed takes one by one.
const owedAlone = 1 << 20

// takeOwed takes all arrivals of an open loop that are due before the end, once no
// client is in the stint. take gets the ordinal of the first of n arrivals, and when
// the last of them was due.
//
// A schedule can owe more than could be gone through while somebody waits: behind
// the first owedAlone, arrivals come in groups of a millionth of those before them,
// so that a week at 10,000,000/s, the most there can be, is some seventeen million. A
// group's arrivals are waited for at least as long as its last, and are of the kind of
// its first.
func (s *stint) takeOwed(take func(ordinal int64, due Instant, n int64)) {
	most := int64(unlimited)
	for taken := int64(0); ; {
		ordinal, due, ok := s.peek()
		if !ok {
			return
		}
		n := min(1+taken/owedAlone, most)
		if n > 1 {
			if due, ok = s.skip(n - 1); !ok {
				most = n / 2
				continue
			}
		}
		s.take()
		take(ordinal, due, n)
		taken += n
	}
}

// skip goes n arrivals on and returns when the one is due that it comes to. It goes
// nowhere if that is none before the end.
func (s *stint) skip(n int64) (due Instant, ok bool) {
	before := *s.walk
	s.walk.Skip(n)
	due = s.start.Add(s.walk.Due())
	if s.limit-s.next.Load() <= n || s.over(due) {
		*s.walk = before
		return 0, false
	}
	s.due.Store(int64(due))
	s.next.Add(n)
	return due, true
}
