package load

import (
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// recorder counts the outcomes of measured requests. It has one shard for each processor, because clients are too many
// to have a shard each. A client that finds its own shard locked moves on to the next, so that clients hardly ever wait
// for each other. A reader locks one shard after the other, for some microseconds.
type recorder struct {
	shards []shard
}

func newRecorder() *recorder {
	return &recorder{shards: make([]shard, runtime.GOMAXPROCS(0))}
}

// shard holds the counts of one processor.
type shard struct {
	// ended and failed count requests, those of the warm-up included. busy is how long clients were busy with requests,
	// in nanoseconds. They need no lock.
	ended, failed atomic.Uint64
	busy          atomic.Int64

	// mutex protects what follows. An atomic store of each figure would take longer.
	mutex sync.Mutex
	// last is when the last measured response arrived, and success when the last successful one did.
	last, success Instant
	counts        [spec.Operations]operationCounts
	// bunched counts the requests that left late, after the next one was due.
	bunched  uint64
	pauses   results.Pauses
	burst    results.Burst
	timeline results.Timeline
	heatmap  results.Heatmap
	// Padding: the next shard lies on other cache lines.
	_ [64]byte
}

// operationCounts is results.OperationResult while it grows. A histogram takes 41 KB from its first record on.
type operationCounts struct {
	// Service lacks the requests that waited for a free client, and Net is empty.
	results.OperationResult
	// serviceOfWaiting and netOfWaiting have the service time and the net latency of requests that waited.
	serviceOfWaiting, netOfWaiting results.Histogram
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
	defer s.mutex.Unlock()
	s.last = max(s.last, o.response.Received)
	if o.response.Succeeded() {
		s.success = max(s.success, o.response.Received)
	}
	index := operation.Index()
	if !isPart[index] || !o.response.Succeeded() {
		s.course(&o)
	}
	c := &s.counts[index]
	// Waiting is recorded for failures too: a request that is late in a bad moment is likely to fail.
	s.waited(c, &o)
	if !o.response.Succeeded() {
		c.fail(o.response.Code, o.response.Received-o.due, 1)
		if inner := s.unconditional(operation); inner != nil {
			inner.fail(o.response.Code, o.response.Received-o.response.Sent, 1)
		}
		c.Examples.Add(o.response.Code, o.response.Detail)
		return
	}
	c.Latency.Record(int64(o.response.Received - o.due))
	c.served(&o)
	if o.response.Lost {
		c.Lost++
	}
	c.Attempts += o.response.Attempts
	if o.inWindow {
		c.CompletedInWindow++
	}
	if o.response.InnerSince > 0 {
		s.inner(operation, &o)
	}
}

// course records when a request ended.
func (s *shard) course(o *requestOutcome) {
	ended, latency := o.response.Received.Sub(o.start), o.response.Received.Sub(o.due)
	s.timeline.Record(ended, latency, o.response.Succeeded())
	if o.response.Succeeded() {
		s.heatmap.Record(ended, latency)
	}
}

// bunchedAfter is how late a request must be to count as a part of a burst. A schedule can have arrivals that are closer
// than that.
const bunchedAfter = Instant(250 * time.Microsecond)

// waited records what a request waited for before it was sent: a free client, and then the generator.
func (s *shard) waited(c *operationCounts, o *requestOutcome) {
	lateness := o.response.Sent - o.ready
	c.Lateness.Record(int64(lateness))
	if lateness > bunchedAfter && o.response.Sent >= o.next {
		s.bunched++
	}
	if o.ready > o.due {
		c.Backlog.Record(int64(o.ready - o.due))
	}
}

// served records the service time and the net latency of a success.
func (c *operationCounts) served(o *requestOutcome) {
	service := o.response.Received - o.response.Sent
	if o.ready <= o.due {
		c.Service.Record(int64(service))
		return
	}
	c.serviceOfWaiting.Record(int64(service))
	c.netOfWaiting.Record(int64(o.ready - o.due + service))
}

// carry counts a success in the window for a request of shard n that was due before it. Nothing else of that request is
// measured.
func (r *recorder) carry(n int, operation spec.Operation) {
	s := r.lockShard(n)
	defer s.mutex.Unlock()
	s.counts[operation.Index()].CompletedInWindow++
}

// inner counts the inner operation of a request: how long what it acquired was free before, or the flush of its entry.
func (s *shard) inner(operation spec.Operation, o *requestOutcome) {
	inner := operation.Inner()
	if inner == "" {
		return
	}
	c := &s.counts[inner.Index()]
	c.Latency.Record(int64(o.response.Received - o.response.InnerSince))
	if o.inWindow {
		c.CompletedInWindow++
	}
}

// unconditional returns the counts of the inner operation that every request of an operation has; nil if there is none.
func (s *shard) unconditional(operation spec.Operation) *operationCounts {
	inner := operation.Inner()
	if !inner.IsUnconditional() {
		return nil
	}
	return &s.counts[inner.Index()]
}

// event counts the event of a measured put at a watcher of shard n. waited counts from when the put was due, delivery
// from its response.
func (r *recorder) event(n int, waited, delivery Instant, inWindow bool) {
	s := r.lockShard(n)
	defer s.mutex.Unlock()
	s.counts[watchEvent].arrive(waited, inWindow)
	s.counts[watchDelivery].arrive(delivery, inWindow)
}

// Facts about operations whose look-up takes longer than counting a request or an event.
var (
	watchEvent    = spec.OperationWatchEvent.Index()
	watchDelivery = spec.OperationWatchDelivery.Index()
	isPart        = func() (table [spec.Operations]bool) {
		for i, o := range spec.AllOperations() {
			table[i] = o.IsPart()
		}
		return table
	}()
)

func (c *operationCounts) arrive(waited Instant, inWindow bool) {
	c.Latency.Record(int64(waited))
	if inWindow {
		c.CompletedInWindow++
	}
}

// miss counts, in one step, events of one put that did not arrive.
func (r *recorder) miss(events uint64, waited, delivery Instant) {
	if events == 0 {
		return
	}
	s := r.lockShard(0)
	defer s.mutex.Unlock()
	s.counts[watchEvent].fail(results.ErrorMissed, waited, events)
	s.counts[watchDelivery].fail(results.ErrorMissed, delivery, events)
}

// censorEvents counts, in one step, events of one put whose wait was cut short.
func (r *recorder) censorEvents(events uint64, waited, delivery Instant) {
	if events == 0 {
		return
	}
	s := r.lockShard(0)
	defer s.mutex.Unlock()
	s.counts[watchEvent].Censored.RecordAlike(int64(waited), events)
	s.counts[watchDelivery].Censored.RecordAlike(int64(delivery), events)
}

// pause counts a pause of a client of shard n in the window that began at start.
func (r *recorder) pause(n int, start, from, to Instant) {
	if from = max(from, start); from >= to {
		return
	}
	s := r.lockShard(n)
	defer s.mutex.Unlock()
	s.pauses.Count++
	s.pauses.Total += time.Duration(to - from)
	s.timeline.Pause(from.Sub(start), to.Sub(start))
}

// pauses returns the sum of the pauses so far.
func (r *recorder) pauses() (sum results.Pauses) {
	r.read(func(s *shard) {
		sum.Count += s.pauses.Count
		sum.Total += s.pauses.Total
	})
	return sum
}

// occupied counts how long a request kept a client of shard n busy.
func (r *recorder) occupied(n int, busy Instant) {
	r.shards[n%len(r.shards)].busy.Add(int64(busy))
}

// bunched returns how many requests left in bursts.
func (r *recorder) bunched() (n uint64) {
	r.read(func(s *shard) { n += s.bunched })
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
	defer s.mutex.Unlock()
	c := &s.counts[operation.Index()]
	s.waited(c, &o)
	c.Censored.Record(int64(at - o.due))
	if inner := s.unconditional(operation); inner != nil {
		inner.Censored.Record(int64(at - o.response.Sent))
	}
	s.timeline.Await(o.due.Sub(o.start), at.Sub(o.start), 1)
}

// censor counts requests that were not sent before the run ended at an instant. The window began at start.
func (r *recorder) censor(requests uint64, operation spec.Operation, start, due, at Instant) {
	s := r.lockShard(0)
	defer s.mutex.Unlock()
	s.counts[operation.Index()].Censored.RecordAlike(int64(at-due), requests)
	// Nothing is known about the time of an inner operation that did not begin.
	if inner := s.unconditional(operation); inner != nil {
		inner.Censored.RecordAlike(0, requests)
	}
	s.timeline.Await(due.Sub(start), at.Sub(start), requests)
}

func (r *recorder) lockShard(n int) *shard {
	for i := range r.shards {
		if s := &r.shards[(n+i)%len(r.shards)]; s.mutex.TryLock() {
			return s
		}
	}
	s := &r.shards[n%len(r.shards)]
	s.mutex.Lock()
	return s
}

// fail counts failures with one code that all waited equally long.
func (c *operationCounts) fail(code string, waited Instant, failures uint64) {
	c.Failed.RecordAlike(int64(waited), failures)
	if c.Errors == nil {
		c.Errors = map[string]uint64{}
	}
	c.Errors[code] += failures
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

// read calls a function for each shard. Meanwhile the counts of the shard do not change.
func (r *recorder) read(each func(*shard)) {
	for i := range r.shards {
		s := &r.shards[i]
		s.mutex.Lock()
		each(s)
		s.mutex.Unlock()
	}
}

// last returns when the last measured response arrived; 0 if none did.
func (r *recorder) last() (last Instant) {
	r.read(func(s *shard) { last = max(last, s.last) })
	return last
}

// lastSuccess returns when the last successful measured response arrived; 0 if none did.
func (r *recorder) lastSuccess() (last Instant) {
	r.read(func(s *shard) { last = max(last, s.success) })
	return last
}

// hasCensored reports whether a request or an event was cut off or was not sent.
func (r *recorder) hasCensored() (found bool) {
	r.read(func(s *shard) {
		for operation := range s.counts {
			found = found || s.counts[operation].Censored.Count() > 0
		}
	})
	return found
}

// results returns the counts so far of an operation, over all shards.
func (r *recorder) results(operation spec.Operation) *results.OperationResult {
	sum := &results.OperationResult{Errors: map[string]uint64{}}
	var serviceOfWaiting, netOfWaiting results.Histogram
	r.read(func(s *shard) {
		c := &s.counts[operation.Index()]
		sum.Merge(&c.OperationResult)
		serviceOfWaiting.Merge(&c.serviceOfWaiting)
		netOfWaiting.Merge(&c.netOfWaiting)
	})
	// The net latency of a request that did not wait for a client is its service time.
	if netOfWaiting.Count() > 0 {
		sum.Net.Merge(&sum.Service)
		sum.Net.Merge(&netOfWaiting)
	}
	sum.Service.Merge(&serviceOfWaiting)
	return sum
}

// task counts a task of shard n that has ended.
func (r *recorder) task(n int, count func(*results.Burst)) {
	s := r.lockShard(n)
	defer s.mutex.Unlock()
	count(&s.burst)
}

// succeeded notes that a request of a task of shard n succeeded: the target answers, even if no task ends.
func (r *recorder) succeeded(n int, at Instant) {
	s := r.lockShard(n)
	defer s.mutex.Unlock()
	s.success = max(s.success, at)
}

// burst returns the counts of all tasks so far.
func (r *recorder) burst() (sum results.Burst) {
	r.read(func(s *shard) { sum.Add(&s.burst) })
	return sum
}

// course writes the merged timeline and heatmap into a snapshot.
func (r *recorder) course(snapshot *results.Snapshot) {
	r.read(func(s *shard) {
		snapshot.Timeline.Merge(&s.timeline)
		snapshot.Heatmap.Merge(&s.heatmap)
	})
}
