package load

import (
	"context"
	"testing"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// An entry that was not written has no flush that can be measured: its flush ranks like its request. A lock that was not won
// has no hand-off.
func TestTheFlushesOfEntriesWithoutSuccess(t *testing.T) {
	r := newRecorder()
	record := func(operation spec.Operation, resp Response) {
		r.record(0, operation, requestOutcome{start: 1, requestTime: dueAt(2), response: &resp, inWindow: true})
	}
	const second = Instant(time.Second)
	record(spec.OperationAppend, Response{Sent: 3, InnerSince: 4, Received: 5})
	record(spec.OperationAppend, Response{Sent: 3, Received: 5, Code: "ResourceExhausted"})
	r.cutOff(0, spec.OperationAppend, requestOutcome{start: 1, requestTime: dueAt(2), response: &Response{Sent: second}}, 3*second)
	r.censor(5, spec.OperationAppend, 1, 2, second)
	record(spec.OperationLockAcquire, Response{Sent: 3, Received: 5, Code: CodeDeadlineExceeded})

	got := r.results(spec.OperationFlush)
	if got.Latency.Count() != 1 || got.Failed.Count() != 1 || got.Errors["ResourceExhausted"] != 1 || got.Censored.Count() != 6 || got.Censored.Max() != 2*time.Second || got.Censored.Min() != 0 {
		t.Errorf("got %d flushes, %d failed (%v), %d unanswered for up to %s; wanted 1, 1, 6, and 2s",
			got.Latency.Count(), got.Failed.Count(), got.Errors, got.Censored.Count(), got.Censored.Max())
	}
	if h := r.results(spec.OperationLockHandOff); h.Failed.Count() != 0 {
		t.Errorf("got %d failed hand-offs, wanted none", h.Failed.Count())
	}
	sum := results.Summarize([]*results.Snapshot{{Operations: map[spec.Operation]*results.OperationResult{
		spec.OperationAppend: r.results(spec.OperationAppend), spec.OperationFlush: got,
	}}})
	if sum.Failed != 1 || sum.Censored != 6 || sum.Succeeded != 1 {
		t.Errorf("got %d requests, %d failed, %d unanswered, wanted each once", sum.Succeeded, sum.Failed, sum.Censored)
	}
}

// breakingDriver says at its tenth request that its target is lost.
type breakingDriver struct {
	fakeDriver
	broken chan error
}

func (d *breakingDriver) Broken() <-chan error { return d.broken }

func TestADriverThatLosesItsTargetEndsTheLoad(t *testing.T) {
	d := &breakingDriver{broken: make(chan error, 1)}
	d.answer = func(ctx context.Context, req *Request, resp *Response) {
		if d.counter.Counts()[spec.RPC(req.Operation)][PhaseOf(ctx)] == 10 {
			d.broken <- Errorf(results.FailureTargetLost, "the disk is full")
		}
		answerAfter(time.Millisecond)(ctx, req, resp)
	}
	s := newSession(t, planOf(putting, func(p *plan.Plan) {
		p.Load.Requests, p.Load.Connections, p.Load.Clients = new(int64(10_000)), 1, 1
	}), 0, d, newControl())
	if f := FailureOf(s.Run(t.Context())); f == nil || f.Reason != results.FailureTargetLost || f.Message != "the disk is full" {
		t.Errorf("got %+v, wanted the driver's error", f)
	}
	if e := endedOf(s.Snapshot()); e.Succeeded < 10 || e.Succeeded == 10_000 {
		t.Errorf("got %+v, wanted what was measured until then", e)
	}
}
