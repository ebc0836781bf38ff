package load

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
	"github.com/etcdbench/etcd-benchmark-operator/internal/workload"
)

// watchDriver has connections whose watchers receive each put at once, except those that drop selects.
type watchDriver struct {
	*fakeDriver
	fail error
	drop func(watcher int) bool

	mutex    sync.Mutex
	watchers []Watcher
	// connects is the number of opened connections. carriers are the numbers of those that carry streams.
	connects  int
	carriers  []int
	audience  Audience
	preloaded int
	lasting   context.Context
}

func newWatchDriver() *watchDriver {
	d := &watchDriver{fakeDriver: &fakeDriver{}}
	d.answer = func(_ context.Context, req *Request, _ *Response) { d.tell(req) }
	return d
}

func (d *watchDriver) tell(req *Request) {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	if d.audience == nil {
		d.preloaded++
		return
	}
	for _, w := range d.watchers {
		if d.drop == nil || !d.drop(w.Number) {
			d.audience.Event(w.Number, Now(), req.Value)
		}
	}
}

func (d *watchDriver) Connect(ctx context.Context, connection int) (Conn, error) {
	conn, err := d.fakeDriver.Connect(ctx, connection)
	d.mutex.Lock()
	defer d.mutex.Unlock()
	d.connects++
	return &watchConn{Conn: conn, driver: d, connection: connection}, err
}

type watchConn struct {
	Conn
	driver     *watchDriver
	connection int
}

func (c *watchConn) Watch(ctx context.Context, watchers []Watcher, audience Audience) error {
	d := c.driver
	d.mutex.Lock()
	defer d.mutex.Unlock()
	d.watchers = append(d.watchers, watchers...)
	d.carriers = append(d.carriers, c.connection)
	d.audience = audience
	d.lasting = ctx
	return d.fail
}

func runWatched(t *testing.T, d *watchDriver, changes ...func(*plan.Plan)) (*results.Snapshot, error) {
	t.Helper()
	s, err := NewSession(Config{Plan: watchedPlan(changes...), Driver: d, Control: newControl()})
	if err != nil {
		t.Fatal(err)
	}
	err = s.Run(t.Context())
	return s.Snapshot(), err
}

func TestWatchersAreThereBetweenPreloadAndLoad(t *testing.T) {
	d := newWatchDriver()
	s, err := runWatched(t, d)
	if err != nil {
		t.Fatal(err)
	}
	if len(d.watchers) != 6 || d.preloaded != 50 {
		t.Errorf("%d watchers were opened, after %d of 50 puts of the preload", len(d.watchers), d.preloaded)
	}
	for i, w := range d.watchers {
		if w.Number != i || string(w.Key) != "p/0000" || string(w.End) != "p/0049\x00" {
			t.Errorf("watcher %d is %+v", i, w)
		}
	}
	if want := (results.Watch{Watchers: 6, Expected: 6 * 1003}); s.Watch != want {
		t.Errorf("got %+v, wanted %+v", s.Watch, want)
	}
	if got := s.Operations[spec.OperationWatchEvent].Latency.Count(); got != 6*1003 || endedOf(s).Succeeded != 13*1003 {
		t.Errorf("%d events were timed, wanted six for each of 1003 puts", got)
	}
}

// Streams share the connections of the load, or have their own, which carry no puts.
func TestStreamsHaveTheConnectionsOfThePlan(t *testing.T) {
	for name, tc := range map[string]struct {
		connections int32
		want        []int
	}{
		"shared":       {0, []int{0, 1, 2, 0}},
		"of their own": {2, []int{0, 1, 0, 1}},
		"one each":     {4, []int{0, 1, 2, 3}},
	} {
		t.Run(name, func(t *testing.T) {
			d := newWatchDriver()
			if _, err := runWatched(t, d, func(p *plan.Plan) {
				p.Load.Connections, p.Load.Clients = 3, 3
				p.Workload.Watch.Streams, p.Workload.Watch.WatchersPerStream, p.Workload.Watch.Connections = 4, 1, tc.connections
			}); err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(d.carriers, tc.want) {
				t.Errorf("the streams are on the connections %v, wanted %v", d.carriers, tc.want)
			}
			if d.connects != 3+int(tc.connections) {
				t.Errorf("%d connections were opened, wanted 3 and %d", d.connects, tc.connections)
			}
		})
	}
}

func TestAWatcherOfAKeyIsItsNumberModuloKeys(t *testing.T) {
	d := newWatchDriver()
	if _, err := runWatched(t, d, func(p *plan.Plan) {
		p.Workload.Watch.Scope, p.Workload.Watch.Keys.Count = spec.WatchScopeKey, 4
	}); err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"p/0000", "p/0001", "p/0002", "p/0003", "p/0000", "p/0001"} {
		if w := d.watchers[i]; string(w.Key) != want || len(w.End) > 0 {
			t.Errorf("watcher %d watches %q to %q, wanted %q alone", i, w.Key, w.End, want)
		}
	}
}

// The run waits for events as long as for a response, and reports those that it missed.
func TestEventsThatNeverComeAreMissed(t *testing.T) {
	d := newWatchDriver()
	d.drop = func(watcher int) bool { return watcher == 4 }
	s, err := runWatched(t, d, func(p *plan.Plan) { p.Load.RequestTimeoutSeconds, p.Load.Requests = 1, new(int64(100)) })
	if err != nil {
		t.Fatal(err)
	}
	if s.Watch.Expected != 600 || s.Watch.Missed != 100 {
		t.Errorf("got %+v, wanted 100 missed of 600", s.Watch)
	}
}

func TestASessionFailsIfItCannotWatch(t *testing.T) {
	d := newWatchDriver()
	d.fail = errors.New("no stream")
	if _, err := runWatched(t, d); !errors.Is(err, d.fail) {
		t.Errorf("got %v, wanted %v", err, d.fail)
	}
	if d.lasting.Err() == nil || !d.released.Load() {
		t.Errorf("the watchers have ended: %v, the prefix is released: %v", d.lasting.Err(), d.released.Load())
	}
	s, err := NewSession(Config{Plan: watchedPlan(), Driver: &fakeDriver{}, Control: newControl()})
	if err != nil {
		t.Fatal(err)
	}
	if f := FailureOf(s.Run(t.Context())); f == nil || f.Reason != results.FailureInvalidPlan {
		t.Errorf("connections that carry no watches: got %+v", f)
	}
}

// An API server watches each resource as a whole.
func TestAnAPIServerWatchesEachResource(t *testing.T) {
	d := newWatchDriver()
	d.drop = func(int) bool { return true }
	s, err := NewSession(Config{Driver: d, Control: newControl(), Plan: planOf(func(p *plan.Plan) {
		p.FirstLease, p.Load.Requests = workload.LeaseIDs, new(int64(16))
		p.Workload = spec.Workload{Type: spec.WorkloadKubernetes, Kubernetes: &spec.Kubernetes{Profile: spec.ClusterSmall}}
	})})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"p/registry/leases/": "p/registry/leases0", "p/registry/pods/": "p/registry/pods0", "p/registry/events/": "p/registry/events0"}
	for _, w := range d.watchers {
		if end := want[string(w.Key)]; end != string(w.End) || !w.PrevKV || !w.Reflect {
			t.Errorf("it watches %s to %s, previous values: %v, as an API server: %v; wanted that to %q", w.Key, w.End, w.PrevKV, w.Reflect, end)
		}
		delete(want, string(w.Key))
	}
	if len(want) > 0 {
		t.Errorf("no watcher watches %v", want)
	}
}
