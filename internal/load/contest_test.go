package load

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
	"github.com/etcdbench/etcd-benchmark-operator/internal/workload"
)

func contestOf(holdMilliseconds int32) func(*plan.Plan) {
	return func(p *plan.Plan) {
		p.Workload = spec.Workload{Type: spec.WorkloadLock, Lock: &spec.Lock{Names: 4, HoldMilliseconds: holdMilliseconds}}
		p.FirstLease, p.Load.Requests = workload.LeaseIDs, new(int64(200))
	}
}

// A client holds a lock for as long as the plan says, and then releases it.
func TestALockIsHeldAndReleased(t *testing.T) {
	const hold = 20 * time.Millisecond
	var mutex sync.Mutex
	held := map[*Response]Instant{}
	var tooSoon atomic.Int64
	d := &fakeDriver{answer: func(_ context.Context, req *Request, resp *Response) {
		mutex.Lock()
		defer mutex.Unlock()
		// Each client has a response of its own.
		switch req.Operation {
		case spec.OperationLockAcquire:
			held[resp] = Now()
		case spec.OperationLockRelease:
			if won, ok := held[resp]; !ok || resp.Sent.Sub(won) < hold {
				tooSoon.Add(1)
			}
			delete(held, resp)
		}
	}}
	s := run(t, planOf(contestOf(20)), d)
	acquired, released := s.Operations[spec.OperationLockAcquire], s.Operations[spec.OperationLockRelease]
	if acquired.Latency.Count() != 200 || released.Latency.Count() != 200 || len(held) > 0 || tooSoon.Load() > 0 {
		t.Errorf("%d acquired, %d released, %d of them before their time, %d still held; wanted 200, none early, none held",
			acquired.Latency.Count(), released.Latency.Count(), tooSoon.Load(), len(held))
	}
	if m, _ := released.Latency.Quantile(0.5); m >= hold {
		t.Errorf("half of the releases took %v: the hold must not count", m)
	}
	sum := results.Summarize([]*results.Snapshot{s})
	if sum.Succeeded != 200 || sum.Failed != 0 {
		t.Errorf("%d requests succeeded, %d failed, wanted 200: a release must not count as a request", sum.Succeeded, sum.Failed)
	}
	var points uint64
	for _, p := range s.Timeline.Points {
		points += p.Succeeded
	}
	if points != 200 {
		t.Errorf("the timeline has %d successes, wanted 200", points)
	}
}

// A client that failed to acquire releases nothing. A release that fails is a failure of the run.
func TestFailuresToAcquireAndToReleaseAreCounted(t *testing.T) {
	for name, tc := range map[string]struct {
		fails                           spec.Operation
		succeeded, failed, wantReleases uint64
	}{
		"the first":  {spec.OperationLockAcquire, 0, 200, 0},
		"the second": {spec.OperationLockRelease, 200, 200, 200},
	} {
		t.Run(name, func(t *testing.T) {
			d := &fakeDriver{answer: func(_ context.Context, req *Request, resp *Response) {
				if req.Operation == tc.fails {
					resp.Code = CodeDeadlineExceeded
				}
			}}
			s := run(t, planOf(contestOf(0)), d)
			sum := results.Summarize([]*results.Snapshot{s})
			if sum.Succeeded != tc.succeeded || sum.Failed != tc.failed {
				t.Errorf("%d succeeded, %d failed, wanted %d and %d", sum.Succeeded, sum.Failed, tc.succeeded, tc.failed)
			}
			releases := s.Requests[spec.RPC(spec.OperationLockRelease)][results.PhaseMeasured]
			if got := s.Operations[tc.fails].Errors[CodeDeadlineExceeded]; got != 200 || releases != tc.wantReleases {
				t.Errorf("%d errors of %s, %d releases; wanted 200 and %d", got, tc.fails, releases, tc.wantReleases)
			}
		})
	}
}

// The time between one client's release and the next client's acquisition is counted if it is known.
func TestHandOffsAreCountedWhereTheyAreKnown(t *testing.T) {
	const lag = 3 * time.Millisecond
	var n atomic.Int64
	d := &fakeDriver{answer: func(_ context.Context, req *Request, resp *Response) {
		if req.Operation == spec.OperationLockAcquire && n.Add(1)%4 == 0 {
			resp.InnerSince = Now().Add(-lag)
		}
	}}
	s := run(t, planOf(contestOf(0)), d)
	h := s.Operations[spec.OperationLockHandOff]
	if h.Latency.Count() != 50 || h.CompletedInWindow != 50 || h.Latency.Min() < lag || h.Service.Count() != 0 {
		t.Errorf("%d hand-offs of at least %v, wanted 50 of %v", h.Latency.Count(), h.Latency.Min(), lag)
	}
}

// If the load is cut off while a client holds a lock, the client releases it at once.
func TestALockIsReleasedWhenTheLoadIsCutOff(t *testing.T) {
	p := planOf(contestOf(3_600_000))
	part, err := p.Part(0)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cut := context.WithCancel(WithPhase(t.Context(), results.PhaseMeasured))
	d := &fakeDriver{answer: func(context.Context, *Request, *Response) { cut() }}
	w := workload.New(p.Run)
	c := newClient(0, &fakeConn{d}, w, p, always())
	e := newEngine(p, w, []*client{c}, newRecorder(), always())
	e.prepare(part, Now())
	defer e.close()
	e.send(ctx, c, e.measured, 0, dueAt(Now()))
	if n := d.Requests()[spec.RPC(spec.OperationLockRelease)][results.PhaseMeasured]; n != 1 {
		t.Errorf("%d locks were released, wanted 1", n)
	}
}

// cleaningConn fails the first request and cleans up after it for a while.
type cleaningConn struct {
	failed  bool
	cleanUp func(context.Context, *Request, *Response)
}

func (c *cleaningConn) Do(ctx context.Context, req *Request, resp *Response) {
	*resp = Response{Sent: Now(), Received: Now()}
	if c.failed {
		return
	}
	c.failed = true
	resp.Code = CodeDeadlineExceeded
	c.cleanUp(ctx, req, &Response{})
	resp.Cleared = Now()
}

// The clean-up after a failed request is not counted as latency of the target, nor as part of the next request.
func TestACleanUpIsNotPartOfTheNextRequest(t *testing.T) {
	const cleanUp = 300 * time.Millisecond
	e, c := benchEngine(t)
	c.conn = &cleaningConn{cleanUp: answerAfter(cleanUp)}
	e.measured.limit = 2
	e.closedLoop(WithPhase(t.Context(), results.PhaseMeasured), c, e.measured, Now())
	var latency results.Histogram
	for _, operation := range []spec.Operation{spec.OperationPut, spec.OperationRange} {
		latency.Merge(&e.recorder.results(operation).Latency)
	}
	if latency.Count() != 1 || latency.Max() >= cleanUp {
		t.Errorf("%d requests succeeded, in %v at most; wanted one, without the clean-up of %v before it", latency.Count(), latency.Max(), cleanUp)
	}
}
