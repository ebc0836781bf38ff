package load

import (
	"context"
	"math"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/internal/load/members"
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
	"github.com/etcdbench/etcd-benchmark-operator/internal/workload"
)

// fakeDriver is a Driver without a target. Its zero value responds at once; hooks, called before each response, change
// that.
type fakeDriver struct {
	// hook is called for every step except requests, with the step's name. Its result is the step's error.
	hook func(ctx context.Context, step string) error
	// answer fills the response of a request that was just sent; Received defaults to now.
	answer func(ctx context.Context, req *Request, resp *Response)
	// memory is the resident memory in bytes of the sampled members.
	memory map[string]int64
	// first is the preflight's view of the members; nil means a healthy one.
	first func() members.View
	// view is the members' view; nil means an empty one.
	view func() members.View
	// signs are the signs of life in the store; nil means none.
	signs func() map[string]int64
	// sample changes a member's metrics.
	sample func(n int64, s *members.Sample)

	samples atomic.Int64
	counter RequestCounter
	bodies  BodyCounter
	mutex   sync.Mutex
	// sent is how often each operation was sent, by phase.
	sent     map[results.Phase]map[string]int
	steps    []string
	released atomic.Bool
	closed   atomic.Bool
}

var _ Driver = (*fakeDriver)(nil)

func (d *fakeDriver) step(ctx context.Context, step string) error {
	d.mutex.Lock()
	d.steps = append(d.steps, step)
	d.mutex.Unlock()
	if d.hook != nil {
		return d.hook(ctx, step)
	}
	return nil
}

func (d *fakeDriver) Preflight(ctx context.Context) (*results.Target, members.View, error) {
	first := members.View{At: time.Now(), Members: map[string]members.State{"a": {Version: "3.7.3"}}}
	if d.first != nil {
		first = d.first()
	}
	return &results.Target{ClusterID: "c", Members: []results.Member{{ID: "a"}, {ID: "b"}}}, first, d.step(ctx, "preflight")
}

func (d *fakeDriver) Connect(ctx context.Context, connection int) (Conn, error) {
	return &fakeConn{d}, d.step(ctx, "connect")
}

func (d *fakeDriver) Claim(ctx context.Context) error { return d.step(ctx, "claim") }

func (d *fakeDriver) Sign(ctx context.Context) error { return d.step(ctx, "sign") }

func (d *fakeDriver) Signs(context.Context) (map[string]int64, error) {
	if d.signs == nil {
		return nil, nil
	}
	return d.signs(), nil
}

func (d *fakeDriver) Clean(ctx context.Context, _ map[string]int64) error {
	return d.step(ctx, "clean")
}

func (d *fakeDriver) Release(ctx context.Context) (results.Cleaning, error) {
	d.released.Store(true)
	if err := d.step(ctx, "release"); err != nil {
		return results.CleaningKeysLeft, err
	}
	return results.CleaningKeysDeleted, nil
}

// Sample returns a counter that rises by one with each sample.
func (d *fakeDriver) Sample(context.Context) map[string]members.Sample {
	n := d.samples.Add(1)
	out := map[string]members.Sample{}
	for id, bytes := range d.memory {
		s := members.Sample{
			At:       time.Now(),
			Counters: map[results.Figure]float64{results.FigureLeaderChanges: float64(n)},
			Gauges:   map[members.Gauge]float64{members.GaugeMemoryBytes: float64(bytes)},
		}
		if d.sample != nil {
			d.sample(n, &s)
		}
		out[id] = s
	}
	return out
}

// Disturb lasts as long as the hook.
func (d *fakeDriver) Disturb(ctx context.Context, p spec.Disturbance, report func(Step)) {
	s := Step{Began: Now(), Member: "a"}
	s.Err = d.step(ctx, string(p.Type))
	report(s)
}

func (d *fakeDriver) View(context.Context) members.View {
	if d.view == nil {
		return members.View{At: time.Now()}
	}
	return d.view()
}

func (d *fakeDriver) Requests() map[spec.RPC]map[results.Phase]uint64 { return d.counter.Counts() }

func (d *fakeDriver) Sessions() results.Sessions {
	return results.Sessions{Cuts: 2, LongestCut: time.Second, Timeout: time.Second}
}

func (d *fakeDriver) Bodies() results.Bodies { return d.bodies.Counts() }

func (d *fakeDriver) Wire() results.Bodies { return d.bodies.Counts() }

func (d *fakeDriver) Close() error {
	d.closed.Store(true)
	return nil
}

type fakeConn struct{ driver *fakeDriver }

func (c *fakeConn) Do(ctx context.Context, req *Request, resp *Response) {
	d := c.driver
	phase := PhaseOf(ctx)
	d.counter.Add(spec.RPC(req.Operation), phase)
	d.bodies.Add(phase, 100, 10)
	*resp = Response{Sent: Now()}
	d.note(phase, string(req.Operation)+" "+string(req.Key)+"="+string(req.Value))
	if d.answer != nil {
		d.answer(ctx, req, resp)
	}
	if resp.Received == 0 {
		resp.Received = Now()
	}
}

func (d *fakeDriver) note(phase results.Phase, operation string) {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	if d.sent == nil {
		d.sent = map[results.Phase]map[string]int{}
	}
	if d.sent[phase] == nil {
		d.sent[phase] = map[string]int{}
	}
	d.sent[phase][operation]++
}

// sentBy adds up the requests of several pods in a phase.
func sentBy(drivers []*fakeDriver, phase results.Phase) map[string]int {
	sum := map[string]int{}
	for _, d := range drivers {
		for operation, n := range d.sent[phase] {
			sum[operation] += n
		}
	}
	return sum
}

// fakeControl starts a session at once by default.
type fakeControl struct {
	// at is the common start; zero means now.
	at time.Time
	// silent: no start is ever announced.
	silent  bool
	stopped chan struct{}
	// admitted is closed when the session is admitted; nil means at once.
	admitted chan struct{}
}

var _ Control = (*fakeControl)(nil)

func newControl() *fakeControl { return &fakeControl{stopped: make(chan struct{})} }

func (c *fakeControl) StartAt(ctx context.Context) (time.Time, error) {
	if c.silent {
		<-ctx.Done()
		return time.Time{}, ctx.Err()
	}
	if c.at.IsZero() {
		return time.Now(), nil
	}
	return c.at, nil
}

func (c *fakeControl) Admitted(ctx context.Context) error {
	if c.admitted == nil {
		return nil
	}
	select {
	case <-c.admitted:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (c *fakeControl) Stopped() <-chan struct{} { return c.stopped }

// planOf returns a small plan of one pod, with changes applied.
func planOf(changes ...func(*plan.Plan)) plan.Plan {
	p := plan.Plan{
		Version: plan.Version, RunUID: "uid", Name: "test/run", TimeoutSeconds: 60,
		Target: plan.Target{Datastore: spec.Etcd, Endpoints: []string{"127.0.0.1:1"}, Members: spec.MembersAll},
		Run: workload.Run{
			Prefix: "p/",
			Workload: spec.Workload{Type: spec.WorkloadMixed, Mixed: &spec.Mixed{
				ReadPercent: 50, Consistency: spec.Linearizable, Keys: fewKeys(), Values: shortValues(),
			}},
			Load: spec.Load{
				Transport: spec.TransportClient, Pods: 1, Connections: 5, Clients: 20, Requests: new(int64(1_003)), RequestTimeoutSeconds: 5, Seed: 7,
			},
		},
		// No rule ends it.
		Guard: spec.Guard{StopOn: &spec.StopRules{}},
	}
	for _, change := range changes {
		change(&p)
	}
	return p
}

func fewKeys() spec.Keys { return spec.Keys{Count: 50, SizeBytes: 4, Distribution: spec.Uniform} }

func shortValues() spec.Values {
	return spec.Values{Content: spec.ContentRandom, SizeDistribution: spec.SizesUniform, SizeBytes: 8}
}

// putting limits a plan to writes.
func putting(p *plan.Plan) {
	p.Workload = spec.Workload{Type: spec.WorkloadPut, Put: &spec.Put{Keys: fewKeys(), Values: shortValues()}}
}

// forOneSecond is a closed loop, or with a rate an open loop, over the shortest possible window.
func forOneSecond(rate int64) func(*plan.Plan) {
	return func(p *plan.Plan) {
		p.Load.Requests, p.Load.DurationSeconds, p.Load.Rate = nil, new(int32(1)), perSecond(rate)
	}
}

// perSecond is the schedule of an open loop; nil, for a closed one, without a rate.
func perSecond(rate int64) *spec.Rate {
	if rate == 0 {
		return nil
	}
	return &spec.Rate{PerSecond: rate, Arrival: spec.ArrivalConstant}
}

func newSession(t *testing.T, p plan.Plan, index int, d Driver, c Control) *Session {
	t.Helper()
	s, err := NewSession(Config{Plan: p, Index: index, Driver: d, Control: c})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// runParts runs all parts of a plan concurrently, each on its driver, and returns their final snapshots.
func runParts(t *testing.T, p plan.Plan, drivers []*fakeDriver) []*results.Snapshot {
	t.Helper()
	snapshots := make([]*results.Snapshot, p.Pods())
	var running sync.WaitGroup
	for i := range p.Pods() {
		s := newSession(t, p, i, drivers[i], newControl())
		running.Go(func() {
			if err := s.Run(t.Context()); err != nil {
				t.Errorf("pod %d: %v", i, err)
			}
			snapshots[i] = s.Snapshot()
		})
	}
	running.Wait()
	return snapshots
}

// run runs a plan of one pod.
func run(t *testing.T, p plan.Plan, d *fakeDriver) *results.Snapshot {
	t.Helper()
	return runParts(t, p, []*fakeDriver{d})[0]
}

// ended counts the measured requests by outcome.
type ended struct{ Succeeded, Failed, Censored uint64 }

func endedOf(s *results.Snapshot) ended {
	var e ended
	for _, o := range s.Operations {
		e.Succeeded += o.Latency.Count()
		e.Failed += o.Failed.Count()
		e.Censored += o.Censored.Count()
	}
	return e
}

func sentIn(s *results.Snapshot, phase results.Phase) uint64 {
	var n uint64
	for _, phases := range s.Requests {
		n += phases[phase]
	}
	return n
}

// always returns a permit that never ends.
func always() *permit {
	p := &permit{}
	p.until.Store(math.MaxInt64)
	return p
}
