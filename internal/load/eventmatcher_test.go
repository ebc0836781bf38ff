package load

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
	"github.com/etcdbench/etcd-benchmark-operator/internal/workload"
)

// watchedPlan is a plan of the workload Watch.
func watchedPlan(changes ...func(*plan.Plan)) plan.Plan {
	p := planOf(func(p *plan.Plan) {
		p.Workload = spec.Workload{Type: spec.WorkloadWatch, Watch: &spec.Watch{
			Streams: 2, WatchersPerStream: 3, Scope: spec.WatchScopeAllKeys, Keys: fewKeys(), Values: spec.Values{Content: spec.ContentRandom, SizeDistribution: spec.SizesUniform, SizeBytes: 16},
		}}
	})
	for _, change := range changes {
		change(&p)
	}
	return p
}

// bookkeeping is a matcher with two watchers of all keys and one of key 7.
func bookkeeping(t *testing.T) *eventMatcher {
	t.Helper()
	l := newEventMatcher(3, newRecorder())
	l.inWindow = func(at Instant) bool { return at < 1000 }
	l.open(0)
	l.open(0)
	l.open(7)
	return l
}

// valueOf is the value that a pod puts with operation n of a stream.
func valueOf(stream workload.Stream, pod int, n int64) []byte {
	w := workload.New(watchedPlan().Run)
	return w.AppendMarked(nil, workload.Operation{Stream: stream, Value: n}, pod)
}

func timesOf(l *eventMatcher, operation spec.Operation) []time.Duration {
	r := l.recorder.results(operation)
	return []time.Duration{time.Duration(r.Latency.Count()), r.Latency.Min(), r.Latency.Max()}
}

func TestEventsAreTimedFromBothEnds(t *testing.T) {
	l := bookkeeping(t)
	value := valueOf(workload.Measured, 3, 5)
	l.announce(7, 5, 100)
	// The first event arrives before the response, two arrive after it.
	l.Event(0, 180, value)
	l.settle(7, 5, &Response{Received: 200})
	l.Event(1, 260, value)
	l.Event(2, 1300, value)
	if diff := cmp.Diff([]time.Duration{3, 80, 1200}, timesOf(l, spec.OperationWatchEvent)); diff != "" {
		t.Errorf("count, least and greatest from when it was due (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]time.Duration{3, 0, 1100}, timesOf(l, spec.OperationWatchDelivery)); diff != "" {
		t.Errorf("count, least and greatest from the answer (-want +got):\n%s", diff)
	}
	if got := l.recorder.results(spec.OperationWatchEvent).CompletedInWindow; got != 2 {
		t.Errorf("%d events came in the window, wanted 2", got)
	}
	if !l.await(t.Context(), time.Minute) {
		t.Error("await still waits although all events have arrived")
	}
	l.close(true)
	if want := (results.Watch{Watchers: 3, Expected: 3}); l.results() != want {
		t.Errorf("got %+v, wanted %+v", l.results(), want)
	}
}

func TestOnlyOwnMeasuredPutsAreTimed(t *testing.T) {
	l := bookkeeping(t)
	l.announce(1, 5, 100)
	for _, value := range [][]byte{
		valueOf(workload.Measured, 2, 5), valueOf(workload.Warmup, 3, 5), valueOf(0, 3, 5), valueOf(workload.Measured, 3, 6), []byte("short"), nil,
	} {
		l.Event(0, 150, value)
	}
	l.settle(1, 5, &Response{Received: 200})
	if got := l.recorder.results(spec.OperationWatchEvent).Latency.Count(); got != 0 {
		t.Errorf("%d events of other puts were timed", got)
	}
}

// A put that lost to another client changed nothing.
func TestEventsOfALostPutAreNotExpected(t *testing.T) {
	l := bookkeeping(t)
	l.announce(1, 5, 100)
	l.settle(1, 5, &Response{Received: 200, Lost: true})
	// The same holds for a lost put that was not tracked.
	l.settle(1, 6, &Response{Received: 200, Lost: true})
	if want := (results.Watch{Watchers: 3}); l.results() != want || l.outstanding.Load() != 0 {
		t.Errorf("got %+v, and %d events are waited for, wanted %+v", l.results(), l.outstanding.Load(), want)
	}
}

// Events of a failed put, if there are any, are not expected.
func TestEventsOfAFailedPutAreNotExpected(t *testing.T) {
	l := bookkeeping(t)
	value := valueOf(workload.Measured, 3, 5)
	l.announce(1, 5, 100)
	l.Event(0, 150, value)
	l.settle(1, 5, &Response{Received: 200, Code: CodeDeadlineExceeded})
	l.Event(1, 250, value)
	l.close(l.await(t.Context(), time.Minute))
	if want := (results.Watch{Watchers: 3}); l.results() != want {
		t.Errorf("got %+v, wanted %+v", l.results(), want)
	}
	if got := l.recorder.results(spec.OperationWatchEvent).Latency.Count(); got != 0 {
		t.Errorf("%d events were timed", got)
	}
}

func TestEventsThatDoNotComeAreMissedOnlyIfTheyHadTime(t *testing.T) {
	interrupted, cancel := context.WithCancel(t.Context())
	cancel()
	tests := map[string]struct {
		ctx              context.Context
		limit            time.Duration
		missed, censored uint64
	}{
		"had their time": {t.Context(), time.Millisecond, 2, 0},
		"were cut off":   {interrupted, time.Minute, 0, 2},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			l := bookkeeping(t)
			l.announce(7, 5, 100)
			l.settle(7, 5, &Response{Received: 200})
			l.Event(0, 250, valueOf(workload.Measured, 3, 5))
			l.close(l.await(tc.ctx, tc.limit))
			event := l.recorder.results(spec.OperationWatchEvent)
			if l.results().Missed != tc.missed || event.Errors[results.ErrorMissed] != tc.missed || event.Failed.Count() != tc.missed || event.Censored.Count() != tc.censored {
				t.Errorf("%d missed, errors %v, %d censored", l.results().Missed, event.Errors, event.Censored.Count())
			}
			// Later events are ignored.
			l.Event(1, 300, valueOf(workload.Measured, 3, 5))
			l.Cancelled()
			if l.recorder.results(spec.OperationWatchEvent).Latency.Count() != 1 || l.results().Cancelled != 0 {
				t.Error("the closed matcher still counts")
			}
		})
	}
}

// Hung watchers must not exhaust the pod's memory.
func TestTheEventMatcherIsBounded(t *testing.T) {
	l := newEventMatcher(0, newRecorder())
	l.open(0)
	const puts = 2 * matcherPages * pageLimit
	// The numbers are those of one of 32 pods.
	for n := int64(7); n < 32*puts; n += 32 {
		l.announce(1, n, 1)
		l.settle(1, n, &Response{Received: 2})
	}
	if got := l.outstanding.Load(); got != matcherPages*pageLimit {
		t.Errorf("%d events are waited for, wanted %d", got, matcherPages*pageLimit)
	}
	if want := (results.Watch{Watchers: 1, Expected: puts, Missed: puts / 2}); l.results() != want {
		t.Errorf("got %+v, wanted %+v", l.results(), want)
	}
}

// Too many to count one by one.
const crowd = 1 << 40

func TestManyMissedEventsAreCountedAtOnce(t *testing.T) {
	tests := map[string]struct {
		hadTime                    bool
		expected, missed, censored uint64
	}{
		"had their time": {true, 2 * crowd, 2 * crowd, 0},
		"were cut off":   {false, 2 * crowd, crowd, crowd},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			l := newEventMatcher(0, newRecorder())
			l.everywhere = crowd
			l.announce(1, 1, 100)
			l.settle(1, 1, &Response{Received: 200})
			// This put is not tracked: the page is full.
			l.settle(1, 2, &Response{Received: 200})
			l.close(tc.hadTime)
			if want := (results.Watch{Expected: tc.expected, Missed: tc.missed}); l.results() != want {
				t.Errorf("got %+v, wanted %+v", l.results(), want)
			}
			for _, operation := range []spec.Operation{spec.OperationWatchEvent, spec.OperationWatchDelivery} {
				o := l.recorder.results(operation)
				if o.Failed.Count() != tc.missed || o.Errors[results.ErrorMissed] != tc.missed || o.Censored.Count() != tc.censored {
					t.Errorf("%s: %d failed, errors %v, %d censored", operation, o.Failed.Count(), o.Errors, o.Censored.Count())
				}
			}
		})
	}
}

// Watchers that receive events before the response must not hold memory for ever, whether or not other watchers of the
// same put hang.
func TestEarlyEventsAreNotKept(t *testing.T) {
	const watchers = 100 * earlyKept
	for name, hang := range map[string]int{"all came": 0, "one hangs": 1} {
		t.Run(name, func(t *testing.T) {
			l := newEventMatcher(3, newRecorder())
			l.inWindow = func(Instant) bool { return true }
			l.everywhere = watchers + hang
			for n := range int64(4) {
				value := valueOf(workload.Measured, 3, n)
				l.announce(1, n, 100)
				for w := range watchers {
					l.Event(w, 150, value)
				}
				l.settle(1, n, &Response{Received: 200})
			}
			if got := timesOf(l, spec.OperationWatchEvent)[0]; got != 4*watchers {
				t.Errorf("%d events were timed, wanted %d", got, 4*watchers)
			}
			if got := roomForEarly(l); got > earlyKept {
				t.Errorf("there is room for %d early events, wanted at most %d", got, earlyKept)
			}
		})
	}
}

// roomForEarly is how many early events the matcher's reusable buffers have room for.
func roomForEarly(l *eventMatcher) (room int) {
	for i := range l.pages {
		for _, put := range l.pages[i].puts {
			room += cap(put.early)
		}
		for _, put := range l.pages[i].free {
			room += cap(put.early)
		}
		for _, early := range l.pages[i].buffers {
			room += cap(early)
		}
	}
	return room
}

func TestTheEventMatcherAllocatesNothingInTheSteadyState(t *testing.T) {
	l := bookkeeping(t)
	w, value := workload.New(watchedPlan().Run), []byte(nil)
	n := int64(0)
	cycle := func() {
		n++
		value = w.AppendMarked(value[:0], workload.Operation{Stream: workload.Measured, Value: n}, 3)
		l.announce(7, n, 100)
		l.Event(0, 150, value)
		l.settle(7, n, &Response{Received: 200})
		l.Event(1, 250, value)
		l.Event(2, 251, value)
	}
	for range 1000 {
		cycle()
	}
	if got := testing.AllocsPerRun(1000, cycle); got > 0 {
		t.Errorf("a put with three events allocates %v times", got)
	}
}
