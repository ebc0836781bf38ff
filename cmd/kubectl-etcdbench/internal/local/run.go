package local

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/benchmark"
	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore"
	"github.com/etcdbench/etcd-benchmark-operator/internal/lifecycle"
	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
	"github.com/etcdbench/etcd-benchmark-operator/internal/load/tuning"
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// ErrLeft is returned where the run was left before it could clean up.
var ErrLeft = errors.New("left before the run had ended")

const (
	// askEvery is how often the sessions are asked whether they are ready.
	askEvery = 25 * time.Millisecond
	// observeEvery is how often their numbers are read and shown. That takes
	// CPU from the load in the same process, so it is not done more often.
	observeEvery = 500 * time.Millisecond
	// startDelay is from the moment when all sessions are ready to their
	// common start; they share a process, so it need not be long.
	startDelay = 50 * time.Millisecond
)

// Run runs an admitted EtcdBenchmark to its end, fills in its status, and
// returns what came when, nil if nothing did. It returns an error, and leaves
// the status alone, where the run could not even be tried. When ctx ends it
// returns ErrLeft at once.
func Run(ctx context.Context, run *v1alpha1.EtcdBenchmark, o Options) (timeline *benchmark.Timeline, err error) {
	if err := o.Validate(run); err != nil {
		return nil, err
	}
	endpoints := run.Spec.Target.Endpoints
	if o.EmbeddedMembers > 0 {
		o.Notice(fmt.Sprintf("Starting embedded etcd members: %d.", o.EmbeddedMembers))
		members, err := startCluster(ctx, o.EmbeddedMembers)
		if err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, members.close()) }()
		endpoints = members.endpoints()
	}
	c, err := newConductor(run, o, endpoints)
	if err != nil {
		return nil, err
	}
	if err := c.conduct(ctx); err != nil {
		return nil, err
	}
	return benchmark.NewTimeline(results.Merge(c.snapshots()).Timeline), nil
}

// conductor does for sessions in this process what the operator does for pods.
type conductor struct {
	run      *v1alpha1.EtcdBenchmark
	options  Options
	plan     plan.Plan
	sessions []*load.Session
	gate     *gate
	// ended has, for each session, whether it has ended.
	ended []atomic.Bool
	// stopped: the user has interrupted the run. ending is why the run ends early.
	stopped bool
	ending  *v1alpha1.Ending
	// observed is when status was last brought up to date.
	observed time.Time
}

func newConductor(run *v1alpha1.EtcdBenchmark, o Options, endpoints []string) (*conductor, error) {
	p, err := o.plan(run, endpoints)
	if err != nil {
		return nil, err
	}
	if o.EmbeddedMembers == 0 {
		tuning.Process(p.Load)
	}
	c := &conductor{run: run, options: o, plan: p, gate: newGate(), ended: make([]atomic.Bool, p.Pods())}
	for i := range p.Pods() {
		s, err := load.NewSession(load.Config{Plan: p, Index: i, Driver: datastore.New(p, i), Control: c.gate})
		if err != nil {
			return nil, err
		}
		c.sessions = append(c.sessions, s)
	}
	return c, nil
}

// conduct starts the sessions and stays with them until the last has ended.
func (c *conductor) conduct(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	c.begin(time.Now())
	one, all := c.startSessions(ctx)
	ticker := time.NewTicker(askEvery)
	defer ticker.Stop()
	stop := c.options.Stop
	for {
		select {
		case <-all:
			c.finish(time.Now())
			return nil
		case <-ctx.Done():
			return c.left()
		case <-one:
			c.decide(time.Now())
		case <-stop:
			stop = nil
			c.interrupt(time.Now())
		case now := <-ticker.C:
			c.look(now)
		}
	}
}

// look calls decide at intervals, and as soon as all sessions are ready to start.
func (c *conductor) look(now time.Time) {
	if now.Sub(c.observed) >= observeEvery || c.run.Status.StartAt == nil && c.ending == nil && c.allReady() {
		c.decide(now)
	}
}

// startSessions starts the sessions. It returns a channel that receives a value for each
// session that ends, and one that is closed when all have ended.
func (c *conductor) startSessions(ctx context.Context) (one, all chan struct{}) {
	one, all = make(chan struct{}, len(c.sessions)), make(chan struct{})
	var running sync.WaitGroup
	for i, s := range c.sessions {
		running.Go(func() {
			// The snapshot has the error.
			_ = s.Run(ctx)
			c.ended[i].Store(true)
			one <- struct{}{}
		})
	}
	go func() {
		running.Wait()
		close(all)
	}()
	return one, all
}

// interrupt stops a run, unless only the deletion of its keys is left: such a run is
// complete.
func (c *conductor) interrupt(now time.Time) {
	if !slices.ContainsFunc(c.see().Pods, func(p lifecycle.Pod) bool { return !p.HasWholeResult() }) {
		c.options.Notice("All was measured, and the result follows once the keys of the run are deleted. Ctrl-C again leaves without it.")
		return
	}
	c.options.Notice("Stopping the run; what was measured until now follows. Ctrl-C again leaves without it.")
	c.stopped = true
	c.decide(now)
}

func (c *conductor) left() error {
	if c.options.EmbeddedMembers > 0 {
		return ErrLeft
	}
	return fmt.Errorf("%w: keys may be left in the target. To delete them: %s", ErrLeft, benchmark.RemovalCommand(c.run))
}

func (c *conductor) allReady() bool {
	for _, s := range c.sessions {
		if !s.Ready() {
			return false
		}
	}
	return true
}

// theJob is the UID of the load Job, which exists only in a cluster.
const theJob = "this process"

// see returns the run as the operator would see it, with a pod for each session.
func (c *conductor) see() lifecycle.Observed {
	run := c.run.DeepCopy()
	run.Spec.Stop, run.Status.Ending = c.stopped, c.ending
	// There is no scheduling, so that its time-out does not apply.
	run.Spec.SchedulingTimeoutSeconds = math.MaxInt32
	run.Status.Job = &v1alpha1.JobReference{UID: theJob}
	o := lifecycle.Observed{Run: run, Job: lifecycle.Job{Exists: true, UID: theJob, Created: run.Status.StartTime.Time}, PodsLive: true}
	// Read before the snapshots: the snapshot of a session that ends in between can be older
	// than its end.
	ended := make([]bool, len(c.sessions))
	for i := range ended {
		ended[i] = c.ended[i].Load()
	}
	for i, snap := range c.snapshots() {
		p := lifecycle.Pod{Index: i, State: lifecycle.PodRunning, Started: true, Ready: c.sessions[i].Ready(), Live: snap, Stop: c.gate.isStopped()}
		if at := run.Status.StartAt; at != nil {
			p.StartAt = lifecycle.FormatStart(*at)
		}
		if ended[i] {
			p.State, p.Exited, p.Final = lifecycle.PodEnded, true, snap
		}
		o.Pods = append(o.Pods, p)
	}
	return o
}

// decide does what the operator would do next.
func (c *conductor) decide(now time.Time) {
	c.observed = now
	o := c.see()
	d := lifecycle.Decide(o, now)
	if d.StartAt != nil {
		c.start(now.Add(startDelay))
	}
	for _, a := range d.Actions {
		if a.Annotations[plan.AnnotationStop] != "" {
			c.gate.stop()
		}
	}
	if d.Ending != nil && c.ending == nil {
		c.ending = d.Ending
		c.decide(now)
		return
	}
	if d.Finish == nil {
		c.setStage(d.Stage, c.inWords(d.Message), now)
	}
	c.observe(snapshotsOf(o))
	c.options.Show(c.run.DeepCopy())
}

func snapshotsOf(o lifecycle.Observed) (snaps []*results.Snapshot) {
	for _, p := range o.Pods {
		snaps = append(snaps, p.Live)
	}
	return snaps
}

// inWords rewrites a message about client pods: here they are parts of this process.
func (c *conductor) inWords(message string) string {
	if len(c.sessions) == 1 {
		message = strings.TrimPrefix(message, "client pod 0: ")
	}
	return strings.ReplaceAll(message, "client pod", "part")
}

func (c *conductor) snapshots() []*results.Snapshot {
	out := make([]*results.Snapshot, len(c.sessions))
	for i, s := range c.sessions {
		out[i] = s.Snapshot()
		if c.options.EmbeddedMembers > 0 && out[i].Process != nil {
			out[i].Process = &results.ProcessWindow{Unknown: "the embedded members shared its process"}
		}
	}
	return out
}
