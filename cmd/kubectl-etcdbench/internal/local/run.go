package local

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/benchmark"
	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/etcd"
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
	// failed has the first error of each session that failed.
	failed chan failedSession
	// ending is why the run ends before it has completed.
	ending *ending
	// observed is when status was last brought up to date.
	observed time.Time
}

type failedSession struct {
	index   int
	failure results.Failure
}

// ending is a reason of Finished, other than Completed, and its message.
type ending struct{ reason, message string }

func newConductor(run *v1alpha1.EtcdBenchmark, o Options, endpoints []string) (*conductor, error) {
	p, err := o.plan(run, endpoints)
	if err != nil {
		return nil, err
	}
	if o.EmbeddedMembers == 0 {
		tuning.Process(p.Load)
	}
	c := &conductor{run: run, options: o, plan: p, gate: newGate(), failed: make(chan failedSession, p.Pods)}
	for i := range p.Pods {
		s, err := load.NewSession(load.Config{Plan: p, Index: i, Driver: etcd.New(p, i), Control: c.gate})
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
	ended := c.startSessions(ctx)
	timeout := time.NewTimer(time.Duration(c.run.Spec.TimeoutSeconds) * time.Second)
	defer timeout.Stop()
	ticker := time.NewTicker(askEvery)
	defer ticker.Stop()
	stop := c.options.Stop
	for {
		select {
		case <-ended:
			c.finish(time.Now())
			return nil
		case <-ctx.Done():
			return c.left()
		case f := <-c.failed:
			c.end(c.failure(f))
		case <-stop:
			stop = nil
			c.interrupt()
		case <-timeout.C:
			c.timeOut()
		case <-ticker.C:
			c.look(time.Now())
		}
	}
}

// startSessions returns a channel that is closed when all sessions have ended.
func (c *conductor) startSessions(ctx context.Context) <-chan struct{} {
	var running sync.WaitGroup
	for i, s := range c.sessions {
		running.Go(func() {
			if f := load.FailureOf(s.Run(ctx)); f != nil {
				c.failed <- failedSession{i, *f}
			}
		})
	}
	ended := make(chan struct{})
	go func() {
		running.Wait()
		close(ended)
	}()
	return ended
}

// end ends the run early. The first reason stays.
func (c *conductor) end(e ending) {
	if c.ending == nil {
		c.ending = &e
	}
	c.gate.stop()
}

// interrupt stops a run, unless nothing is left of it but keys to delete: what a
// complete run has measured is no less for that.
func (c *conductor) interrupt() {
	if whole(c.snapshots()) {
		c.options.Notice("All was measured, and the result follows once the keys of the run are deleted. Ctrl-C again leaves without it.")
		return
	}
	c.options.Notice("Stopping the run; what was measured until now follows. Ctrl-C again leaves without it.")
	c.end(ending{v1alpha1.ReasonStopped, "The run was stopped."})
}

// timeOut leaves a run of which no number is missing, and only keys are to be
// deleted any more, to end as Completed.
func (c *conductor) timeOut() {
	if !whole(c.snapshots()) {
		c.end(ending{v1alpha1.ReasonTimedOut, fmt.Sprintf("The run did not end within spec.timeoutSeconds (%d s).", c.run.Spec.TimeoutSeconds)})
	}
}

// whole says that every number that was to be measured is known.
func whole(snaps []*results.Snapshot) bool {
	return !slices.ContainsFunc(snaps, func(s *results.Snapshot) bool { return !s.HasMeasured() || s.Failure != nil || s.Stopped })
}

// heedGuard ends a run of which a session was ended by its guard. A rule that fires
// while only keys are deleted any more has ended nothing.
func (c *conductor) heedGuard(snaps []*results.Snapshot) {
	if whole(snaps) {
		return
	}
	if fired := benchmark.Guard(c.run, snaps); fired != nil && c.ending == nil {
		c.run.Status.Guard = fired
		c.end(ending{v1alpha1.ReasonGuardStopped, benchmark.GuardMessage(fired)})
	}
}

// failure names the part only where there are others.
func (c *conductor) failure(f failedSession) ending {
	message := f.failure.Message
	if len(c.sessions) > 1 {
		message = fmt.Sprintf("Part %d: %s", f.index, message)
	}
	return ending{string(f.failure.Reason), message}
}

func (c *conductor) left() error {
	if c.options.EmbeddedMembers > 0 {
		return ErrLeft
	}
	return fmt.Errorf("%w: keys may be left in the target. To delete them: %s", ErrLeft, c.run.RemovalCommand())
}

// look lets the sessions start once all are ready, and shows how they are.
func (c *conductor) look(now time.Time) {
	if c.run.Status.StartAt == nil && c.allReady() {
		c.start(now.Add(startDelay))
	}
	if now.Sub(c.observed) >= observeEvery {
		c.observed = now
		snaps := c.snapshots()
		c.heedGuard(snaps)
		c.observe(now, snaps)
		c.options.Show(c.run.DeepCopy())
	}
}

func (c *conductor) allReady() bool {
	for _, s := range c.sessions {
		if !s.Ready() {
			return false
		}
	}
	return true
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
