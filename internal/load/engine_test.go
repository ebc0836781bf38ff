package load

import (
	"context"
	"math"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
	"github.com/etcdbench/etcd-benchmark-operator/internal/workload"
)

// Every arrival that is due in the window is counted once, as sent or as unsent.
func TestAnOpenLoopCountsEveryArrival(t *testing.T) {
	for _, pods := range []int{1, 3} {
		p := planOf(forOneSecond(1_000), func(p *plan.Plan) { p.Load.Pods, p.Load.WarmupSeconds = int32(pods), 1 })
		drivers := make([]*fakeDriver, pods)
		for i := range drivers {
			drivers[i] = &fakeDriver{}
		}
		var total, succeeded, sent uint64
		for _, s := range runParts(t, p, drivers) {
			e := endedOf(s)
			total += e.Succeeded + e.Censored
			succeeded += e.Succeeded
			sent += sentIn(s, results.PhaseMeasured)
			if n := latenessCount(s); n != e.Succeeded {
				t.Errorf("%d of %d requests have a lateness", n, e.Succeeded)
			}
		}
		if total != 1_000 || sent == 0 || sent != succeeded {
			t.Errorf("%d pods: %d of 1000 arrivals counted, %d sent, %d succeeded", pods, total, sent, succeeded)
		}
	}
}

func latenessCount(s *results.Snapshot) uint64 {
	var n uint64
	for _, o := range s.Operations {
		n += o.Lateness.Count()
	}
	return n
}

// A stall of the target delays the requests that become due meanwhile, and their latency shows it. A tool that sends
// the next request only after a response omits this.
func TestAStallShowsInTheLatencyOfRequestsDueDuringIt(t *testing.T) {
	const stall = 400 * time.Millisecond
	var first atomic.Int64
	d := &fakeDriver{answer: func(ctx context.Context, req *Request, resp *Response) {
		if PhaseOf(ctx) != results.PhaseMeasured {
			return
		}
		first.CompareAndSwap(0, int64(Now()))
		// The target stalls from 200 ms after the first request on.
		began := Instant(first.Load()).Add(200 * time.Millisecond)
		if now := Now(); now > began && now < began.Add(stall) {
			answerAfter(began.Add(stall).Sub(now))(ctx, req, resp)
		}
	}}
	s := run(t, planOf(forOneSecond(1_000), func(p *plan.Plan) { p.Load.Clients, p.Load.Connections = 5, 5 }), d)
	var late, serviceLate uint64
	for _, o := range s.Operations {
		late += countAbove(&o.Latency, stall/4) + countAbove(&o.Censored, stall/4)
		serviceLate += countAbove(&o.Service, stall/4)
	}
	// Of the 400 requests that were due in the stall, three quarters waited
	// longer than a quarter of it; five at a time were in flight.
	if late < 250 || serviceLate > 50 {
		t.Errorf("%d requests have a latency, %d a service time over %v; wanted some 300 and 5", late, serviceLate, stall/4)
	}
}

// countAbove is how many durations of a histogram are longer than d, found
// from outside by its percentiles.
func countAbove(h *results.Histogram, d time.Duration) uint64 {
	n := h.Count()
	var above uint64
	for rank := uint64(1); rank <= n; rank++ {
		if q, _ := h.Quantile((float64(rank) - 0.5) / float64(n)); q > d {
			above = n - rank + 1
			break
		}
	}
	return above
}

// The target stops answering. After the drain, requests in flight and unsent arrivals are censored.
func TestUnansweredRequestsAreCensored(t *testing.T) {
	tests := map[string]struct {
		rate int64
		want func(ended) bool
	}{
		"closed loop": {0, func(e ended) bool { return e.Censored == 20 }},
		"open loop":   {500, func(e ended) bool { return e.Succeeded+e.Censored == 500 && e.Censored >= 380 }},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var answered atomic.Int64
			d := &fakeDriver{answer: func(ctx context.Context, _ *Request, resp *Response) {
				if PhaseOf(ctx) == results.PhaseMeasured && answered.Add(1) > 100 {
					<-ctx.Done()
					resp.Code = CodeCanceled
				}
			}}
			s := run(t, planOf(forOneSecond(tc.rate), func(p *plan.Plan) { p.Load.RequestTimeoutSeconds = 1 }), d)
			e := endedOf(s)
			if !tc.want(e) || e.Failed > 0 {
				t.Errorf("requests ended as %+v", e)
			}
			for op, o := range s.Operations {
				if shortest := o.Censored.Min(); o.Censored.Count() > 0 && shortest < time.Second {
					t.Errorf("a censored %s waited %v, wanted at least the drain of 1 s", op, shortest)
				}
			}
		})
	}
}

// Requests that fail or are cut off have a lateness too.
func TestEverySentRequestOfAnOpenLoopHasALateness(t *testing.T) {
	const late = 50 * time.Millisecond
	tests := map[string]func(ctx context.Context, resp *Response){
		"answered": func(context.Context, *Response) {},
		"failed":   func(_ context.Context, resp *Response) { resp.Code = "ResourceExhausted" },
		"cut off": func(ctx context.Context, resp *Response) {
			<-ctx.Done()
			resp.Code = CodeCanceled
		},
	}
	for name, end := range tests {
		t.Run(name, func(t *testing.T) {
			d := &fakeDriver{answer: func(ctx context.Context, _ *Request, resp *Response) {
				if PhaseOf(ctx) == results.PhaseMeasured {
					resp.Sent = resp.Sent.Add(late)
					end(ctx, resp)
				}
			}}
			s := run(t, planOf(forOneSecond(500), func(p *plan.Plan) { p.Load.RequestTimeoutSeconds = 1 }), d)
			if n, sent := latenessCount(s), sentIn(s, results.PhaseMeasured); n != sent || n == 0 {
				t.Errorf("%d of %d requests that were sent have a lateness", n, sent)
			}
			for operation, o := range s.Operations {
				if o.Lateness.Count() > 0 && o.Lateness.Min() < late {
					t.Errorf("a %s was late by %v, wanted at least %v", operation, o.Lateness.Min(), late)
				}
			}
		})
	}
}

// The drain sends nothing new, however large the backlog is.
func TestTheBacklogIsNotSentAfterTheWindow(t *testing.T) {
	d := &fakeDriver{answer: answerAfter(200 * time.Millisecond)}
	s := run(t, planOf(forOneSecond(1_000), putting, func(p *plan.Plan) { p.Load.Clients, p.Load.Connections = 5, 5 }), d)
	e := endedOf(s)
	// Five clients send at most five requests each in a second.
	if e.Succeeded > 30 || e.Succeeded+e.Censored != 1_000 {
		t.Errorf("requests ended as %+v, wanted at most some 25 successes, and the rest censored", e)
	}
}

func TestFailedRequestsAreCountedByCode(t *testing.T) {
	var n atomic.Int64
	d := &fakeDriver{answer: func(ctx context.Context, _ *Request, resp *Response) {
		if PhaseOf(ctx) != results.PhaseMeasured {
			return
		}
		switch n.Add(1) % 10 {
		case 0:
			resp.Code = "ResourceExhausted"
		case 1:
			resp.Code = CodeDeadlineExceeded
		}
	}}
	p := planOf(func(p *plan.Plan) { p.Load.Requests = new(int64(1_000)) })
	s := run(t, p, d)
	got := map[string]uint64{}
	for _, o := range s.Operations {
		for code, n := range o.Errors {
			got[code] += n
		}
	}
	if diff := cmp.Diff(map[string]uint64{"ResourceExhausted": 100, "DeadlineExceeded": 100}, got); diff != "" {
		t.Errorf("errors (-want +got):\n%s", diff)
	}
	if e := endedOf(s); e != (ended{Succeeded: 800, Failed: 200}) {
		t.Errorf("requests ended as %+v", e)
	}
}

// The target refuses at once. Each client retries at growing intervals and fails some seven times in a second.
func TestClientsBackOffFromADeadTarget(t *testing.T) {
	d := &fakeDriver{answer: func(ctx context.Context, _ *Request, resp *Response) {
		if PhaseOf(ctx) == results.PhaseMeasured {
			resp.Code, resp.Received = CodeUnavailable, resp.Sent
		}
	}}
	s := run(t, planOf(forOneSecond(0)), d)
	if e := endedOf(s); e.Failed < 20 || e.Failed > 20*8 || e.Succeeded > 0 {
		t.Errorf("20 clients ended %+v requests in a second", e)
	}
}

func TestSnapshotsAreConsistentWhileTheLoadRuns(t *testing.T) {
	s := newSession(t, planOf(forOneSecond(0)), 0, &fakeDriver{}, newControl())
	ran := make(chan error)
	go func() { ran <- s.Run(t.Context()) }()
	var before uint64
	for {
		select {
		case err := <-ran:
			if err != nil || before == 0 {
				t.Errorf("error %v after %d requests seen", err, before)
			}
			return
		default:
		}
		snapshot := s.Snapshot()
		e := endedOf(snapshot)
		if e.Succeeded < before || e.Succeeded > snapshot.Started {
			t.Fatalf("%d requests after %d, of %d that were started", e.Succeeded, before, snapshot.Started)
		}
		before = e.Succeeded
	}
}

// nullConn responds at once and allocates nothing.
type nullConn struct{}

func (nullConn) Do(_ context.Context, _ *Request, resp *Response) {
	*resp = Response{Sent: Now(), Received: Now()}
}

// benchEngine is an engine with one client on a null connection, in a window without an end.
func benchEngine(tb testing.TB) (*engine, *client) {
	tb.Helper()
	p := planOf(func(p *plan.Plan) { p.Load.Requests = new(int64(1 << 40)) })
	w := workload.New(p.Run)
	c := newClient(0, nullConn{}, w, p, always())
	e := newEngine(p, w, []*client{c}, newRecorder(), always())
	part, err := p.Part(0)
	if err != nil {
		tb.Fatal(err)
	}
	e.prepare(part, Now())
	tb.Cleanup(e.close)
	return e, c
}

// A client that finds the warm-up stopped must not take that for its normal end.
func TestAStopInTheWarmUpMeasuresNothing(t *testing.T) {
	p := planOf(func(p *plan.Plan) { p.Load.WarmupSeconds = 60 })
	part, err := p.Part(0)
	if err != nil {
		t.Fatal(err)
	}
	w, r := workload.New(p.Run), newRecorder()
	for range 100 {
		var clients []*client
		for n := range 8 {
			clients = append(clients, newClient(n, nullConn{}, w, p, always()))
		}
		e := newEngine(p, w, clients, r, always())
		e.prepare(part, Now())
		done := e.start(t.Context())
		// Wait until the clients have drawn an operation.
		for e.warmup.next.Load() == 0 {
			runtime.Gosched()
		}
		e.stop()
		<-done
		e.close()
	}
	if last := r.last(); last > 0 {
		t.Error("a request was measured though the window never began")
	}
}

func TestNothingIsAllocatedPerRequest(t *testing.T) {
	e, c := benchEngine(t)
	ctx := WithPhase(t.Context(), results.PhaseMeasured)
	allocations := testing.AllocsPerRun(1_000, func() {
		ordinal, _ := e.measured.draw()
		e.send(ctx, c, e.measured, ordinal, dueAt(c.nextDue(ctx.Done())))
	})
	if allocations != 0 {
		t.Errorf("%v allocations per request", allocations)
	}
}

func BenchmarkRequest(b *testing.B) {
	e, c := benchEngine(b)
	ctx := WithPhase(b.Context(), results.PhaseMeasured)
	b.ReportAllocs()
	for b.Loop() {
		ordinal, _ := e.measured.draw()
		e.send(ctx, c, e.measured, ordinal, dueAt(c.nextDue(ctx.Done())))
	}
}

// BenchmarkRecord measures the cost of counting an open-loop request that waited for a free client, or did not.
func BenchmarkRecord(b *testing.B) {
	for name, backlog := range backlogs {
		b.Run(name, func(b *testing.B) {
			r := newRecording(backlog)
			b.ReportAllocs()
			for b.Loop() {
				r.record()
			}
		})
	}
}

func TestRecordingAllocatesNothing(t *testing.T) {
	for name, backlog := range backlogs {
		// The first requests make the recorder's histograms.
		r := newRecording(backlog)
		for range r.requests {
			r.record()
		}
		if allocations := testing.AllocsPerRun(10_000, r.record); allocations != 0 {
			t.Errorf("%s: %v allocations per request", name, allocations)
		}
	}
}

// backlogs are how long a request waits for a free client.
var backlogs = map[string]Instant{"free": 0, "backlog": 1_000_000}

// recording records one request after the other. Successive requests differ, and the clock advances.
type recording struct {
	recorder *recorder
	requests *[4096]variedRequest
	n        int
	due      Instant
	backlog  Instant
}

func newRecording(backlog Instant) *recording {
	return &recording{recorder: newRecorder(), requests: variedRequests(), backlog: backlog}
}

func (r *recording) record() {
	request := &r.requests[r.n%len(r.requests)]
	r.n++
	r.due += 50_000
	ready := r.due + r.backlog
	response := Response{Sent: ready + request.lateness, Received: ready + request.latency}
	r.recorder.record(0, spec.OperationPut, requestOutcome{requestTime: requestTime{due: r.due, ready: ready}, response: &response, inWindow: true})
}

type variedRequest struct{ lateness, latency Instant }

// variedRequests have the lateness of a kernel timer, and responses after 50 µs to some milliseconds.
func variedRequests() *[4096]variedRequest {
	r, out := rand.New(rand.NewPCG(1, 1)), new([4096]variedRequest)
	for i := range out {
		lateness := 20_000 * math.Exp(0.5*r.NormFloat64())
		out[i].lateness = Instant(lateness)
		out[i].latency = Instant(lateness + 50_000 + 300_000*r.ExpFloat64())
	}
	return out
}

// Many clients record on few shards while a reader merges them; no record may be lost.
func TestRecordersLoseNothing(t *testing.T) {
	r := newRecorder()
	const clients, each = 16, 2_000
	var writing, reading sync.WaitGroup
	ended := make(chan struct{})
	reading.Go(func() {
		for !isClosed(ended) {
			if got := r.results(spec.OperationPut); got.CompletedInWindow != got.Latency.Count() || got.Lateness.Count() != got.Latency.Count()+got.Failed.Count() {
				t.Errorf("a reader found %d completed, %d successes, %d failures and %d sent", got.CompletedInWindow, got.Latency.Count(), got.Failed.Count(), got.Lateness.Count())
				return
			}
		}
	})
	for n := range clients {
		writing.Go(func() {
			for i := range each {
				response := Response{Sent: 1, Received: Instant(i + 1)}
				if i%10 == 0 {
					response.Code, response.Detail = "Aborted", "a message of the target"
				}
				r.record(n, spec.OperationPut, requestOutcome{response: &response, inWindow: true})
			}
		})
	}
	writing.Wait()
	close(ended)
	reading.Wait()
	got := r.results(spec.OperationPut)
	if got.Latency.Count() != clients*each*9/10 || got.Failed.Count() != clients*each/10 || got.Errors["Aborted"] != clients*each/10 ||
		got.Examples["Aborted"] != "a message of the target" {
		t.Errorf("got %d successes and %d failures, %v, %v", got.Latency.Count(), got.Failed.Count(), got.Errors, got.Examples)
	}
	if got.CompletedInWindow != got.Latency.Count() || r.last() != each {
		t.Errorf("completed %d, last response at %d", got.CompletedInWindow, r.last())
	}
}
