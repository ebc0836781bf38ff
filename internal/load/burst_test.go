package load

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/internal/load/process"
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
	"github.com/etcdbench/etcd-benchmark-operator/internal/text"
)

// fragments is a workload of processes that read three parameters of 10 bytes one by one.
func fragments(ramp int32) spec.Workload {
	return spec.Workload{Type: spec.WorkloadFetch, Fetch: &spec.Fetch{
		Layout: spec.LayoutFragmented, ParametersPerProcess: 3, ParameterBytes: 10, Parameters: spec.ParametersOwn, Consistency: spec.Serializable,
		Connect: spec.ConnectBefore, RampSeconds: ramp, TimeoutMilliseconds: 250, Attempts: 4,
	}}
}

// bursting makes a plan one of a burst with this many processes.
func bursting(ramp, processes int32) func(*plan.Plan) {
	return func(p *plan.Plan) {
		p.Workload = fragments(ramp)
		p.Load.Clients, p.Load.Connections, p.Load.Requests = processes, processes, new(int64(processes))
	}
}

func burstTrial(t *testing.T, ramp int32, answer func(*Request) (string, time.Duration), seen func(*Request)) *trial {
	return newTrialOf(t, spec.Load{Clients: 600, Connections: 600, Requests: new(int64(600))}, fragments(ramp), 2, answer, seen)
}

// Each process sends its requests once, one after the other, and its latency is that of all of them.
func TestALoopSendsEachTaskOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mutex sync.Mutex
		keys := map[string]int{}
		e := burstTrial(t, 0, quickly, func(r *Request) {
			mutex.Lock()
			defer mutex.Unlock()
			if keys[string(r.Key)]++; r.Timeout != 250*time.Millisecond {
				t.Errorf("an attempt may take %v", r.Timeout)
			}
		})
		<-e.start(t.Context())
		r, b := e.recorder.results(spec.OperationFetch), e.recorder.burst()
		if n := r.Latency.Count(); n != 600 || r.Latency.Min() != 9*time.Millisecond || r.Service.Min() != 9*time.Millisecond || r.Lateness.Max() != 0 {
			t.Errorf("%d processes took at least %v, service time %v, and began up to %v late", n, r.Latency.Min(), r.Service.Min(), r.Lateness.Max())
		}
		if b.Timeouts[0] != 600 || b.Values != 600*3*10 || len(keys) != 3*600 || e.started() != 600 {
			t.Errorf("the counts are %+v, %d keys were read, %d tasks started", b, len(keys), e.started())
		}
		for key, n := range keys {
			if n != 1 {
				t.Errorf("%s was read %d times", key, n)
			}
		}
	})
}

func TestTheTasksOfARampAreSpreadEvenly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := burstTrial(t, 6, quickly, nil)
		<-e.start(t.Context())
		r := e.recorder.results(spec.OperationFetch)
		if last := e.recorder.last().Sub(e.measured.start); last != 5990*time.Millisecond+9*time.Millisecond || r.Lateness.Max() != 0 || r.Latency.Max() != 9*time.Millisecond {
			t.Errorf("the last process ended after %v, was up to %v late, and took %v", last, r.Lateness.Max(), r.Latency.Max())
		}
	})
}

// A request that times out is sent again at once, up to the number of attempts. A process whose last attempt timed out, or
// which gets another error, has failed.
func TestATaskRepeatsWhatTimesOut(t *testing.T) {
	for name, tc := range map[string]struct {
		code     string
		failures int
		// took is how long the task takes, and timeouts how many there are.
		took     time.Duration
		timeouts int
		want     counts
	}{
		"no time-out":       {"", 0, 9 * time.Millisecond, 0, counts{Latency: 600}},
		"some time-outs":    {CodeDeadlineExceeded, 3, 759 * time.Millisecond, 3, counts{Latency: 600}},
		"only time-outs":    {CodeDeadlineExceeded, 4, 1003 * time.Millisecond, 4, counts{Failed: 600}},
		"another error":     {CodeUnavailable, 1, 253 * time.Millisecond, 0, counts{Failed: 600}},
		"many, far between": {CodeDeadlineExceeded, 1, 259 * time.Millisecond, 1, counts{Latency: 600}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var mutex sync.Mutex
				sent := map[string]int{}
				// The second parameter of each process gets the failures.
				e := burstTrial(t, 0, func(r *Request) (string, time.Duration) {
					mutex.Lock()
					defer mutex.Unlock()
					sent[string(r.Key)]++
					if isSecond(r.Key) && sent[string(r.Key)] <= tc.failures {
						return tc.code, 250 * time.Millisecond
					}
					return "", 3 * time.Millisecond
				}, nil)
				<-e.start(t.Context())
				r, b := e.recorder.results(spec.OperationFetch), e.recorder.burst()
				got := counts{Latency: int(r.Latency.Count()), Failed: int(r.Failed.Count()), Censored: int(r.Censored.Count())}
				if diff := cmp.Diff(tc.want, got); diff != "" {
					t.Error(diff)
				}
				all := r.Latency.Clone()
				all.Merge(&r.Failed)
				if all.Max() != tc.took || b.Timeouts[tc.timeouts] != 600 || b.Tasks() != 600 {
					t.Errorf("a process took %v, and the counts are %+v; wanted %v and %d time-outs", all.Max(), b, tc.took, tc.timeouts)
				}
			})
		})
	}
}

// isSecond reports whether a key is that of the second of three parameters.
func isSecond(key []byte) bool {
	var number int
	_, _ = fmt.Sscanf(string(key[len("p/"):]), "%d", &number)
	return number%3 == 1
}

// A load that ends early counts the tasks that were due and had not begun, and those that it cut off.
func TestABurstThatIsStoppedCountsTheTasksThatWereDue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, abort := context.WithCancel(t.Context())
		defer abort()
		e := burstTrial(t, 6, func(*Request) (string, time.Duration) { return "", time.Hour }, nil)
		done := e.start(ctx)
		time.Sleep(3 * time.Second)
		e.stop()
		e.drain(ctx, done, time.Second, abort)
		r := e.recorder.results(spec.OperationFetch)
		if n := r.Censored.Count(); n < 299 || n > 301 || r.Latency.Count()+r.Failed.Count() > 0 {
			t.Errorf("%d tasks were unanswered, %d answered, wanted 300 and 0", n, r.Latency.Count()+r.Failed.Count())
		}
	})
}

// A burst whose requests succeed does not look silent before its first process has ended. After a stop, no process sends its
// next request, and those that are not done were cut off, whether a request succeeds or times out.
func TestAStopEndsTasksBetweenTheirRequests(t *testing.T) {
	for name, code := range map[string]string{"success": "", "time-out": CodeDeadlineExceeded} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var sent atomic.Int64
				e := burstTrial(t, 0, func(*Request) (string, time.Duration) {
					if sent.Add(1) > 600 {
						return code, 2 * time.Second
					}
					return "", 2 * time.Second
				}, nil)
				done := e.start(t.Context())
				time.Sleep(3 * time.Second)
				if silent := e.recorder.lastSuccess(); silent != e.measured.start.Add(2*time.Second) {
					t.Errorf("the last success was at %v, wanted 2 s", silent.Sub(e.measured.start))
				}
				e.stop()
				<-done
				r := e.recorder.results(spec.OperationFetch)
				if r.Censored.Count() != 600 || r.Censored.Max() != 4*time.Second || r.Latency.Count()+r.Failed.Count() > 0 || sent.Load() != 1200 {
					t.Errorf("%d tasks were cut off after at most %v, %d failed, of %d requests", r.Censored.Count(), r.Censored.Max(), r.Failed.Count(), sent.Load())
				}
			})
		})
	}
}

// The pods of a burst send each task once, whatever their shares are, and two pods add up to one.
func TestThePodsOfABurstShareItsTasks(t *testing.T) {
	for _, pods := range []int{1, 3} {
		p := planOf(bursting(0, 100), func(p *plan.Plan) { p.Load.Pods, p.Load.Connections = int32(pods), 7 })
		var slow atomic.Int64
		drivers := make([]*fakeDriver, pods)
		for i := range drivers {
			drivers[i] = &fakeDriver{answer: func(ctx context.Context, _ *Request, resp *Response) {
				if PhaseOf(ctx) == results.PhaseMeasured && slow.Add(1) <= 3 {
					resp.Code = CodeDeadlineExceeded
				}
			}}
		}
		merged := results.Merge(runParts(t, p, drivers))
		if n := merged.Operations[spec.OperationFetch].Latency.Count(); n != 100 || merged.Started != 100 || merged.Burst.Values != 100*3*10 {
			t.Errorf("%d pods: %d processes succeeded, %d started, %+v", pods, n, merged.Started, merged.Burst)
		}
		timeouts := 0
		for i, n := range merged.Burst.Timeouts {
			timeouts += int(n) * results.TimeoutsFrom(i)
		}
		sent := sentBy(drivers, results.PhaseMeasured)
		if timeouts != 3 || merged.Requests[spec.RPC(spec.OperationRange)][results.PhaseMeasured] != 303 || len(sent) != 300 {
			t.Errorf("%d pods: %d time-outs, %v requests of %d keys, wanted 3, 303 and 300", pods, timeouts, merged.Requests, len(sent))
		}
		if preloaded := sentBy(drivers, results.PhasePreload); len(preloaded) != 300 {
			t.Errorf("%d pods: %d keys were written, wanted 300", pods, len(preloaded))
		}
	}
}

// What the load generator adds counts against the time until the last process: one that sends the first requests only over
// time is late, and one that sends them at once is not.
func TestALoadGeneratorThatStartsTasksSlowlyIsLate(t *testing.T) {
	for name, tc := range map[string]struct {
		each time.Duration
		late bool
	}{"at once": {0, false}, "slowly": {2 * time.Millisecond, true}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				e := burstTrial(t, 0, func(*Request) (string, time.Duration) { return "", 50 * time.Millisecond }, func(r *Request) {
					if isSecond(r.Key) {
						return
					}
					time.Sleep(tc.each)
				})
				<-e.start(t.Context())
				s := results.Summarize([]*results.Snapshot{{
					Stage: results.StageDone, Operations: map[spec.Operation]*results.OperationResult{spec.OperationFetch: e.recorder.results(spec.OperationFetch)},
					Window: results.Window{Start: e.measured.start.Wall(), End: e.recorder.last().Wall(), LastResponse: e.recorder.last().Wall(), PlannedRequests: 600},
				}})
				fetch := s.Operations[0]
				late := fetch.Lateness.Values[spec.StatisticP99].Duration
				if fetch.Harmless != s.Length/10 || (late > fetch.Harmless) != tc.late || (*fetch.Late > 0) != tc.late {
					t.Errorf("requests were up to %v late (p99), %v is harmless, and all took %v; %d were late", late, fetch.Harmless, s.Length, *fetch.Late)
				}
			})
		})
	}
}

// What the load generator adds between the requests of a task is lateness, too, and no service time.
func TestADelayBetweenTheRequestsOfATaskIsLateness(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := burstTrial(t, 0, quickly, func(r *Request) {
			if isSecond(r.Key) {
				time.Sleep(2 * time.Millisecond)
			}
		})
		<-e.start(t.Context())
		r := e.recorder.results(spec.OperationFetch)
		for _, c := range []struct{ late, service, latency Instant }{{Instant(r.Lateness.Min()), Instant(r.Service.Min()), Instant(r.Latency.Min())}, {Instant(r.Lateness.Max()), Instant(r.Service.Max()), Instant(r.Latency.Max())}} {
			if c.late != Instant(2*time.Millisecond) || c.late+c.service != c.latency {
				t.Errorf("a process took %v, %v of it in service, and was %v late; wanted 2 ms", c.latency, c.service, c.late)
			}
		}
	})
}

func TestASessionRefusesMoreConnectionsThanItsFiles(t *testing.T) {
	files, known := process.OpenFiles()
	if !known || files > 99_000 {
		t.Skipf("the limit of open files is %d", files)
	}
	s := newSession(t, planOf(bursting(0, int32(files)-filesBeside+1)), 0, &fakeDriver{}, newControl())
	err := s.Run(t.Context())
	if f := FailureOf(err); f == nil || f.Reason != results.FailurePodFailed || !strings.Contains(f.Message, text.Grouped(files)+" files") {
		t.Errorf("got %v, wanted one that names the limit of %d files", err, files)
	}
}
