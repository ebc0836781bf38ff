package load

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
	"github.com/etcdbench/etcd-benchmark-operator/internal/workload"
)

// eventMatcher matches the events that this pod's watchers receive with the pod's own measured puts:
//
//	announce ──► [ events before the response are kept ] ────────► settle
//	                                                              │ put succeeded: events are timed
//	                                                              ▼ put failed: events are dropped
//	             [ events after the response are timed at once ] ──► all received, or missed
//
// A failed put may or may not have been carried out, so its events are not expected.
type eventMatcher struct {
	pod      int
	recorder *recorder
	// inWindow reports whether an instant lies before the end of the measured window.
	inWindow func(Instant) bool

	// everywhere is how many watchers watch all keys, and onKey how many watch one key, by its number. Neither changes
	// once the load has begun.
	everywhere int
	onKey      map[int64]int

	pages [matcherPages]matcherPage
	// outstanding is how many events are still expected. settled receives when it drops to 0.
	outstanding atomic.Int64
	settled     chan struct{}
	closed      atomic.Bool

	watchers, expected, missed, duplicate, cancelled, resumed atomic.Uint64
}

const (
	// matcherPages is the number of parts of the matcher. Each has its own lock.
	matcherPages    = 1 << matcherPageBits
	matcherPageBits = 5
	// pageLimit is how many puts a page tracks at once. It limits the memory for hung watchers to about 40 MB. Events
	// of further puts count as missed.
	pageLimit = 8192
	// earlyKept is the largest capacity of a buffer for early events, 16 KB of them, that is reused. There are no more
	// such buffers than puts in flight, and so than clients.
	earlyKept = 1024
)

// matcherPage holds a part of the puts, by sequence.
type matcherPage struct {
	mutex sync.Mutex
	puts  map[int64]*watchedPut
	// free are puts for reuse, and buffers are buffers of early events for reuse.
	free    []*watchedPut
	buffers [][]earlyEvent
}

// watchedPut is a put with events still expected.
type watchedPut struct {
	due, received Instant
	acknowledged  bool
	// left is how many events are still expected.
	left int
	// early are the events that arrived before the response, until it arrives.
	early []earlyEvent
}

type earlyEvent struct {
	watcher int
	at      Instant
}

var _ Audience = (*eventMatcher)(nil)

func newEventMatcher(pod int, r *recorder) *eventMatcher {
	m := &eventMatcher{pod: pod, recorder: r, onKey: map[int64]int{}, settled: make(chan struct{}, 1)}
	for i := range m.pages {
		m.pages[i].puts = map[int64]*watchedPut{}
	}
	return m
}

// open registers a watcher of one key, or of all keys if what is 0, and returns its number.
func (m *eventMatcher) open(what int64) int {
	if what != 0 {
		m.onKey[what]++
	} else {
		m.everywhere++
	}
	return int(m.watchers.Add(1)) - 1
}

// fanOut returns how many watchers receive an event of a put of a key.
func (m *eventMatcher) fanOut(key int64) int { return m.everywhere + m.onKey[key] }

// page spreads sequences by Fibonacci hashing: those of one pod are all equal modulo pods.
func (m *eventMatcher) page(sequence int64) *matcherPage {
	return &m.pages[uint64(sequence)*0x9e3779b97f4a7c15>>(64-matcherPageBits)]
}

// announce registers a put that is about to be sent.
func (m *eventMatcher) announce(key, sequence int64, due Instant) {
	fanOut := m.fanOut(key)
	p := m.page(sequence)
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if fanOut == 0 || len(p.puts) >= pageLimit {
		return
	}
	put := p.take()
	put.due, put.left = due, fanOut
	p.puts[sequence] = put
	m.outstanding.Add(int64(fanOut))
}

func (p *matcherPage) take() *watchedPut {
	if len(p.free) == 0 {
		return &watchedPut{}
	}
	last := len(p.free) - 1
	put := p.free[last]
	p.free = p.free[:last]
	*put = watchedPut{}
	return put
}

// addEarly keeps an event that arrived before the response.
func (p *matcherPage) addEarly(put *watchedPut, e earlyEvent) {
	if last := len(p.buffers) - 1; put.early == nil && last >= 0 {
		put.early, p.buffers = p.buffers[last], p.buffers[:last]
	}
	put.early = append(put.early, e)
}

// recycle takes back a put's buffer of early events.
func (p *matcherPage) recycle(put *watchedPut) {
	if size := cap(put.early); size > 0 && size <= earlyKept {
		p.buffers = append(p.buffers, put.early[:0])
	}
	put.early = nil
}

// settle records the outcome of a put and decides what happens to its events.
func (m *eventMatcher) settle(key, sequence int64, response *Response) {
	p := m.page(sequence)
	p.mutex.Lock()
	defer p.mutex.Unlock()
	put, wrote := p.puts[sequence], response.Succeeded() && !response.Lost
	switch {
	case put == nil && wrote:
		// No watcher watches the key, or the page was full.
		m.missAll(uint64(m.fanOut(key)))
	case put == nil:
	case wrote:
		m.acknowledge(p, sequence, put, response.Received)
	default:
		m.forget(p, sequence, put)
	}
}

func (m *eventMatcher) missAll(events uint64) {
	m.expected.Add(events)
	m.missed.Add(events)
	m.recorder.miss(events, 0, 0)
}

func (m *eventMatcher) acknowledge(p *matcherPage, sequence int64, put *watchedPut, received Instant) {
	put.acknowledged, put.received = true, received
	m.expected.Add(uint64(put.left + len(put.early)))
	for _, e := range put.early {
		m.time(put, e.watcher, e.at)
	}
	p.recycle(put)
	if put.left == 0 {
		m.forget(p, sequence, put)
	}
}

// forget ends the wait for the events of a put.
func (m *eventMatcher) forget(p *matcherPage, sequence int64, put *watchedPut) {
	delete(p.puts, sequence)
	p.recycle(put)
	p.free = append(p.free, put)
	m.seen(put.left)
}

// seen subtracts events from the outstanding ones.
func (m *eventMatcher) seen(events int) {
	if m.outstanding.Add(-int64(events)) > 0 {
		return
	}
	select {
	case m.settled <- struct{}{}:
	default:
	}
}

func (m *eventMatcher) time(put *watchedPut, watcher int, at Instant) {
	m.recorder.event(watcher, at-put.due, max(at-put.received, 0), m.inWindow(at))
}

// Event implements Audience.
func (m *eventMatcher) Event(watcher int, at Instant, value []byte) {
	mark, ok := workload.MarkOf(value)
	if !ok || mark.Stream != workload.Measured || mark.Pod != m.pod {
		return
	}
	p := m.page(mark.Sequence)
	p.mutex.Lock()
	defer p.mutex.Unlock()
	put := p.puts[mark.Sequence]
	if put == nil || put.left == 0 {
		return
	}
	put.left--
	m.seen(1)
	if !put.acknowledged {
		p.addEarly(put, earlyEvent{watcher, at})
		return
	}
	m.time(put, watcher, at)
	if put.left == 0 {
		m.forget(p, mark.Sequence, put)
	}
}

// Duplicate implements Audience.
func (m *eventMatcher) Duplicate() { m.count(&m.duplicate) }

// Cancelled implements Audience.
func (m *eventMatcher) Cancelled() { m.count(&m.cancelled) }

// Resumed implements Audience.
func (m *eventMatcher) Resumed() { m.count(&m.resumed) }

// count counts until the matcher is closed. What happens to watchers during shutdown is not a result.
func (m *eventMatcher) count(n *atomic.Uint64) {
	if !m.closed.Load() {
		n.Add(1)
	}
}

// await waits for the outstanding events for at most atMost. It returns false if ctx ended before.
func (m *eventMatcher) await(ctx context.Context, atMost time.Duration) bool {
	timer := time.NewTimer(atMost)
	defer timer.Stop()
	for m.outstanding.Load() > 0 {
		select {
		case <-m.settled:
		case <-timer.C:
			return true
		case <-ctx.Done():
			return false
		}
	}
	return true
}

// close ends the wait for all events. If hadTime, outstanding events are missed, else censored. It cannot be
// interrupted; it takes one step for each tracked put, a fraction of a second in total.
func (m *eventMatcher) close(hadTime bool) {
	m.closed.Store(true)
	now := Now()
	for i := range m.pages {
		p := &m.pages[i]
		p.mutex.Lock()
		for sequence, put := range p.puts {
			m.expire(put, now, hadTime)
			m.forget(p, sequence, put)
		}
		p.mutex.Unlock()
	}
}

func (m *eventMatcher) expire(put *watchedPut, now Instant, hadTime bool) {
	events, waited, delivery := uint64(put.left), now-put.due, now-put.received
	if !hadTime {
		m.recorder.censorEvents(events, waited, delivery)
		return
	}
	m.missed.Add(events)
	m.recorder.miss(events, waited, delivery)
}

// results returns the counts so far. Missed is read before Expected, which includes it.
func (m *eventMatcher) results() results.Watch {
	w := results.Watch{
		Watchers: m.watchers.Load(), Missed: m.missed.Load(), Duplicate: m.duplicate.Load(),
		Cancelled: m.cancelled.Load(), Resumed: m.resumed.Load(),
	}
	w.Expected = m.expected.Load()
	return w
}
