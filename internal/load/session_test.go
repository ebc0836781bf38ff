package load

import (
	"context"
	"maps"
	"slices"
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

// wantOperations returns how often a plan's measured window sends each operation.
func wantOperations(p plan.Plan) map[string]int {
	w := workload.New(p.Run)
	want := map[string]int{}
	for n := range p.Load.RequestBound() {
		op := w.At(workload.Measured, n)
		value := ""
		if op.Kind == spec.OperationPut {
			value = string(w.Value(op.Value))
		}
		want[string(op.Kind)+" "+string(w.AppendKey(nil, op.Key))+"="+value]++
	}
	return want
}

func TestTheSetOfRequestsDoesNotDependOnThePods(t *testing.T) {
	for _, pods := range []int{1, 2, 5} {
		for _, rate := range []int64{0, 2_000} {
			p := planOf(func(p *plan.Plan) { p.Load.Pods, p.Load.Rate = int32(pods), perSecond(rate) })
			drivers := make([]*fakeDriver, pods)
			for i := range drivers {
				drivers[i] = &fakeDriver{}
			}
			snapshots := runParts(t, p, drivers)
			var total uint64
			for i, s := range snapshots {
				e := endedOf(s)
				total += e.Succeeded
				if got, want := e.Succeeded, s.Window.PlannedRequests; got != want {
					t.Errorf("pod %d of %d has %d requests, wanted %d", i, pods, got, want)
				}
			}
			if diff := cmp.Diff(wantOperations(p), sentBy(drivers, results.PhaseMeasured)); diff != "" {
				t.Errorf("%d pods at rate %d: requests (-want +got):\n%s", pods, rate, diff)
			}
			if total != uint64(*p.Load.Requests) {
				t.Errorf("%d pods have %d requests, wanted %d", pods, total, *p.Load.Requests)
			}
		}
	}
}

// A preload is no heavier than its load, except for members that exist for the run alone.
func TestThePreloadOfOneClient(t *testing.T) {
	for ephemeral, want := range map[bool]int{false: 1, true: writersPerConnection} {
		p := planOf(func(p *plan.Plan) { p.Load.Pods, p.Load.Clients, p.Load.Connections, p.Ephemeral = 1, 1, 1, ephemeral })
		var mutex sync.Mutex
		inFlight, most, enough := 0, 0, make(chan struct{})
		run(t, p, &fakeDriver{answer: func(ctx context.Context, req *Request, _ *Response) {
			if !req.Preload {
				return
			}
			mutex.Lock()
			inFlight++
			if inFlight > most {
				if most = inFlight; most == want {
					close(enough)
				}
			}
			mutex.Unlock()
			select {
			case <-enough:
			case <-ctx.Done():
			}
			mutex.Lock()
			inFlight--
			mutex.Unlock()
		}})
		if most != want {
			t.Errorf("ephemeral %v: %d puts of the preload at a time, wanted %d", ephemeral, most, want)
		}
	}
}

func TestThePodsPreloadEachKeyOnce(t *testing.T) {
	for _, pods := range []int{1, 3} {
		p := planOf(func(p *plan.Plan) { p.Load.Pods = int32(pods) })
		drivers := make([]*fakeDriver, pods)
		for i := range drivers {
			drivers[i] = &fakeDriver{}
		}
		runParts(t, p, drivers)
		w := workload.New(p.Run)
		want := map[string]int{}
		for key := range p.Keys().Count {
			want["Put "+string(w.AppendKey(nil, key))+"="+string(w.Value(key))] = 1
		}
		if diff := cmp.Diff(want, sentBy(drivers, results.PhasePreload)); diff != "" {
			t.Errorf("%d pods preload (-want +got):\n%s", pods, diff)
		}
	}
}

func TestThePreloadRepeatsWhatFailed(t *testing.T) {
	var failures atomic.Int32
	d := &fakeDriver{answer: func(ctx context.Context, _ *Request, resp *Response) {
		if PhaseOf(ctx) == results.PhasePreload && failures.Add(1) <= 3 {
			resp.Code = CodeUnavailable
		}
	}}
	p := planOf()
	s := run(t, p, d)
	if got, want := s.Requests[spec.RPCPut][results.PhasePreload], uint64(p.Keys().Count)+3; got != want {
		t.Errorf("%d puts were sent, wanted %d", got, want)
	}
	measured := s.Requests[spec.RPCPut][results.PhaseMeasured] + s.Requests[spec.RPCRange][results.PhaseMeasured]
	if want := (results.Bodies{Sent: 100 * measured, Received: 10 * measured}); s.Bodies != want || measured == 0 {
		t.Errorf("the bodies of %d measured requests are %+v, wanted %+v", measured, s.Bodies, want)
	}
	if want := d.Sessions(); s.Sessions != want {
		t.Errorf("found sessions %+v, wanted %+v", s.Sessions, want)
	}
}

func TestAPreloadThatKeepsFailingEndsTheSession(t *testing.T) {
	d := &fakeDriver{answer: func(_ context.Context, _ *Request, resp *Response) {
		resp.Code, resp.Detail = "ResourceExhausted", "no space"
	}}
	s := newSession(t, planOf(), 0, d, newControl())
	f := FailureOf(s.Run(t.Context()))
	if f == nil || f.Reason != results.FailureTargetUnhealthy {
		t.Errorf("got failure %+v, wanted %s", f, results.FailureTargetUnhealthy)
	}
	if !d.released.Load() || !d.closed.Load() {
		t.Errorf("released %v, closed %v: wanted both", d.released.Load(), d.closed.Load())
	}
}

func TestAWindowOfSomeDuration(t *testing.T) {
	t.Parallel()
	d := &fakeDriver{answer: answerAfter(10 * time.Millisecond)}
	s := run(t, planOf(forOneSecond(0), func(p *plan.Plan) { p.Load.WarmupSeconds, p.Load.DurationSeconds = 1, new(int32(5)) }), d)
	w := s.Window
	if got := w.End.Sub(w.Start); got != 5*time.Second || w.Planned != 5*time.Second {
		t.Errorf("the window has %v of %v, wanted five seconds", got, w.Planned)
	}
	if got := w.Start.Sub(w.StartAt.Add(w.Skew)); got < time.Second-time.Millisecond || got >= 10*time.Second {
		t.Errorf("the window begins %v after the start, wanted the warm-up of a second", got)
	}
	var completed, measured uint64
	for _, o := range s.Operations {
		completed += o.CompletedInWindow
		measured += o.Latency.Count()
	}
	// At each end of the window, each of the 20 clients has at most one request in flight. Those at the start count as
	// completed, those at the end as measured.
	if completed > measured+20 || measured > completed+20 || completed < 20 {
		t.Errorf("%d requests completed in the window, of %d measured", completed, measured)
	}
	if sentIn(s, results.PhaseMeasured) != measured || sentIn(s, results.PhaseWarmup) < 20 {
		t.Errorf("sent %v, measured %d", s.Requests, measured)
	}
	var inTimeline uint64
	for i, point := range s.Timeline.Points {
		inTimeline += point.Succeeded
		if point.Succeeded > 0 && (point.Longest < 10*time.Millisecond || point.Latency < time.Duration(point.Succeeded)*10*time.Millisecond) {
			t.Errorf("interval %d of %v: got %+v, wanted latencies from 10 ms", i, s.Timeline.Interval, point)
		}
	}
	// On a busy machine the last responses take longer than an interval.
	if n := len(s.Timeline.Points); inTimeline != measured || n < 10 {
		t.Errorf("the timeline has %d requests in %d intervals, wanted %d in at least 10", inTimeline, n, measured)
	}
}

// answerAfter is a target that delays each response.
func answerAfter(d time.Duration) func(context.Context, *Request, *Response) {
	return func(ctx context.Context, _ *Request, resp *Response) {
		timer := time.NewTimer(d)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-ctx.Done():
			resp.Code = CodeCanceled
		}
	}
}

func TestASnapshotOfTheBeginning(t *testing.T) {
	s := newSession(t, planOf(), 0, &fakeDriver{}, newControl())
	got := s.Snapshot()
	if got.Stage != results.StageConnecting || got.Cleaning != results.CleaningNothingWritten || got.KeyBytes != 6 || s.Ready() {
		t.Errorf("got %+v, ready %v", got, s.Ready())
	}
}

// The process figures cover exactly the window, and appear once it has ended.
func TestProcessFiguresCoverTheWindow(t *testing.T) {
	t.Parallel()
	d := &fakeDriver{answer: answerAfter(time.Millisecond)}
	s := newSession(t, planOf(forOneSecond(200), func(p *plan.Plan) { p.Load.DurationSeconds = new(int32(5)) }), 0, d, newControl())
	if early := s.Snapshot().Process; early != nil {
		t.Errorf("got %+v before the window", early)
	}
	began := time.Now()
	if err := s.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	took := time.Since(began).Seconds()
	got := s.Snapshot()
	length, _ := got.Process.Value(results.ProcessWindowSeconds)
	if length < 4 || length > took {
		t.Errorf("wanted the figures of five seconds of the %v s, got those of %v s: %+v", took, length, got.Process)
	}
	if _, known := got.Process.Value(results.ProcessGoroutineDelaySeconds); !known {
		t.Errorf("wanted the delays of goroutines, got %+v", got.Process)
	}
}

func TestTheStagesOfASession(t *testing.T) {
	var s *Session
	var mutex sync.Mutex
	stages := map[string]results.Stage{}
	d := &fakeDriver{
		hook: func(_ context.Context, step string) error {
			mutex.Lock()
			defer mutex.Unlock()
			stages[step] = s.Stage()
			return nil
		},
		memory: map[string]int64{"a": 100},
	}
	s = newSession(t, planOf(), 0, d, newControl())
	if err := s.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	want := map[string]results.Stage{
		"preflight": results.StageConnecting, "connect": results.StageConnecting, "claim": results.StageConnecting,
		"release": results.StageCleaning,
	}
	if diff := cmp.Diff(want, stages); diff != "" {
		t.Errorf("stages (-want +got):\n%s", diff)
	}
	got := s.Snapshot()
	if got.Stage != results.StageDone || got.Cleaning != results.CleaningKeysDeleted || got.Stopped || got.Failure != nil || !s.Ready() {
		t.Errorf("the end: %+v", got)
	}
	if m := got.Target.Members; m[0].ResidentMemoryBytes != 100 || m[1].ResidentMemoryBytes != 0 {
		t.Errorf("members %+v, wanted 100 bytes of the first and nothing known of the second", m)
	}
	if changes, known := got.Target.Members[0].Window.Value(results.FigureLeaderChanges); !known || changes != float64(d.samples.Load()-1) {
		t.Errorf("the first member saw %v changes (%v) in %d samples, wanted those from the first to the last", changes, known, d.samples.Load())
	}
	if w := got.Target.Members[1].Window; w == nil || w.Unknown == "" {
		t.Errorf("of the second member %+v, wanted why nothing is known", w)
	}
}

func TestASessionThatStartsLateSaysSo(t *testing.T) {
	control := newControl()
	control.at = time.Now().Add(-3 * time.Second)
	s := newSession(t, planOf(), 0, &fakeDriver{}, control)
	if err := s.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if skew := s.Snapshot().Window.Skew; skew < 3*time.Second || skew > 10*time.Second {
		t.Errorf("skew %v, wanted a little over 3 s", skew)
	}
}

func TestASessionStartsAtTheCommonStart(t *testing.T) {
	control := newControl()
	control.at = time.Now().Add(300 * time.Millisecond)
	s := newSession(t, planOf(), 0, &fakeDriver{}, control)
	if err := s.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	w := s.Snapshot().Window
	if w.Start.Before(w.StartAt.Add(-time.Millisecond)) || w.Skew < 0 || w.Skew > 10*time.Second {
		t.Errorf("asked to start at %v, it started at %v with a skew of %v", w.StartAt, w.Start, w.Skew)
	}
}

func TestNewSessionRefusesAPartThatThePlanDoesNotHave(t *testing.T) {
	_, err := NewSession(Config{Plan: planOf(), Index: 1})
	if f := FailureOf(err); f == nil || f.Reason != results.FailureInvalidPlan {
		t.Errorf("got %v, wanted %s", err, results.FailureInvalidPlan)
	}
}

func TestClientsSpreadOverTheConnections(t *testing.T) {
	p := planOf(func(p *plan.Plan) { p.Load.Connections, p.Load.Clients = 3, 8 })
	s := newSession(t, p, 0, &fakeDriver{}, newControl())
	s.conns = []Conn{&fakeConn{}, &fakeConn{}, &fakeConn{}}
	counts := map[Conn]int{}
	clients, err := s.clients(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range clients {
		counts[c.conn]++
	}
	if got := slices.Sorted(maps.Values(counts)); !slices.Equal(got, []int{2, 3, 3}) {
		t.Errorf("8 clients on 3 connections: %v", got)
	}
}

func TestReadsAreAsConsistentAsThePlanSays(t *testing.T) {
	for _, consistency := range []spec.Consistency{spec.Linearizable, spec.Serializable} {
		var others atomic.Int64
		d := &fakeDriver{answer: func(_ context.Context, req *Request, _ *Response) {
			if req.Operation == spec.OperationRange && req.Consistency != consistency {
				others.Add(1)
			}
		}}
		p := planOf(func(p *plan.Plan) { p.Workload.Mixed.Consistency = consistency })
		s, err := NewSession(Config{Plan: p, Driver: d, Control: newControl()})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Run(t.Context()); err != nil || others.Load() > 0 {
			t.Errorf("%s: %d reads are not so (%v)", consistency, others.Load(), err)
		}
	}
}
