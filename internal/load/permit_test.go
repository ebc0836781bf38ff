package load

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// withoutSlots makes the clients of a trial use goroutines.
type withoutSlots struct {
	Conn
	conn *asyncConn
}

func (c withoutSlots) Do(ctx context.Context, req *Request, resp *Response) {
	if c.conn.seen != nil {
		c.conn.seen(req)
	}
	*resp = Response{Sent: Now()}
	_, after := c.conn.answer(req)
	time.Sleep(after)
	resp.Received = Now()
}

// A load that may not send from second 2 to second 4 sends nothing then. What was due meanwhile is sent afterwards, and
// its wait is not the generator's lateness.
func TestNothingIsSentWithoutAConfirmedSign(t *testing.T) {
	for name, tc := range map[string]struct {
		load  spec.Load
		slots bool
		want  counts
	}{
		"open loop, loops":        {spec.Load{Clients: 4, DurationSeconds: new(int32(6)), Rate: perSecond(100)}, true, counts{Latency: 600, InWindow: 600}},
		"closed loop, goroutines": {spec.Load{Clients: 1, Requests: new(int64(1200))}, false, counts{Latency: 1200, InWindow: 1200}},
		"closed loop, loops":      {spec.Load{Clients: 1, Requests: new(int64(1200))}, true, counts{Latency: 1200, InWindow: 1200}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var mutex sync.Mutex
				var wrong []Instant
				start := Instant(0)
				e := newTrial(t, tc.load, 2, quickly, func(*Request) {
					mutex.Lock()
					defer mutex.Unlock()
					if at := Now(); at > start.Add(2*time.Second) && at < start.Add(4*time.Second) {
						wrong = append(wrong, at)
					}
				})
				if !tc.slots {
					for _, c := range e.clients {
						c.conn = withoutSlots{conn: c.conn.(*asyncConn)}
					}
				}
				start = Now()
				e.permit.until.Store(int64(start.Add(2 * time.Second)))
				done := e.start(t.Context())
				time.Sleep(4 * time.Second)
				e.permit.extend(Now())
				<-done
				if len(wrong) > 0 {
					t.Errorf("%d requests were sent in between, the first %v after the start", len(wrong), wrong[0].Sub(start))
				}
				if diff := cmp.Diff(tc.want, e.counts()); diff != "" {
					t.Error(diff)
				}
				r := e.recorder.results(spec.OperationPut)
				if r.Latency.Max() < 1900*time.Millisecond || r.Lateness.Max() > 0 {
					t.Errorf("the longest latency is %v, the longest lateness %v; wanted 2s and 0", r.Latency.Max(), r.Lateness.Max())
				}
			})
		})
	}
}

// As above, with goroutines that the kernel wakes up. Their clock cannot be replaced.
func TestAnOpenLoopOfGoroutinesWaitsForTheConfirmedSign(t *testing.T) {
	var sent atomic.Int64
	e := newTrial(t, spec.Load{Clients: 4, DurationSeconds: new(int32(1)), Rate: perSecond(100)}, 1, quickly, func(*Request) { sent.Add(1) })
	for _, c := range e.clients {
		c.conn = withoutSlots{conn: c.conn.(*asyncConn)}
	}
	e.permit.end()
	done := e.start(t.Context())
	for e.measured.next.Load() < 4 {
		runtime.Gosched()
	}
	<-time.After(50 * time.Millisecond)
	if n := sent.Load(); n > 0 {
		t.Errorf("%d requests were sent without permission", n)
	}
	permitted := Now()
	e.permit.extend(permitted)
	<-done
	r := e.recorder.results(spec.OperationPut)
	if e.counts().Latency < 4 || r.Backlog.Count() < 4 || r.Lateness.Max() > Now().Sub(permitted) {
		t.Errorf("got %+v, %d waited for the permission, the longest lateness is %v", e.counts(), r.Backlog.Count(), r.Lateness.Max())
	}
}

// Requests that wait for the permission when the load is cut off are not sent, and are counted.
func TestRequestsWithoutPermissionAreCensored(t *testing.T) {
	for _, slots := range []bool{true, false} {
		t.Run(fmt.Sprintf("slots=%t", slots), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				e := newTrial(t, spec.Load{Clients: 3, DurationSeconds: new(int32(1))}, 1, quickly, func(*Request) { t.Error("a request was sent") })
				if !slots {
					for _, c := range e.clients {
						c.conn = withoutSlots{conn: c.conn.(*asyncConn)}
					}
				}
				e.permit.end()
				ctx, abort := context.WithCancel(t.Context())
				done := e.start(ctx)
				time.Sleep(time.Second)
				e.drain(t.Context(), done, time.Second, abort)
				if diff := cmp.Diff(counts{Censored: 3}, e.counts()); diff != "" {
					t.Error(diff)
				}
			})
		})
	}
}

// trialSigns are the signs of a pod over a driver without a target.
type trialSigns struct {
	signs
	start Instant
	lost  error
}

func newTrialSigns(sign func(ctx context.Context, n int) error) *trialSigns {
	n := 0
	var mutex sync.Mutex
	d := &fakeDriver{hook: func(ctx context.Context, _ string) error {
		mutex.Lock()
		n++
		mine := n
		mutex.Unlock()
		return sign(ctx, mine)
	}}
	s := &trialSigns{}
	s.signs = signs{driver: d, permit: &permit{}, lost: func(err error) { s.lost = err }}
	origin = time.Now()
	return s
}

// permitted begins the signs, and returns at which of the next seconds the pod may send.
func (s *trialSigns) permitted(seconds int) (may []int) {
	s.start = Now()
	s.begin(s.start)
	defer s.end()
	for second := range seconds {
		if s.permit.isOpen() {
			may = append(may, second)
		}
		time.Sleep(time.Second)
		synctest.Wait()
	}
	return may
}

func seconds(ranges ...[2]int) (all []int) {
	for _, r := range ranges {
		for s := r[0]; s < r[1]; s++ {
			all = append(all, s)
		}
	}
	return all
}

func TestSignsOfLife(t *testing.T) {
	unavailable := errors.New("unavailable")
	tests := map[string]struct {
		sign func(ctx context.Context, n int) error
		want []int
		lost error
	}{
		"all are confirmed": {func(context.Context, int) error { return nil }, seconds([2]int{0, 100}), nil},
		"none is answered":  {func(ctx context.Context, _ int) error { <-ctx.Done(); return ctx.Err() }, seconds([2]int{0, 40}), nil},
		// The signs at seconds 20 and 25 hang, and the one at second 30 reaches another member.
		"two hang": {func(ctx context.Context, n int) error {
			if n == 1 || n == 2 {
				<-ctx.Done()
			}
			return ctx.Err()
		}, seconds([2]int{0, 100}), nil},
		// Signs begin at seconds 20, 25, ... Number 9 is sent at second 60.
		"an outage of 35 s": {func(_ context.Context, n int) error {
			if n < 9 {
				return unavailable
			}
			return nil
		}, seconds([2]int{0, 40}, [2]int{60, 100}), nil},
		"given up": {func(_ context.Context, n int) error {
			if n > 1 {
				return ErrDisowned
			}
			return nil
		}, seconds([2]int{0, 45}), ErrDisowned},
		"refused for a while": {func(_ context.Context, n int) error {
			if n < 3 {
				return fmt.Errorf("%w: no space", ErrRefused)
			}
			return nil
		}, seconds([2]int{0, 100}), nil},
		"refused, and then none is answered": {func(ctx context.Context, n int) error {
			if n < 2 {
				return fmt.Errorf("%w: no space", ErrRefused)
			}
			<-ctx.Done()
			return ctx.Err()
		}, seconds([2]int{0, 40}), nil},
		"refused": {func(context.Context, int) error { return fmt.Errorf("%w: no space", ErrRefused) }, seconds([2]int{0, 40}), ErrRefused},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			before := origin
			defer func() { origin = before }()
			synctest.Test(t, func(t *testing.T) {
				s := newTrialSigns(tc.sign)
				if diff := cmp.Diff(tc.want, s.permitted(100)); diff != "" {
					t.Errorf("seconds in which the pod may send (-want +got):\n%s", diff)
				}
				if !errors.Is(s.lost, tc.lost) {
					t.Errorf("got the error %v, wanted %v", s.lost, tc.lost)
				}
				if f := FailureOf(s.lost); f != nil && f.Reason != results.FailureOwnershipLost {
					t.Errorf("got the reason %s", f.Reason)
				}
			})
		})
	}
}
