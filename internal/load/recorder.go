package load

import (
	"maps"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// recorder counts how measured requests ended. It has one shard for each
// processor: clients are goroutines, too many to have a shard each. A shard
// has one writer at a time, whoever holds it; a client that finds its own
// shard taken moves on to the next, so that nobody waits for a lock.
type recorder struct {
	shards []shard
}

func newRecorder() *recorder {
	return &recorder{shards: make([]shard, runtime.GOMAXPROCS(0))}
}

// shard is what one processor has counted. Readers need no hold of it.
type shard struct {
	writing sync.Mutex
	// last is when the last measured response came, as Instant.
	last   atomic.Int64
	counts [spec.Operations]operationCounts
	// ended and failed count requests, those of the warm-up too.
	ended, failed atomic.Uint64
	// timeline is for whoever holds writing.
	timeline results.Timeline
	// The next shard lies on other cache lines.
	_ [64]byte
}

// operationCounts is results.OperationResult while it grows. The recorders of
// what is rare are made when it first happens.
type operationCounts struct {
	latency, service, lateness, failed, censored lazyRecorder

	completed, lost, attempts atomic.Uint64

	errors sync.Map // of string to *atomic.Uint64
}

// requestOutcome is how one measured request ended.
type requestOutcome struct {
	// start of the measured window.
	start, due Instant
	response   *Response
	// scheduled: lateness means something, because a schedule set due.
	scheduled bool
	// inWindow: the response came before the window's end.
	inWindow bool
}

// record counts a request of shard n that was answered or failed.
func (r *recorder) record(n int, operation spec.Operation, o requestOutcome) {
	s := r.hold(n)
	defer s.writing.Unlock()
	if received := int64(o.response.Received); received > s.last.Load() {
		s.last.Store(received)
	}
	if !operation.IsPart() || !o.response.Succeeded() {
		s.timeline.Record(o.response.Received.Sub(o.start), o.response.Received.Sub(o.due), o.response.Succeeded())
	}
	c := &s.counts[operation.Index()]
	// However it ends: what is late in a bad moment is what fails in it.
	if o.scheduled {
		c.lateness.record(o.response.Sent - o.due)
	}
	if !o.response.Succeeded() {
		c.fail(o.response.Code, o.response.Received-o.due, 1)
		return
	}
	c.latency.record(o.response.Received - o.due)
	c.service.record(o.response.Received - o.response.Sent)
	if o.response.Lost {
		c.lost.Add(1)
	}
	c.attempts.Add(o.response.Attempts)
	if o.inWindow {
		c.completed.Add(1)
	}
	if handOff := operation.HandOff(); handOff != "" && o.response.Freed > 0 {
		s.counts[handOff.Index()].handedOff(o)
	}
}

// carry counts a success in the window of a request of shard n that was due
// before it, and of which nothing else is measured.
func (r *recorder) carry(n int, operation spec.Operation) {
	s := r.hold(n)
	defer s.writing.Unlock()
	s.counts[operation.Index()].completed.Add(1)
}

// handedOff counts how long what the request has won was nobody's.
func (c *operationCounts) handedOff(o requestOutcome) {
	c.latency.record(o.response.Received - o.response.Freed)
	if o.inWindow {
		c.completed.Add(1)
	}
}

// event counts the event of a measured put at a watcher of shard n: waited since
// the put was due, and delivery since it was answered.
func (r *recorder) event(n int, waited, delivery Instant, inWindow bool) {
	s := r.hold(n)
	defer s.writing.Unlock()
	s.counts[watchEvent].arrive(waited, inWindow)
	s.counts[watchDelivery].arrive(delivery, inWindow)
}

// The places of operations that are events: looking them up takes longer than
// counting one.
var (
	watchEvent    = spec.OperationWatchEvent.Index()
	watchDelivery = spec.OperationWatchDelivery.Index()
)

func (c *operationCounts) arrive(waited Instant, inWindow bool) {
	c.latency.record(waited)
	if inWindow {
		c.completed.Add(1)
	}
}

// miss counts events of one put that did not come, however many, in one step.
func (r *recorder) miss(events uint64, waited, delivery Instant) {
	if events == 0 {
		return
	}
	s := r.hold(0)
	defer s.writing.Unlock()
	s.counts[watchEvent].fail(results.ErrorMissed, waited, events)
	s.counts[watchDelivery].fail(results.ErrorMissed, delivery, events)
}

// censorEvents counts events of one put, however many, of which nobody knows
// whether they would have come, in one step.
func (r *recorder) censorEvents(events uint64, waited, delivery Instant) {
	if events == 0 {
		return
	}
	s := r.hold(0)
	defer s.writing.Unlock()
	s.counts[watchEvent].censored.recordAlike(waited, events)
	s.counts[watchDelivery].censored.recordAlike(delivery, events)
}

// cutOff counts a request of shard n that was sent and had no answer when the
// load was cut off, at an instant.
func (r *recorder) cutOff(n int, operation spec.Operation, o requestOutcome, at Instant) {
	s := r.hold(n)
	defer s.writing.Unlock()
	c := &s.counts[operation.Index()]
	if o.scheduled {
		c.lateness.record(o.response.Sent - o.due)
	}
	c.censored.record(at - o.due)
}

// censor counts requests that were not sent until the run ended, this long after
// they were due.
func (r *recorder) censor(requests uint64, operation spec.Operation, waited Instant) {
	s := r.hold(0)
	defer s.writing.Unlock()
	s.counts[operation.Index()].censored.recordAlike(waited, requests)
}

func (r *recorder) hold(n int) *shard {
	for i := range r.shards {
		if s := &r.shards[(n+i)%len(r.shards)]; s.writing.TryLock() {
			return s
		}
	}
	s := &r.shards[n%len(r.shards)]
	s.writing.Lock()
	return s
}

// fail counts failures of one code that all have waited this long.
func (c *operationCounts) fail(code string, waited Instant, failures uint64) {
	c.failed.recordAlike(waited, failures)
	n, ok := c.errors.Load(code)
	if !ok {
		n, _ = c.errors.LoadOrStore(code, new(atomic.Uint64))
	}
	n.(*atomic.Uint64).Add(failures)
}

// tally counts a request of shard n that has ended, measured or not.
func (r *recorder) tally(n int, succeeded bool) {
	s := &r.shards[n%len(r.shards)]
	s.ended.Add(1)
	if !succeeded {
		s.failed.Add(1)
	}
}

// tallied returns how many requests have ended, and how many of them failed.
func (r *recorder) tallied() (ended, failed uint64) {
	for i := range r.shards {
		// In this order, so that never more have failed than ended.
		failed += r.shards[i].failed.Load()
		ended += r.shards[i].ended.Load()
	}
	return ended, failed
}

// last returns when the last measured response came, 0 if none did.
func (r *recorder) last() Instant {
	var last int64
	for i := range r.shards {
		last = max(last, r.shards[i].last.Load())
	}
	return Instant(last)
}

// timeline returns what came when. It waits for the shards' writers.
func (r *recorder) timeline() (sum results.Timeline) {
	for i := range r.shards {
		r.shards[i].writing.Lock()
		sum.Merge(&r.shards[i].timeline)
		r.shards[i].writing.Unlock()
	}
	return sum
}

// results returns what all shards have counted so far of an operation.
func (r *recorder) results(operation spec.Operation) *results.OperationResult {
	sum := &results.OperationResult{Errors: map[string]uint64{}}
	for i := range r.shards {
		r.shards[i].counts[operation.Index()].addTo(sum)
	}
	return sum
}

func (c *operationCounts) addTo(sum *results.OperationResult) {
	// What came in the window, or was lost, is read before the histogram that
	// has it too, so that it never is the greater number.
	sum.CompletedInWindow += c.completed.Load()
	sum.Lost += c.lost.Load()
	c.latency.addTo(&sum.Latency)
	c.service.addTo(&sum.Service)
	c.lateness.addTo(&sum.Lateness)
	// Each success has an attempt: these are read after the histogram.
	sum.Attempts += c.attempts.Load()
	c.failed.addTo(&sum.Failed)
	c.censored.addTo(&sum.Censored)
	c.errors.Range(func(code, n any) bool {
		sum.Errors[code.(string)] += n.(*atomic.Uint64).Load()
		return true
	})
	maps.DeleteFunc(sum.Errors, func(_ string, n uint64) bool { return n == 0 })
}

// lazyRecorder is a results.Recorder that takes no memory before its first
// record.
type lazyRecorder struct {
	made atomic.Pointer[results.Recorder]
}

func (l *lazyRecorder) record(waited Instant) { l.recordAlike(waited, 1) }

func (l *lazyRecorder) recordAlike(waited Instant, n uint64) {
	made := l.made.Load()
	if made == nil {
		made = new(results.Recorder)
		l.made.Store(made)
	}
	made.RecordAlike(int64(waited), n)
}

func (l *lazyRecorder) addTo(h *results.Histogram) {
	if made := l.made.Load(); made != nil {
		made.AddTo(h)
	}
}
