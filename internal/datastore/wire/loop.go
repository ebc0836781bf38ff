package wire

import (
	"math"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/wire/buffer"
	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
)

// never is later than every instant.
const never load.Instant = math.MaxInt64

// readBufferLen is how much a loop reads at once, in bytes: of one connection,
// and of no more than a few frames.
const readBufferLen = 128 << 10

// MaxPartial is the longest beginning of a message that a link keeps, in bytes: what
// is read next has to fit behind it. A session takes longer messages in parts.
const MaxPartial = readBufferLen - sealedLen

// loop serves some of the connections. Its fields belong to its goroutine, but
// for the posted ones.
type loop struct {
	poller poller
	index  int
	pool   *buffer.Pool
	wheel  *wheel
	// now is the clock when the loop last read something.
	now load.Instant
	// yielded is when the loop last let others run.
	yielded load.Instant
	ready   []*Link
	// unread are the links that have been read enough for now. The next turn goes
	// on with them.
	unread []*Link
	// dirty are the links that may have something to write.
	dirty  []*Link
	buffer []byte
	// sealed is where TLS reads what is encrypted; nil if there is none.
	sealed []byte
	closed bool

	alarmAt load.Instant
	alarm   func()

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

// Post implements load.Loop. What is posted to a closed loop is never called.
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

// Exact implements load.Loop.
func (l *loop) Exact() bool { return l.poller.exact() }

// turnsAtMost is after how many turns requests leave although each found
// something to read: a server that always sends must not hold up the others. With
// servers that are well it is two or three turns, and ten are rare.
const turnsAtMost = 64

// run turns until the loop is closed. Requests leave when a look at the
// connections finds nothing to read, so that what becomes ready together
// leaves together. They also leave when that moment does not come.
func (l *loop) run() {
	defer l.end()
	for turns := 1; !l.closed; turns++ {
		l.ready = l.wait()
		for _, k := range l.ready {
			k.serve()
		}
		l.runPosted()
		l.runTimers()
		if len(l.ready) == 0 || len(l.unread) > 0 || turns >= turnsAtMost {
			l.flush()
			turns = 0
		}
	}
}

// end closes the poller, of which nobody that posts can be in the middle of
// waking it.
func (l *loop) end() {
	l.posting.Lock()
	defer l.posting.Unlock()
	l.poller.close()
	close(l.done)
}

// wait returns the links that are ready. It waits for some unless there is
// something else to do.
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
	return l.poller.wait(l.ready[:0], coarse, l.alarmAt)
}

// yieldEvery is half of how long Go's scheduler lets a goroutine run.
const yieldEvery = 5 * time.Millisecond

// yield lets the scheduler see that this goroutine does not hog its processor.
// Else it takes that away in the middle of a wait, a hundred times a second, and
// watches so closely in between that the watching takes a tenth of the process's
// time. To yield before each wait would cost as much.
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

// runTimers rings the alarm and expires requests. It reads the clock only when
// something may be due.
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
		l.wheel.advance(now, (*Lane).expire)
	}
}

func (l *loop) flush() {
	// Flushing may lose a link, whose clients then make others dirty.
	for i := 0; i < len(l.dirty); i++ {
		k := l.dirty[i]
		k.dirty = false
		k.flush()
	}
	clear(l.dirty)
	l.dirty = l.dirty[:0]
}
