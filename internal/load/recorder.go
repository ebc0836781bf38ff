package load

import (
	"maps"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// recorder counts the outcomes of measured requests. It has one shard for each processor, because clients are too many
// to have a shard each. A shard has one writer at a time. A client that finds its own shard locked moves on to the
// next, so that clients do not wait for locks.
type recorder struct {
	shards []shard
}

func newRecorder() *recorder {
	return &recorder{shards: make([]shard, runtime.GOMAXPROCS(0))}
}

// shard holds the counts of one processor. Readers need no lock.
type shard struct {
	writing sync.Mutex
	// last is when the last measured response arrived, and success when the last successful one did, as Instant.
	last, success atomic.Int64
	counts        [spec.Operations]operationCounts
	// ended and failed count requests, those of the warm-up included.
	ended, failed atomic.Uint64
	// bunched counts the requests that left late, after the next one was due. busy is how long clients were busy with
	// requests, in nanoseconds.
	bunched atomic.Uint64
	busy    atomic.Int64
	// pauses and paused count the pauses of clients and their total, in nanoseconds.
	pauses atomic.Uint64
	paused atomic.Int64
	// timeline and heatmap are protected by writing.
	timeline results.Timeline
	heatmap  results.Heatmap
	// Padding: the next shard lies on other cache lines.
	_ [64]byte
}

// operationCounts is results.OperationResult while it grows. Recorders of rare events are created on first use.
type operationCounts struct {
	latency, lateness, failed, censored lazyRecorder
	// service has the service time of the requests that did not wait for a free client. Those that did have theirs in
	// serviceOfWaiting, their net latency in net, and their wait in backlog.
	service, serviceOfWaiting, net, backlog lazyRecorder

	completed, lost, attempts atomic.Uint64

	errors sync.Map // of string to *atomic.Uint64
}

// requestOutcome is the outcome of one measured request.
type requestOutcome struct {
	// start of the measured window.
	start Instant
	requestTime
	response *Response
	// inWindow: the response arrived before the window's end.
	inWindow bool
}

// record counts a request of shard n that succeeded or failed.
func (r *recorder) record(n int, operation spec.Operation, o requestOutcome) {
	s := r.lockShard(n)
	defer s.writing.Unlock()
	if received := int64(o.response.Received); received > s.last.Load() {
		s.last.Store(received)
	}
	if received := int64(o.response.Received); o.response.Succeeded() && received > s.success.Load() {
		s.success.Store(received)
	}
	if !operation.IsPart() || !o.response.Succeeded() {
		s.course(o)
	}
	c := &s.counts[operation.Index()]
	// Waiting is recorded for failures too: a request that is late in a bad moment is likely to fail.
	s.waited(c, o)
	if !o.response.Succeeded() {
		c.fail(o.response.Code, o.response.Received-o.due, 1)
		return
	}
	c.latency.record(o.response.Received - o.due)
	c.served(o)
	if o.response.Lost {
		c.lost.Add(1)
	}
	if o.response.Attempts > 0 {
		c.attempts.Add(o.response.Attempts)
	}
	if o.inWindow {
		c.completed.Add(1)
	}
	if o.response.Freed > 0 {
		s.handedOff(operation, o)
	}
}

// bunchedAfter is how late a request must be to count as a part of a burst. A schedule can have arrivals that are closer
// than that.
const bunchedAfter = Instant(250 * time.Microsecond)

// waited records what a request waited for before it was sent: a free client, and then the generator.
func (s *shard) waited(c *operationCounts, o requestOutcome) {
	lateness := o.response.Sent - o.ready
	c.lateness.record(lateness)
	if lateness > bunchedAfter && o.response.Sent >= o.next {
		s.bunched.Add(1)
	}
	if o.ready > o.due {
		c.backlog.record(o.ready - o.due)
	}
}

// served records the service time and the net latency of a success.
func (c *operationCounts) served(o requestOutcome) {
	service := o.response.Received - o.response.Sent
	if o.ready <= o.due {
		c.service.record(service)
		return
	}
	c.serviceOfWaiting.record(service)
	c.net.record(o.ready - o.due + service)
}

// carry counts a success in the window for a request of shard n that was due before it. Nothing else of that request is
// measured.
func (r *recorder) carry(n int, operation spec.Operation) {
	s := r.lockShard(n)
	defer s.writing.Unlock()
	s.counts[operation.Index()].completed.Add(1)
}

// handedOff counts how long the lock or leadership that the request acquired was free before.
func (s *shard) handedOff(operation spec.Operation, o requestOutcome) {
	handOff := operation.HandOff()
	if handOff == "" {
		return
	}
	c := &s.counts[handOff.Index()]
	c.latency.record(o.response.Received - o.response.Freed)
	if o.inWindow {
		c.completed.Add(1)
	}
}

// event counts the event of a measured put at a watcher of shard n. waited counts from when the put was due, delivery
// from its response.
func (r *recorder) event(n int, waited, delivery Instant, inWindow bool) {
	s := r.lockShard(n)
	defer s.writing.Unlock()
	s.counts[watchEvent].arrive(waited, inWindow)
	s.counts[watchDelivery].arrive(delivery, inWindow)
}

// Indices of the operations that are events. A look-up takes longer than counting an event.
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

// miss counts, in one step, events of one put that did not arrive.
func (r *recorder) miss(events uint64, waited, delivery Instant) {
	if events == 0 {
		return
	}
	s := r.lockShard(0)
	defer s.writing.Unlock()
	s.counts[watchEvent].fail(results.ErrorMissed, waited, events)
	s.counts[watchDelivery].fail(results.ErrorMissed, delivery, events)
}

// censorEvents counts, in one step, events of one put whose wait was cut short.
func (r *recorder) censorEvents(events uint64, waited, delivery Instant) {
	if events == 0 {
		return
	}
	s := r.lockShard(0)
	defer s.writing.Unlock()
	s.counts[watchEvent].censored.recordAlike(waited, events)
	s.counts[watchDelivery].censored.recordAlike(delivery, events)
}

// pause counts a pause of a client of shard n in the window that began at start.
func (r *recorder) pause(n int, start, from, to Instant) {
	if from = max(from, start); from >= to {
		return
	}
	s := r.lockShard(n)
	defer s.writing.Unlock()
	s.pauses.Add(1)
	s.paused.Add(int64(to - from))
	s.timeline.Pause(from.Sub(start), to.Sub(start))
}

// pauses returns the sum of the pauses so far.
func (r *recorder) pauses() (sum results.Pauses) {
	for i := range r.shards {
		sum.Count += r.shards[i].pauses.Load()
		sum.Total += time.Duration(r.shards[i].paused.Load())
	}
	return sum
}

// occupied counts how long a request kept a client of shard n busy.
func (r *recorder) occupied(n int, busy Instant) {
	r.shards[n%len(r.shards)].busy.Add(int64(busy))
}

// bunched returns how many requests left in bursts.
func (r *recorder) bunched() (n uint64) {
	for i := range r.shards {
		n += r.shards[i].bunched.Load()
	}
	return n
}

// busy returns how long clients were busy with requests, added up.
func (r *recorder) busy() (sum time.Duration) {
	for i := range r.shards {
		sum += time.Duration(r.shards[i].busy.Load())
	}
	return sum
}

// cutOff counts a request of shard n that was in flight when the load was cut off, at an instant.
func (r *recorder) cutOff(n int, operation spec.Operation, o requestOutcome, at Instant) {
	s := r.lockShard(n)
	defer s.writing.Unlock()
	c := &s.counts[operation.Index()]
	s.waited(c, o)
	c.censored.record(at - o.due)
	s.timeline.Await(o.due.Sub(o.start), at.Sub(o.start), 1)
}

// censor counts requests that were not sent before the run ended at an instant. The window began at start.
func (r *recorder) censor(requests uint64, operation spec.Operation, start, due, at Instant) {
	s := r.lockShard(0)
	defer s.writing.Unlock()
	s.counts[operation.Index()].censored.recordAlike(at-due, requests)
	s.timeline.Await(due.Sub(start), at.Sub(start), requests)
}

func (r *recorder) lockShard(n int) *shard {
	for i := range r.shards {
		if s := &r.shards[(n+i)%len(r.shards)]; s.writing.TryLock() {
			return s
		}
	}
	s := &r.shards[n%len(r.shards)]
	s.writing.Lock()
	return s
}

// fail counts failures with one code that all waited equally long.
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
		// The order keeps failed at most ended.
		failed += r.shards[i].failed.Load()
		ended += r.shards[i].ended.Load()
	}
	return ended, failed
}

// last returns when the last measured response arrived; 0 if none did.
func (r *recorder) last() Instant {
	var last int64
	for i := range r.shards {
		last = max(last, r.shards[i].last.Load())
	}
	return Instant(last)
}

// lastSuccess returns when the last successful measured response arrived; 0 if none did.
func (r *recorder) lastSuccess() Instant {
	var last int64
	for i := range r.shards {
		last = max(last, r.shards[i].success.Load())
	}
	return Instant(last)
}

// hasCensored reports whether a request or an event was cut off or was not sent.
func (r *recorder) hasCensored() bool {
	for i := range r.shards {
		for operation := range r.shards[i].counts {
			if r.shards[i].counts[operation].censored.count() > 0 {
				return true
			}
		}
	}
	return false
}

// results returns the counts so far of an operation, over all shards.
func (r *recorder) results(operation spec.Operation) *results.OperationResult {
	sum := &results.OperationResult{Errors: map[string]uint64{}}
	waited := false
	for i := range r.shards {
		c := &r.shards[i].counts[operation.Index()]
		c.addTo(sum)
		waited = waited || c.net.made.Load() != nil
	}
	if waited {
		r.addNet(operation, &sum.Net)
	}
	return sum
}

// addNet adds the net latencies of an operation. That of a request which did not wait for a client is its service time.
func (r *recorder) addNet(operation spec.Operation, net *results.Histogram) {
	for i := range r.shards {
		c := &r.shards[i].counts[operation.Index()]
		c.service.addTo(net)
		c.net.addTo(net)
	}
}

func (c *operationCounts) addTo(sum *results.OperationResult) {
	// Completed and lost are read before the histogram that includes them, so that they are never greater.
	sum.CompletedInWindow += c.completed.Load()
	sum.Lost += c.lost.Load()
	c.latency.addTo(&sum.Latency)
	c.service.addTo(&sum.Service)
	c.serviceOfWaiting.addTo(&sum.Service)
	c.lateness.addTo(&sum.Lateness)
	c.backlog.addTo(&sum.Backlog)
	// Each success has at least one attempt, so attempts are read after the histogram.
	sum.Attempts += c.attempts.Load()
	c.failed.addTo(&sum.Failed)
	c.censored.addTo(&sum.Censored)
	c.errors.Range(func(code, n any) bool {
		sum.Errors[code.(string)] += n.(*atomic.Uint64).Load()
		return true
	})
	maps.DeleteFunc(sum.Errors, func(_ string, n uint64) bool { return n == 0 })
}

// lazyRecorder is a results.Recorder that uses no memory before its first record.
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

// count is how many durations were recorded.
func (l *lazyRecorder) count() uint64 {
	var h results.Histogram
	l.addTo(&h)
	return h.Count()
}

func (l *lazyRecorder) addTo(h *results.Histogram) {
	if made := l.made.Load(); made != nil {
		made.AddTo(h)
	}
}
