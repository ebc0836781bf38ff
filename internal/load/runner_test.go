package load

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/internal/load/arrival"
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
	"github.com/etcdbench/etcd-benchmark-operator/internal/workload"
)

// queueLoop is a Loop that consists of a goroutine and a queue.
type queueLoop struct {
	mutex  sync.Mutex
	filled sync.Cond
	queue  []func()
	closed bool
	alarm  *time.Timer
	// sent counts the requests of the loop's slots, and posts what the engine posted.
	sent, posts atomic.Int64
}

func newQueueLoop() *queueLoop {
	l := &queueLoop{}
	l.filled.L = &l.mutex
	go func() {
		for f := l.take(); f != nil; f = l.take() {
			f()
		}
	}()
	return l
}

func (l *queueLoop) take() func() {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	for len(l.queue) == 0 {
		if l.closed {
			return nil
		}
		l.filled.Wait()
	}
	f := l.queue[0]
	l.queue = l.queue[1:]
	return f
}

func (l *queueLoop) Post(f func()) {
	l.posts.Add(1)
	l.push(f)
}

func (l *queueLoop) push(f func()) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	l.queue = append(l.queue, f)
	l.filled.Signal()
}

func (l *queueLoop) Alarm(at Instant, f func()) {
	if l.alarm != nil {
		l.alarm.Stop()
	}
	l.alarm = time.AfterFunc(at.Sub(Now()), func() { l.push(f) })
}

func (l *queueLoop) Waited() time.Duration { return 0 }

func (l *queueLoop) Exact() bool { return false }

func (l *queueLoop) close() {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	l.closed = true
	l.filled.Signal()
}

// asyncConn responds to each request after a delay that the test chooses.
type asyncConn struct {
	Conn
	loop   *queueLoop
	answer func(*Request) (code string, after time.Duration)
	seen   func(*Request)
}

func (c *asyncConn) Loop() Loop            { return c.loop }
func (c *asyncConn) Slot(done func()) Slot { return &answeredSlot{conn: c, done: done} }

type answeredSlot struct {
	conn     *asyncConn
	done     func()
	response *Response
	serial   int
}

func (l *answeredSlot) Send(_ results.Phase, req *Request, resp *Response) {
	l.conn.loop.sent.Add(1)
	if l.conn.seen != nil {
		l.conn.seen(req)
	}
	l.serial++
	serial := l.serial
	l.response = resp
	*resp = Response{Sent: Now()}
	code, after := l.conn.answer(req)
	time.AfterFunc(after, func() { l.conn.loop.push(func() { l.end(serial, code) }) })
}

func (l *answeredSlot) end(serial int, code string) {
	if l.response == nil || serial != l.serial {
		return
	}
	l.response.Received, l.response.Code = Now(), code
	l.response = nil
	l.done()
}

func (l *answeredSlot) Abort() { l.end(l.serial, CodeCanceled) }

// trial is an engine on slots.
type trial struct {
	*engine
	loops []*queueLoop
}

// newTrial prepares an engine whose window begins after the plan's warm-up.
func newTrial(t *testing.T, loads spec.Load, loops int, answer func(*Request) (string, time.Duration), seen func(*Request)) *trial {
	return newTrialOf(t, loads, spec.Workload{Type: spec.WorkloadPut, Put: &spec.Put{
		Keys: spec.Keys{Count: 1000000, SizeBytes: 8, Distribution: spec.Sequential}, Values: shortValues(),
	}}, loops, answer, seen)
}

func newTrialOf(t *testing.T, loads spec.Load, of spec.Workload, loops int, answer func(*Request) (string, time.Duration), seen func(*Request)) *trial {
	loads.Pods = 1
	p := plan.Plan{Run: workload.Run{Prefix: "p/", Load: loads, Workload: of}}
	// Instants count from the time of the test's bubble.
	before := origin
	origin = time.Now()
	trial := &trial{}
	for range loops {
		trial.loops = append(trial.loops, newQueueLoop())
	}
	w := workload.New(p.Run)
	permit := always()
	var clients []*client
	for i := range int(loads.Clients) {
		conn := &asyncConn{loop: trial.loops[i%loops], answer: answer, seen: seen}
		clients = append(clients, newClient(i, conn, w, p, permit))
	}
	trial.engine = newEngine(p, w, clients, newRecorder(), permit)
	trial.prepare(plan.Part{Pods: 1, Requests: loads.RequestBound()}, Now())
	t.Cleanup(func() {
		origin = before
		trial.close()
		for _, l := range trial.loops {
			l.close()
		}
	})
	return trial
}

// counts has the measured requests by outcome.
type counts struct{ Latency, Failed, Censored, InWindow int }

func (e *trial) counts() counts {
	r := e.recorder.results(spec.OperationPut)
	return counts{int(r.Latency.Count()), int(r.Failed.Count()), int(r.Censored.Count()), int(r.CompletedInWindow)}
}

func quickly(*Request) (string, time.Duration) { return "", 3 * time.Millisecond }

func TestRunnersSendEachRequestOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mutex sync.Mutex
		keys := map[string]int{}
		e := newTrial(t, spec.Load{Clients: 7, Requests: new(int64(1000)), WarmupSeconds: 1}, 3, quickly, func(r *Request) {
			mutex.Lock()
			defer mutex.Unlock()
			keys[string(r.Key)]++
		})
		<-e.start(t.Context())
		if diff := cmp.Diff(counts{Latency: 1000, InWindow: 1000}, e.counts()); diff != "" {
			t.Error(diff)
		}
		for ordinal := range int64(1000) {
			key := e.workload.AppendKey(nil, e.workload.At(workload.Measured, ordinal).Key)
			if keys[string(key)] == 0 {
				t.Errorf("operation %d was not sent", ordinal)
			}
		}
	})
}

func TestRunnersKeepTheSchedule(t *testing.T) {
	for _, loops := range []int{1, 3} {
		synctest.Test(t, func(t *testing.T) {
			e := newTrial(t, spec.Load{Clients: 9, DurationSeconds: new(int32(2)), WarmupSeconds: 1, Rate: perSecond(500)}, loops, quickly, nil)
			<-e.start(t.Context())
			// The last response comes after the window, and the one to the last warm-up request comes in it.
			if diff := cmp.Diff(counts{Latency: 1000, InWindow: 1000 - 1 + 1}, e.counts()); diff != "" {
				t.Error(diff)
			}
			r := e.recorder.results(spec.OperationPut)
			if late := r.Lateness.Max(); late > 0 {
				t.Errorf("a request was %v late", late)
			}
			for i, l := range e.loops {
				if share := l.sent.Load(); share < 1400/int64(loops) {
					t.Errorf("loop %d of %d sent %d of 1500", i, loops, share)
				}
			}
		})
	}
}

func TestArrivalsThatBusyClientsCannotSendAreCensored(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := func(*Request) (string, time.Duration) { return "", 100 * time.Millisecond }
		e := newTrial(t, spec.Load{Clients: 2, DurationSeconds: new(int32(1)), Rate: perSecond(100)}, 2, slow, nil)
		done := e.start(t.Context())
		e.drain(t.Context(), done, time.Hour, func() { t.Error("aborted") })
		got := e.counts()
		// Two more are sent in the grace after the end.
		if got.Latency+got.Censored != 100 || got.Latency != 22 || e.started() != 22 {
			t.Errorf("got %+v and %d started, wanted 22 successes and 78 unsent", got, e.started())
		}
	})
}

// A schedule can have too many unsent arrivals to visit one by one.
func TestManyUnsentArrivalsAreTakenInGroups(t *testing.T) {
	const rate, length = 10_000_000, 100 * time.Second
	share := arrival.Share{Pods: 1}
	ramp := arrival.Stages(spec.Stage{From: rate, To: rate, Seconds: 40}, spec.Stage{From: rate, To: 0, Seconds: 60})
	for name, tc := range map[string]struct {
		walk *arrival.Walk
		// want is how many arrivals are unsent, and mean is their mean wait. within is the tolerance for a Poisson
		// process.
		want, within int64
		mean         time.Duration
	}{
		"even":      {arrival.PerSecond(rate).Even(share), 1_000_000_000, 0, 50 * time.Second},
		"a descent": {ramp.Even(share), 700_000_000, 0, 62_857 * time.Millisecond},
		"Poisson":   {arrival.PerSecond(rate).Poisson(1, 2, share), 1_000_000_000, 100_000, 50 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			start := Now()
			s := newLoadPhase(results.PhaseMeasured, workload.Measured, plan.Part{Pods: 1}, tc.walk, nil, start, start.Add(length), unlimited)
			defer s.close()
			end, groups, unsent, waits, next := start.Add(length), 0, int64(0), 0.0, int64(0)
			before := start
			s.takeUnsent(func(ordinal int64, due Instant, n int64) {
				if ordinal != next || due < before || due >= end || n < 1 {
					t.Fatalf("after %d arrivals until %v: %d of them from %d on until %v", next, before-start, n, ordinal, due-start)
				}
				groups, unsent, waits, next, before = groups+1, unsent+n, waits+float64(n)*float64(end-due), ordinal+n, due
			})
			if unsent < tc.want-tc.within || unsent > tc.want+tc.within || s.next.Load() != unsent {
				t.Errorf("%d arrivals were unsent, wanted %d", unsent, tc.want)
			}
			if mean := time.Duration(waits / float64(unsent)); (mean - tc.mean).Abs() > 100*time.Millisecond {
				t.Errorf("they waited %v on average, wanted %v", mean, tc.mean)
			}
			if groups > 10*countedSingly {
				t.Errorf("they were taken in %d groups", groups)
			}
		})
	}
}

// Few arrivals are taken one by one, up to the limit.
func TestFewUnsentArrivalsAreTakenOneByOne(t *testing.T) {
	for limit, want := range map[int64]int64{unlimited: 2_000, 1_500: 1_500} {
		start := Now()
		s := newLoadPhase(results.PhaseMeasured, workload.Measured, plan.Part{Pods: 1}, arrival.PerSecond(1_000).Even(arrival.Share{Pods: 1}), nil, start, start.Add(2*time.Second), limit)
		got := int64(0)
		s.takeUnsent(func(ordinal int64, due Instant, n int64) {
			if due != start.Add(time.Duration(got)*time.Millisecond) || n != 1 {
				t.Errorf("arrival %d: took %d, of %v", got, n, due-start)
			}
			got++
		})
		s.close()
		if got != want {
			t.Errorf("with a limit of %d, %d arrivals were unsent, wanted %d", limit, got, want)
		}
	}
}

// The machine wakes a client up after the window's end. That must not count as a lack of free clients.
func TestALateClientStillSendsWhatWasDue(t *testing.T) {
	for late, wantSent := range map[time.Duration]int64{0: 5, sendGrace - 1: 5, sendGrace: 0} {
		synctest.Test(t, func(t *testing.T) {
			walk := arrival.PerSecond(1000).Even(arrival.Share{Pods: 1})
			start := Now()
			s := newLoadPhase(results.PhaseMeasured, workload.Measured, plan.Part{Pods: 1}, walk, newFreeTimes(5), start, start.Add(time.Second), unlimited)
			defer s.close()
			s.grace = sendGrace
			for range 995 {
				s.advance()
			}
			time.Sleep(time.Second + late)
			sent := int64(0)
			for _, _, ok := s.await(); ok; _, _, ok = s.await() {
				sent++
			}
			unsent := int64(0)
			for _, _, ok := s.peek(); ok; _, _, ok = s.peek() {
				s.advance()
				unsent++
			}
			if sent != wantSent || unsent != 5-wantSent {
				t.Errorf("%v after the end: sent %d and left %d unsent, wanted %d and %d", late, sent, unsent, wantSent, 5-wantSent)
			}
		})
	}
}

func TestRunnersAreCutOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		never := func(*Request) (string, time.Duration) { return "", time.Hour }
		for _, rate := range []int64{0, 100} {
			e := newTrial(t, spec.Load{Clients: 5, DurationSeconds: new(int32(1)), Rate: perSecond(rate)}, 2, never, nil)
			ctx, abort := context.WithCancel(t.Context())
			done := e.start(ctx)
			time.Sleep(time.Second)
			e.drain(t.Context(), done, time.Second, abort)
			want := counts{Censored: max(5, int(rate))}
			if diff := cmp.Diff(want, e.counts()); diff != "" {
				t.Error(diff)
			}
		}
	})
}

func TestRunnersStop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, rate := range []int64{0, 100} {
			e := newTrial(t, spec.Load{Clients: 5, Requests: new(int64(1 << 40)), Rate: perSecond(rate)}, 2, quickly, nil)
			done := e.start(t.Context())
			time.Sleep(time.Second)
			e.stop()
			<-done
			if got := e.counts(); got.Latency < 95 || got.Failed+got.Censored > 0 {
				t.Errorf("got %+v", got)
			}
		}
	})
}

// The target refuses all requests. The runners must not retry at full speed.
func TestRunnersPause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		refuse := func(*Request) (string, time.Duration) { return CodeUnavailable, 0 }
		e := newTrial(t, spec.Load{Clients: 2, DurationSeconds: new(int32(10))}, 1, refuse, nil)
		<-e.start(t.Context())
		if got := e.counts(); got.Failed < 20 || got.Failed > 60 {
			t.Errorf("%d requests were sent", got.Failed)
		}
	})
}
