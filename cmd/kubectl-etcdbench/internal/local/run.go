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

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/cmd/kubectl-etcdbench/internal/supervisor"
	"github.com/etcdbench/etcd-benchmark-operator/internal/benchmark"
	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore"
	"github.com/etcdbench/etcd-benchmark-operator/internal/lifecycle"
	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
	"github.com/etcdbench/etcd-benchmark-operator/internal/load/tuning"
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
	"github.com/etcdbench/etcd-benchmark-operator/internal/text"
	"github.com/etcdbench/etcd-benchmark-operator/internal/verdict"
)

// ErrLeft is returned if the caller cancelled the run before it could delete its keys.
var ErrLeft = errors.New("interrupted before the run had ended")

const (
	// pollInterval is the interval at which the sessions' readiness is checked.
	pollInterval = 25 * time.Millisecond
	// observeInterval is the interval at which their numbers are read and shown. Reading takes CPU from the load in the
	// same process.
	observeInterval = 500 * time.Millisecond
	// startDelay is the time from when all sessions are ready to their common start. It is short because they share a
	// process.
	startDelay = 50 * time.Millisecond
)

// Run runs an admitted EtcdBenchmark to its end, sets its status and the addresses of its own members, and returns its
// report, or nil if nothing was measured. If the run cannot be started, it returns an error and does not change the
// status. When ctx ends, it returns ErrLeft at once.
func Run(ctx context.Context, run *v1alpha1.EtcdBenchmark, o Options) (report []byte, err error) {
	if err := o.Validate(run); err != nil {
		return nil, err
	}
	c := &controller{run: run, options: o.of(run)}
	if c.options.Members > 0 {
		if c.own, err = c.options.start(ctx, run.Spec.Target.Datastore); err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, c.own.Close()) }()
		sampling, end := context.WithCancel(ctx)
		defer end()
		c.samplers = startSamplers(sampling, c.own)
	}
	if err := c.prepare(); err != nil {
		return nil, err
	}
	if err := c.follow(ctx); err != nil {
		return nil, err
	}
	c.showAsked()
	return c.report(), nil
}

// report returns the report of a run that has measured something. An error becomes a warning, as in a cluster.
func (c *controller) report() []byte {
	summary := c.run.Status.Summary
	if summary == nil {
		return nil
	}
	report, err := benchmark.Report(c.run, c.sum)
	if err != nil {
		summary.Warnings = verdict.AppendWarning(summary.Warnings, "The report could not be written: "+err.Error())
	}
	return report
}

// controller controls sessions in this process as the operator controls pods.
type controller struct {
	run      *v1alpha1.EtcdBenchmark
	options  Options
	plan     plan.Plan
	sessions []*load.Session
	gate     *gate
	// own are the members that exist only for this run; nil if there are none.
	own *supervisor.Cluster
	// samplers are the addresses of what measures their processes.
	samplers []string
	// ended reports for each session whether it has ended.
	ended []atomic.Bool
	// stopped: the user has interrupted the run.
	stopped bool
	// observed is the time of the last update of status, recent has its counts, and sum its result.
	observed time.Time
	recent   benchmark.Recent
	sum      results.Summary
}

// prepare makes the sessions.
func (c *controller) prepare() error {
	endpoints := c.run.Spec.Target.Endpoints
	if c.own != nil {
		endpoints = c.own.Endpoints
		c.showOwn(time.Now())
	}
	p, err := c.options.plan(c.run, endpoints)
	if err != nil {
		return err
	}
	p.Target.Samplers = c.samplers
	tuning.Process(p.Load)
	c.plan, c.gate, c.ended = p, newGate(), make([]atomic.Bool, p.Pods())
	for i := range p.Pods() {
		s, err := load.NewSession(load.Config{Plan: p, Index: i, Driver: datastore.New(p, i), Control: c.control(i), Sessions: p.Pods()})
		if err != nil {
			return err
		}
		c.sessions = append(c.sessions, s)
	}
	return nil
}

func (c *controller) control(session int) load.Control {
	if session == 0 {
		return first{c.gate}
	}
	return c.gate
}

// follow starts the sessions and waits until the last one has ended.
func (c *controller) follow(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	c.begin(time.Now())
	one, all := c.startSessions(ctx)
	ticker := time.NewTicker(pollInterval)
	defer ticker.Stop()
	stop := c.options.Stop
	for {
		select {
		case <-all:
			c.finish(time.Now())
			return nil
		case <-ctx.Done():
			return c.leftError()
		case <-one:
			c.decide(time.Now())
		case <-stop:
			stop = nil
			c.interrupt(time.Now())
		case now := <-ticker.C:
			c.tick(now)
		}
	}
}

// tick calls decide at intervals, and as soon as all sessions are ready to start.
func (c *controller) tick(now time.Time) {
	c.followLock(now)
	if now.Sub(c.observed) >= observeInterval || c.run.Status.StartAt == nil && c.run.Status.Ending == nil && c.allReady() {
		c.decide(now)
	}
}

// followLock admits the other sessions when session 0 holds the lock of the target. The timeout of the run begins then.
func (c *controller) followLock(now time.Time) {
	s := &c.run.Status
	switch stage := c.sessions[0].Stage(); {
	case s.Admission != nil:
	case stage == results.StageLocking && s.Queue == nil:
		s.Queue = &v1alpha1.QueueStatus{WaitsFor: v1alpha1.QueueLock, Since: metav1.NewTime(now.Truncate(time.Second))}
	case stage.Reached(results.StageClaiming) && !stage.Reached(results.StageDraining):
		at := metav1.NewMicroTime(now.Truncate(time.Microsecond))
		s.Queue, s.Admission = nil, &v1alpha1.Admission{At: at, LockedAt: &at}
		c.gate.admit()
	}
}

// startSessions starts the sessions. It returns a channel that receives a value per session that ends, and a channel
// that is closed when all have ended.
func (c *controller) startSessions(ctx context.Context) (one, all chan struct{}) {
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

// interrupt stops the run. It does nothing if the measurement is complete and only keys are left to delete.
func (c *controller) interrupt(now time.Time) {
	if !slices.ContainsFunc(c.observation().Pods, func(p lifecycle.Pod) bool { return !p.HasWholeResult() }) {
		c.options.Notice(fmt.Sprintf("The measurement is complete. The run's keys are being deleted, for at most "+
			"%s; then the result follows. Ctrl-C again exits without it.", text.Duration(load.ReleaseLimit())))
		return
	}
	c.options.Notice(c.stopNotice())
	c.stopped = true
	c.decide(now)
}

// stopNotice says what a stopped run waits for, and for how long: a target that hangs answers nothing.
func (c *controller) stopNotice() string {
	var responses, deletion time.Duration
	for _, s := range c.sessions {
		r, d := s.Interrupted()
		responses, deletion = max(responses, r), max(deletion, d)
	}
	then := fmt.Sprintf(", and then deletes its keys, for at most %s", text.Duration(deletion))
	if !c.hasKeys() {
		then = ""
	}
	return fmt.Sprintf("Stopping the run. It waits for responses, for at most %s%s. The result so far follows; Ctrl-C again exits without it.", text.Duration(responses), then)
}

// hasKeys reports whether keys of the run can outlive it: those of its own members cannot, and a disk and a run that only observes
// have none.
func (c *controller) hasKeys() bool {
	return c.own == nil && c.run.Spec.Target.Disk == nil && !c.run.OnlyObserves()
}

func (c *controller) leftError() error {
	if !c.hasKeys() {
		return ErrLeft
	}
	return fmt.Errorf("%w: keys may be left in the target. %s", ErrLeft, benchmark.Leftover(c.run))
}

func (c *controller) allReady() bool {
	for _, s := range c.sessions {
		if !s.Ready() {
			return false
		}
	}
	return true
}

// jobUID replaces the UID of the load Job, which exists only in a cluster.
const jobUID = "this process"

// observation returns the run as the operator would observe it, with a pod for each session.
func (c *controller) observation() lifecycle.Observed {
	run := c.run.DeepCopy()
	run.Spec.Stop = c.stopped
	// Without scheduling, its time-out does not apply.
	run.Spec.SchedulingTimeoutSeconds = math.MaxInt32
	run.Status.Job = &v1alpha1.JobReference{UID: jobUID}
	job := lifecycle.Job{Exists: true, UID: jobUID, Seen: run.Status.StartTime.Time}
	o := lifecycle.Observed{Run: run, Job: job, Members: c.members(job), PodsLive: true}
	// Read before the snapshots: a session can end between the two reads, and its snapshot would then be older than its
	// end.
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
func (c *controller) decide(now time.Time) {
	c.observed = now
	o := c.observation()
	d := lifecycle.Decide(o, now)
	if d.StartAt != nil {
		*d.StartAt = metav1.NewMicroTime(now.Add(startDelay).Truncate(time.Microsecond).UTC())
		d.Message = lifecycle.ArmedMessage(len(o.Pods), *d.StartAt)
		c.gate.open(d.StartAt.Time)
		if c.own != nil {
			c.own.Listen(d.StartAt.Add(c.plan.Load.Warmup()))
		}
	}
	for _, a := range d.Actions {
		if a.Annotations[plan.AnnotationStop] != "" {
			c.gate.stop()
		}
	}
	if d.Ending != nil && c.run.Status.Ending == nil {
		c.run.Status.Ending = d.Ending
		c.decide(now)
		return
	}
	if d.Finish != nil {
		// The run ends when the last session has ended.
		d.Finish, d.Cleaned, d.Message = nil, nil, meta.FindStatusCondition(c.run.Status.Conditions, v1alpha1.ConditionFinished).Message
	}
	d.Message = c.localMessage(d.Message)
	c.write(o, d, now)
	c.options.Show(c.run.DeepCopy())
}

// localMessage omits the name of the only client pod at the start of a message.
func (c *controller) localMessage(message string) string {
	if len(c.sessions) == 1 {
		message = strings.TrimPrefix(message, "client pod 0: ")
	}
	return message
}

func (c *controller) snapshots() []*results.Snapshot {
	out := make([]*results.Snapshot, len(c.sessions))
	for i, s := range c.sessions {
		out[i] = s.Snapshot()
	}
	return out
}
