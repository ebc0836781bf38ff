package load

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
	"github.com/etcdbench/etcd-benchmark-operator/internal/workload"
)

// replayDriver has connections whose watchers read each history once with each measured read, and miss one event.
type replayDriver struct {
	*fakeDriver
	mutex     sync.Mutex
	revision  int64
	histories []History
	watchers  int
	// connects is the number of opened connections. carriers are the numbers of those that carry streams.
	connects int
	carriers []int
	audience ReplayAudience
	lasting  context.Context
}

func newReplayDriver() *replayDriver {
	d := &replayDriver{fakeDriver: &fakeDriver{}}
	d.answer = func(ctx context.Context, req *Request, resp *Response) {
		d.mutex.Lock()
		defer d.mutex.Unlock()
		if req.Operation == spec.OperationPut {
			d.revision++
			resp.Revision = d.revision
		} else {
			d.audience.Replayed(2, 1)
		}
	}
	return d
}

func (d *replayDriver) Connect(ctx context.Context, connection int) (Conn, error) {
	conn, err := d.fakeDriver.Connect(ctx, connection)
	d.mutex.Lock()
	defer d.mutex.Unlock()
	d.connects++
	return &replayConn{Conn: conn, driver: d, connection: connection}, err
}

type replayConn struct {
	Conn
	driver     *replayDriver
	connection int
}

func (c *replayConn) Replay(ctx context.Context, watchers int, history History, audience ReplayAudience) {
	d := c.driver
	d.mutex.Lock()
	defer d.mutex.Unlock()
	d.histories = append(d.histories, history)
	d.watchers += watchers
	d.carriers = append(d.carriers, c.connection)
	d.audience, d.lasting = audience, ctx
}

func replayPlan(p *plan.Plan) {
	p.Workload = spec.Workload{Type: spec.WorkloadWatchGet, WatchGet: &spec.WatchGet{
		Streams: 3, WatchersPerStream: 7, Events: 3, Keys: fewKeys(), Values: shortValues(),
	}}
}

func TestWatchersReadWhatWasWrittenBeforeTheLoad(t *testing.T) {
	d := newReplayDriver()
	s, err := NewSession(Config{Plan: planOf(replayPlan), Driver: d, Control: newControl()})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	// Fifty puts create the keys; three more write the history.
	history := History{Key: []byte("p/0000"), First: 51, Last: 53}
	if diff := cmp.Diff([]History{history, history, history}, d.histories); diff != "" {
		t.Errorf("histories of three streams (-want +got):\n%s", diff)
	}
	want := results.Watch{Watchers: 21, Replays: 1003, Expected: 3 * 1003, Missed: 1003, Duplicate: 1003}
	if got := s.Snapshot().Watch; got != want {
		t.Errorf("got %+v, wanted %+v", got, want)
	}
	if d.lasting.Err() == nil {
		t.Error("the watchers were not ended")
	}
}

func TestReplaysHaveTheConnectionsOfThePlan(t *testing.T) {
	d := newReplayDriver()
	s, err := NewSession(Config{Plan: planOf(replayPlan, func(p *plan.Plan) {
		p.Load.Connections, p.Load.Clients, p.Workload.WatchGet.Connections = 3, 3, 2
	}), Driver: d, Control: newControl()})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if want := []int{0, 1, 0}; !slices.Equal(d.carriers, want) || d.connects != 5 {
		t.Errorf("the streams are on the connections %v of %d, wanted %v of 5", d.carriers, d.connects, want)
	}
}

func TestReplaysOfTheWarmUpDoNotCount(t *testing.T) {
	r := &replays{settings: workload.History{Events: 2}, inWindow: func() bool { return false }}
	r.Replayed(2, 2)
	r.Cancelled()
	if got := r.results(); got != (results.Watch{}) {
		t.Errorf("got %+v", got)
	}
	r.inWindow = func() bool { return true }
	r.Replayed(3, 0)
	r.Cancelled()
	if want := (results.Watch{Replays: 1, Expected: 2, Cancelled: 1}); r.results() != want {
		t.Errorf("got %+v, wanted %+v", r.results(), want)
	}
}

func TestTheFirstCompactionIsReported(t *testing.T) {
	for name, tc := range map[string]struct {
		found []time.Duration
		want  time.Duration
	}{
		"never":             {nil, 0},
		"before the window": {[]time.Duration{-time.Second, 3 * time.Second}, time.Millisecond},
		"in it":             {[]time.Duration{2 * time.Second, 3 * time.Second}, 2 * time.Second},
		"after it":          {[]time.Duration{11 * time.Second}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			now := time.Duration(0)
			r := &replays{inWindow: func() bool { return now >= 0 && now < 10*time.Second }, sinceStart: func() time.Duration { return now }}
			for _, now = range tc.found {
				r.Compacted()
			}
			if got := r.results().CompactedAfter; got != tc.want {
				t.Errorf("gone since %v, wanted %v", got, tc.want)
			}
		})
	}
}

func TestACompactedHistoryIsReported(t *testing.T) {
	d := newReplayDriver()
	answer := d.answer
	d.answer = func(ctx context.Context, req *Request, resp *Response) {
		if answer(ctx, req, resp); req.Operation != spec.OperationPut {
			d.audience.Compacted()
		}
	}
	s, err := NewSession(Config{Plan: planOf(replayPlan), Driver: d, Control: newControl()})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := s.Snapshot().Watch.CompactedAfter; got < time.Millisecond || got > time.Minute {
		t.Errorf("gone since %v, wanted a time in the window", got)
	}
}

func TestASessionFailsIfItCannotReplay(t *testing.T) {
	s, err := NewSession(Config{Plan: planOf(replayPlan), Driver: &fakeDriver{}, Control: newControl()})
	if err != nil {
		t.Fatal(err)
	}
	if f := FailureOf(s.Run(t.Context())); f == nil || f.Reason != results.FailureInvalidPlan {
		t.Errorf("connections that carry no watches: got %+v", f)
	}
}
