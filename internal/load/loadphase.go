package load

import (
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/internal/load/arrival"
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
	"github.com/etcdbench/etcd-benchmark-operator/internal/workload"
)

// unlimited is the limit of a phase that only time ends.
const unlimited = math.MaxInt64

// loadPhase is a part of the load: the warm-up, or the measured window. Clients draw its operations by their ordinal among
// this pod's, from 0.
type loadPhase struct {
	name   results.Phase
	stream workload.Stream
	part   plan.Part
	// walk yields the arrivals of an open loop, relative to start; nil in a closed loop. It moves only while pacing or
	// dealing is held.
	walk  *arrival.Walk
	start Instant
	// end is when the phase ends, as Instant: nothing is due or sent after it. stop moves it forward.
	end atomic.Int64
	// grace is how long after the end an arrival that was due before may still be sent.
	grace time.Duration
	// limit is the number of operations.
	limit int64
	// next is the ordinal of the next operation. In an open loop it moves with walk, and so does due, which is when the
	// next operation is due, as Instant.
	next, due atomic.Int64

	// pacing is held by the one free client that waits for the next arrival of an open loop. The other free clients
	// queue for it. So the backlog needs no storage: it is how far next lags behind the clock.
	pacing pacing
	alarm  alarm
	// dealing is held by a runner while it looks at the next arrivals. If there are several runners, upcoming has when
	// the next arrivals are due: one for each runner, at its ordinal modulo their number. ahead yields the one after.
	dealing  sync.Mutex
	upcoming []Instant
	ahead    *arrival.Walk
	// free holds since when clients are free; nil in a closed loop.
	free *freeTimes
	// lacking counts the arrivals for which no client was free before the end.
	lacking atomic.Int64
}

// requestTime is when a request is due, and ready: when it is due and a client is free to send it. next is when the next
// arrival of an open loop is due; never in a closed loop.
type requestTime struct{ due, ready, next Instant }

// dueAt returns the time of a request that its client can send when it is due.
func dueAt(due Instant) requestTime { return requestTime{due: due, ready: due, next: never} }

// notBefore returns the time of a request that its client could not send before an instant.
func (t requestTime) notBefore(i Instant) requestTime {
	t.ready = max(t.ready, i)
	return t
}

// pacing is a lock. Unlike sync.Mutex, it does not make the goroutine that unlocks it yield its processor to the next
// one, so a client sends its due request before the next client begins to wait.
type pacing chan struct{}

func newPacing() pacing {
	p := make(pacing, 1)
	p.unlock()
	return p
}

func (p pacing) lock()   { <-p }
func (p pacing) unlock() { p <- struct{}{} }

// newLoadPhase returns a phase, which the caller must close. walk and free are nil in a closed loop.
func newLoadPhase(name results.Phase, stream workload.Stream, part plan.Part, walk *arrival.Walk, free *freeTimes, start, end Instant, limit int64) *loadPhase {
	s := &loadPhase{
		name: name, stream: stream, part: part, walk: walk, free: free, start: start, limit: limit, alarm: newAlarm(), pacing: newPacing(),
	}
	s.end.Store(int64(end))
	if walk != nil {
		s.due.Store(int64(start.Add(walk.Due())))
	}
	return s
}

// scheduled reports whether a schedule sets the arrivals: an open loop.
func (s *loadPhase) scheduled() bool { return s.walk != nil }

// over reports whether an instant lies after the end of the phase.
func (s *loadPhase) over(i Instant) bool { return int64(i) >= s.end.Load() }

// closed reports whether the grace has passed, so that nothing is sent any more.
func (s *loadPhase) closed(i Instant) bool { return s.over(i) && s.over(i.Add(-s.grace)) }

// stop ends the phase at an instant, if it has not ended before.
func (s *loadPhase) stop(at Instant) {
	for end := s.end.Load(); int64(at) < end; end = s.end.Load() {
		if s.end.CompareAndSwap(end, int64(at)) {
			break
		}
	}
	s.alarm.interrupt()
}

// close frees the alarm, once no client is in the phase.
func (s *loadPhase) close() { s.alarm.close() }

// draw returns the ordinal of the next operation of a closed loop.
func (s *loadPhase) draw() (ordinal int64, ok bool) {
	ordinal = s.next.Add(1) - 1
	return ordinal, ordinal < s.limit
}

// await waits until the next arrival of an open loop is due and returns it. An arrival that was due before is returned
// at once. The caller's client is free.
func (s *loadPhase) await() (ordinal int64, at requestTime, ok bool) {
	s.pacing.lock()
	defer s.pacing.unlock()
	ordinal, due, ok := s.peek()
	if !ok {
		return 0, requestTime{}, false
	}
	now := Now()
	if due > now {
		s.alarm.wait(due)
		now = Now()
	}
	// The phase may have ended while this client waited, or while all clients were busy.
	if s.over(due) || s.closed(now) {
		return 0, requestTime{}, false
	}
	return ordinal, s.take(), true
}

// peek returns the next arrival of an open loop, if there is one. A caller that holds neither pacing nor
// dealing may see the ordinal of one arrival with the time of its neighbour.
func (s *loadPhase) peek() (ordinal int64, due Instant, ok bool) {
	ordinal, due = s.next.Load(), Instant(s.due.Load())
	return ordinal, due, ordinal < s.limit && !s.over(due)
}

// deal prepares the phase for several runners that take turns. ahead is another walk over its arrivals.
func (s *loadPhase) deal(runners int, ahead *arrival.Walk) {
	s.ahead, s.upcoming = ahead, make([]Instant, runners)
	for i := range s.upcoming {
		s.dealTo(i)
	}
}

// dealTo replaces an upcoming arrival by the one after all of them.
func (s *loadPhase) dealTo(i int) {
	s.upcoming[i] = s.start.Add(s.ahead.Due())
	s.ahead.Next()
}

// takeDue takes the next arrival of an open loop for a free client, if it is due.
func (s *loadPhase) takeDue(now Instant) (ordinal int64, at requestTime, ok bool) {
	s.dealing.Lock()
	defer s.dealing.Unlock()
	ordinal, due, ok := s.peek()
	if !ok || due > now {
		return 0, requestTime{}, false
	}
	if n := len(s.upcoming); n > 0 {
		s.dealTo(int(ordinal % int64(n)))
	}
	return ordinal, s.take(), true
}

// turn returns when the first of the next arrivals is due that isMine selects.
func (s *loadPhase) turn(isMine func(ordinal int64) bool) Instant {
	s.dealing.Lock()
	defer s.dealing.Unlock()
	next, n := s.next.Load(), int64(len(s.upcoming))
	for ordinal := next; ordinal < next+n; ordinal++ {
		if isMine(ordinal) {
			return s.upcoming[ordinal%n]
		}
	}
	return Instant(s.due.Load())
}

// take takes the next arrival of an open loop for a free client. The caller holds pacing or dealing.
func (s *loadPhase) take() requestTime {
	due := Instant(s.due.Load())
	at := requestTime{due: due, ready: max(due, s.free.take())}
	if s.over(at.ready) {
		s.lacking.Add(1)
	}
	s.advance()
	at.next = Instant(s.due.Load())
	return at
}

// advance moves to the next arrival of an open loop.
func (s *loadPhase) advance() {
	s.walk.Next()
	s.due.Store(int64(s.start.Add(s.walk.Due())))
	s.next.Add(1)
}

// countedSingly is how many unsent arrivals takeUnsent takes one by one.
const countedSingly = 1 << 20

// takeUnsent takes all arrivals of an open loop that are due before the end, once no client is in the phase. take
// receives the ordinal of the first of n arrivals, and when the last of them was due.
//
// A schedule can have too many unsent arrivals to visit each. After the first countedSingly, arrivals come in groups of
// a millionth of those before them. So a week at 10,000,000/s, the maximum, is some seventeen million groups. All
// arrivals of a group count with the wait of the last and the kind of the first.
func (s *loadPhase) takeUnsent(take func(ordinal int64, due Instant, n int64)) {
	most := int64(unlimited)
	for taken := int64(0); ; {
		ordinal, due, ok := s.peek()
		if !ok {
			return
		}
		n := min(1+taken/countedSingly, most)
		if n > 1 {
			if due, ok = s.skip(n - 1); !ok {
				most = n / 2
				continue
			}
		}
		s.advance()
		take(ordinal, due, n)
		taken += n
	}
}

// skip moves n arrivals forward and returns when the arrival there is due. If there is no such arrival before the end,
// skip does not move.
func (s *loadPhase) skip(n int64) (due Instant, ok bool) {
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
