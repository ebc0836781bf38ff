package eventloop

import (
	"math"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/etcd/fast/eventloop/buffer"
	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
)

// never is later than every instant.
const never load.Instant = math.MaxInt64

// readBufferLen is how much a loop reads at once, in bytes, from one connection.
const readBufferLen = 128 << 10

// MaxPartial is the longest incomplete message that a link keeps, in bytes: the next read must fit behind it. A session
// takes longer messages in parts.
const MaxPartial = readBufferLen - ciphertextLen

// loop serves some of the connections. Its fields belong to its goroutine, except for the posted functions.
type loop struct {
	poller poller
	index  int
	pool   *buffer.Pool
	wheel  *wheel
	// now is when the loop last read the clock.
	now load.Instant
	// yielded is when the loop last called the scheduler.
	yielded load.Instant
	ready   []*Link
	// unread are links with more to read. The next iteration continues with them.
	unread []*Link
	// dirty are the links that may have something to write.
	dirty  []*Link
	buffer []byte
	// ciphertext is the buffer for encrypted bytes; nil without TLS.
	ciphertext []byte
	closed     bool

	alarmAt load.Instant
	alarm   func()

	// waited is how long the loop has waited for events, without the current wait. waitingSince is when that began; 0
	// means that the loop is not waiting. Both are protected by timing.
	timing               sync.Mutex
	waited, waitingSince load.Instant

	// asleep is set while a post has to wake the loop up.
	asleep  atomic.Bool
	posting sync.Mutex
	posted  []func()
	spare   []func()
	done    chan struct{}

	requests load.RequestCounter
}

var _ load.Loop = (*loop)(nil)

func newLoop(p poller, index int) *loop {
	now := load.Now()
	l := &loop{
		poller: p, index: index, pool: &buffer.Pool{}, wheel: newWheel(now), now: now,
		buffer: make([]byte, readBufferLen), alarmAt: never, done: make(chan struct{}),
	}
	go l.run()
	return l
}

// Post implements load.Loop. Functions that are posted to a closed loop are never called.
func (l *loop) Post(f func()) {
	l.posting.Lock()
	defer l.posting.Unlock()
	l.posted = append(l.posted, f)
	if l.asleep.CompareAndSwap(true, false) {
		l.poller.wake()
	}
}

// Alarm implements load.Loop.
func (l *loop) Alarm(at load.Instant, f func()) { l.alarmAt, l.alarm = at, f }

// Waited implements load.Loop.
func (l *loop) Waited() time.Duration {
	l.timing.Lock()
	defer l.timing.Unlock()
	if l.waitingSince > 0 {
		return time.Duration(l.waited + load.Now() - l.waitingSince)
	}
	return time.Duration(l.waited)
}

// beginWait and endWait measure a wait for events.
func (l *loop) beginWait() {
	l.timing.Lock()
	defer l.timing.Unlock()
	l.waitingSince = load.Now()
}

func (l *loop) endWait() {
	l.timing.Lock()
	defer l.timing.Unlock()
	l.waited += load.Now() - l.waitingSince
	l.waitingSince = 0
}

// Exact implements load.Loop.
func (l *loop) Exact() bool { return l.poller.exact() }

// maxIterations bounds the iterations without a flush, so that a server that always sends cannot delay the requests to
// others. Normally there are two or three, rarely ten.
const maxIterations = 64

// run runs until the loop is closed. It flushes when no connection has anything to read, so that requests that become
// ready together leave together. It also flushes after maxIterations.
func (l *loop) run() {
	defer l.end()
	for iterations := 1; !l.closed; iterations++ {
		l.ready = l.wait()
		for _, k := range l.ready {
			k.serve()
		}
		l.runPosted()
		l.runTimers()
		if len(l.ready) == 0 || len(l.unread) > 0 || iterations >= maxIterations {
			l.flush()
			iterations = 0
		}
	}
}

// end closes the poller. The lock ensures that no post is waking it at the same time.
func (l *loop) end() {
	l.posting.Lock()
	defer l.posting.Unlock()
	l.poller.close()
	close(l.done)
}

// wait returns the ready links. It blocks only if there is nothing else to do.
func (l *loop) wait() []*Link {
	if len(l.dirty) > 0 || len(l.unread) > 0 {
		ready := append(l.poller.wait(l.ready[:0], 0, 0), l.unread...)
		clear(l.unread)
		l.unread = l.unread[:0]
		return ready
	}
	l.asleep.Store(true)
	defer l.asleep.Store(false)
	if l.hasPosted() {
		return l.poller.wait(l.ready[:0], 0, 0)
	}
	l.yield()
	coarse, ok := l.wheel.next()
	if !ok {
		coarse = never
	}
	l.beginWait()
	defer l.endWait()
	return l.poller.wait(l.ready[:0], coarse, l.alarmAt)
}

// yieldEvery is half of the time slice that Go's scheduler gives a goroutine.
const yieldEvery = 5 * time.Millisecond

// yield calls the scheduler now and then. Without that, the scheduler takes the processor away in the middle of a wait,
// a hundred times a second, and monitors the goroutine at the cost of a tenth of the process's time. To yield before
// each wait would cost as much.
func (l *loop) yield() {
	if l.now.Sub(l.yielded) >= yieldEvery {
		l.yielded = l.now
		runtime.Gosched()
	}
}

func (l *loop) hasPosted() bool {
	l.posting.Lock()
	defer l.posting.Unlock()
	return len(l.posted) > 0
}

func (l *loop) runPosted() {
	l.posting.Lock()
	posted := l.posted
	l.posted = l.spare[:0]
	l.posting.Unlock()
	if len(posted) > 0 {
		l.now = load.Now()
	}
	for i, f := range posted {
		f()
		posted[i] = nil
	}
	l.spare = posted
}

// runTimers calls the alarm and expires requests. It reads the clock only if something may be due.
func (l *loop) runTimers() {
	coarse, waiting := l.wheel.next()
	if l.alarmAt == never && !waiting {
		return
	}
	now := load.Now()
	if now >= l.alarmAt {
		ring := l.alarm
		l.alarmAt, l.alarm = never, nil
		l.now = now
		ring()
	}
	if waiting && now >= coarse {
		l.now = now
		l.wheel.advance(now, (*Slot).expire)
	}
}

func (l *loop) flush() {
	// Flushing can lose a link, and its clients then make other links dirty.
	for i := 0; i < len(l.dirty); i++ {
		k := l.dirty[i]
		k.dirty = false
		k.flush()
	}
	clear(l.dirty)
	l.dirty = l.dirty[:0]
}
