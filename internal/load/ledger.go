package load

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
	"github.com/etcdbench/etcd-benchmark-operator/internal/workload"
)

// ledger matches the events that this pod's watchers see with its own measured
// puts, which made them:
//
//	announce ──► [ events that come before the answer wait ] ──► settle
//	                                                              │ acknowledged: timed
//	                                                              ▼ failed: forgotten
//	             [ events that come after it are timed at once ] ──► all seen, or missed
//
// A put that failed may have been carried out or not: its events are not expected.
type ledger struct {
	pod      int
	recorder *recorder
	// inWindow says whether something happened before the measured window's end.
	inWindow func(Instant) bool

	// everywhere is how many watchers watch all keys, and onKey how many watch
	// one, by its number. Neither changes once the load has begun.
	everywhere int
	onKey      map[int64]int

	pages [ledgerPages]ledgerPage
	// outstanding is how many events are to come; settled hears when none is.
	outstanding atomic.Int64
	settled     chan struct{}
	closed      atomic.Bool

	watchers, expected, missed, duplicate, cancelled, resumed atomic.Uint64
}

const (
	// ledgerPages is how many parts the ledger has, each with a lock of its own.
	ledgerPages    = 1 << ledgerPageBits
	ledgerPageBits = 5
	// pageLimit is how many puts a page follows at once, so that watchers that
	// hang cost some 40 MB at most: the events of further puts count as missed.
	pageLimit = 8192
	// earlyKept is the largest room for early events, 16 KB of them, that is kept
	// for another put. There are no more such rooms than puts that were without an
	// answer at once, and so than clients.
	earlyKept = 1024
)

// ledgerPage has a part of the puts, by their sequence.
type ledgerPage struct {
	mutex sync.Mutex
	puts  map[int64]*watchedPut
	// free are puts to be used again, and rooms those for early events.
	free  []*watchedPut
	rooms [][]earlyEvent
}

// watchedPut is a put of which not all events have been seen.
type watchedPut struct {
	due, received Instant
	acknowledged  bool
	// left is how many events are to come.
	left int
	// early are the events that came before the answer, until that comes.
	early []earlyEvent
}

type earlyEvent struct {
	watcher int
	at      Instant
}

var _ Audience = (*ledger)(nil)

func newLedger(pod int, r *recorder) *ledger {
	l := &ledger{pod: pod, recorder: r, onKey: map[int64]int{}, settled: make(chan struct{}, 1)}
	for i := range l.pages {
		l.pages[i].puts = map[int64]*watchedPut{}
	}
	return l
}

// open takes note of a watcher, of one thing or, if what is 0, of everything, and
// returns its number.
func (l *ledger) open(what int64) int {
	if what != 0 {
		l.onKey[what]++
	} else {
		l.everywhere++
	}
	return int(l.watchers.Add(1)) - 1
}

// fanOut is how many watchers see a put of a key.
func (l *ledger) fanOut(key int64) int { return l.everywhere + l.onKey[key] }

// page scatters sequences by Fibonacci hashing: those of one pod are all alike
// modulo pods.
func (l *ledger) page(sequence int64) *ledgerPage {
	return &l.pages[uint64(sequence)*0x9e3779b97f4a7c15>>(64-ledgerPageBits)]
}

// announce takes note of a put that is about to be sent.
func (l *ledger) announce(key, sequence int64, due Instant) {
	fanOut := l.fanOut(key)
	p := l.page(sequence)
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if fanOut == 0 || len(p.puts) >= pageLimit {
		return
	}
	put := p.take()
	put.due, put.left = due, fanOut
	p.puts[sequence] = put
	l.outstanding.Add(int64(fanOut))
}

func (p *ledgerPage) take() *watchedPut {
	if len(p.free) == 0 {
		return &watchedPut{}
	}
	last := len(p.free) - 1
	put := p.free[last]
	p.free = p.free[:last]
	*put = watchedPut{}
	return put
}

// keep keeps an event that came before the answer.
func (p *ledgerPage) keep(put *watchedPut, e earlyEvent) {
	if last := len(p.rooms) - 1; put.early == nil && last >= 0 {
		put.early, p.rooms = p.rooms[last], p.rooms[:last]
	}
	put.early = append(put.early, e)
}

// vacate gives up a put's room for early events.
func (p *ledgerPage) vacate(put *watchedPut) {
	if room := cap(put.early); room > 0 && room <= earlyKept {
		p.rooms = append(p.rooms, put.early[:0])
	}
	put.early = nil
}

// settle takes note of how a put has ended, which settles what of its events.
func (l *ledger) settle(key, sequence int64, response *Response) {
	p := l.page(sequence)
	p.mutex.Lock()
	defer p.mutex.Unlock()
	put, wrote := p.puts[sequence], response.Succeeded() && !response.Lost
	switch {
	case put == nil && wrote:
		// Nobody watches it, or there was no room to follow it.
		l.giveUp(uint64(l.fanOut(key)))
	case put == nil:
	case wrote:
		l.acknowledge(p, sequence, put, response.Received)
	default:
		l.forget(p, sequence, put)
	}
}

func (l *ledger) giveUp(events uint64) {
	l.expected.Add(events)
	l.missed.Add(events)
	l.recorder.miss(events, 0, 0)
}

func (l *ledger) acknowledge(p *ledgerPage, sequence int64, put *watchedPut, received Instant) {
	put.acknowledged, put.received = true, received
	l.expected.Add(uint64(put.left + len(put.early)))
	for _, e := range put.early {
		l.time(put, e.watcher, e.at)
	}
	p.vacate(put)
	if put.left == 0 {
		l.forget(p, sequence, put)
	}
}

// forget ends the wait for the events of a put.
func (l *ledger) forget(p *ledgerPage, sequence int64, put *watchedPut) {
	delete(p.puts, sequence)
	p.vacate(put)
	p.free = append(p.free, put)
	l.seen(put.left)
}

// seen takes events from those that are to come.
func (l *ledger) seen(events int) {
	if l.outstanding.Add(-int64(events)) > 0 {
		return
	}
	select {
	case l.settled <- struct{}{}:
	default:
	}
}

func (l *ledger) time(put *watchedPut, watcher int, at Instant) {
	l.recorder.event(watcher, at-put.due, max(at-put.received, 0), l.inWindow(at))
}

// Event implements Audience.
func (l *ledger) Event(watcher int, at Instant, value []byte) {
	mark, ok := workload.MarkOf(value)
	if !ok || mark.Stream != workload.Measured || mark.Pod != l.pod {
		return
	}
	p := l.page(mark.Sequence)
	p.mutex.Lock()
	defer p.mutex.Unlock()
	put := p.puts[mark.Sequence]
	if put == nil || put.left == 0 {
		return
	}
	put.left--
	l.seen(1)
	if !put.acknowledged {
		p.keep(put, earlyEvent{watcher, at})
		return
	}
	l.time(put, watcher, at)
	if put.left == 0 {
		l.forget(p, mark.Sequence, put)
	}
}

// Duplicate implements Audience.
func (l *ledger) Duplicate() { l.count(&l.duplicate) }

// Cancelled implements Audience.
func (l *ledger) Cancelled() { l.count(&l.cancelled) }

// Resumed implements Audience.
func (l *ledger) Resumed() { l.count(&l.resumed) }

// count counts until the ledger is closed: what happens to watchers that are
// being ended is no result.
func (l *ledger) count(n *atomic.Uint64) {
	if !l.closed.Load() {
		n.Add(1)
	}
}

// await waits for the events that are to come, and says whether they had all the
// time that they might take.
func (l *ledger) await(ctx context.Context, atMost time.Duration) bool {
	timer := time.NewTimer(atMost)
	defer timer.Stop()
	for l.outstanding.Load() > 0 {
		select {
		case <-l.settled:
		case <-timer.C:
			return true
		case <-ctx.Done():
			return false
		}
	}
	return true
}

// close ends the wait for all events. Those that had their time are missed, and
// the others are censored. Nothing interrupts it: it takes one step for each put
// that is followed, a fraction of a second for all that there is room for.
func (l *ledger) close(hadTime bool) {
	l.closed.Store(true)
	now := Now()
	for i := range l.pages {
		p := &l.pages[i]
		p.mutex.Lock()
		for sequence, put := range p.puts {
			l.leave(put, now, hadTime)
			l.forget(p, sequence, put)
		}
		p.mutex.Unlock()
	}
}

func (l *ledger) leave(put *watchedPut, now Instant, hadTime bool) {
	events, waited, delivery := uint64(put.left), now-put.due, now-put.received
	if !hadTime {
		l.recorder.censorEvents(events, waited, delivery)
		return
	}
	l.missed.Add(events)
	l.recorder.miss(events, waited, delivery)
}

// results are the counts so far. What was missed is read before what it is a
// part of.
func (l *ledger) results() results.Watch {
	w := results.Watch{
		Watchers: l.watchers.Load(), Missed: l.missed.Load(), Duplicate: l.duplicate.Load(),
		Cancelled: l.cancelled.Load(), Resumed: l.resumed.Load(),
	}
	w.Expected = l.expected.Load()
	return w
}
