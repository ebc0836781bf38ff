package load

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/internal/load/process"
	"github.com/etcdbench/etcd-benchmark-operator/internal/load/workload"
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// How long a session may take for what comes after the load. A pod that was
// told to end has 60 s: for the drain, the deletion, and its last words.
const (
	releaseLimit       = 5 * time.Minute
	interruptedDrain   = 10 * time.Second
	interruptedRelease = 35 * time.Second
)

// Config is what a session needs.
type Config struct {
	Plan plan.Plan
	// Index is the pod's part of the plan, from 0.
	Index int
	// Driver is closed by Run.
	Driver  Driver
	Control Control
	// Measured, if set, is called once the load is over and before the keys are
	// deleted, which can take minutes: Snapshot has every number by then.
	Measured func()
	// Log hears of stages and of what went wrong without ending the session;
	// nil is silence.
	Log *slog.Logger
}

// Session is one client pod's part of a run, from the first connection to the
// last deleted key.
type Session struct {
	plan    plan.Plan
	part    plan.Part
	driver  Driver
	control Control
	// measured is Config.Measured.
	measured func()

	workload *workload.Workload
	recorder *recorder
	// conns are the pod's connections, once they are open.
	conns   []Conn
	sampler *sampler
	meter   *process.Meter
	state   state
	// ledger of the puts that are watched, nil if none are, and replays of a
	// history, nil if there is none; endWatch ends the watchers.
	ledger   *ledger
	replays  *replays
	endWatch context.CancelFunc
	// engine is there once the load has begun.
	engine atomic.Pointer[engine]
}

// NewSession prepares a session. Its errors are FailureInvalidPlan.
func NewSession(c Config) (*Session, error) {
	if err := c.Plan.Validate(); err != nil {
		return nil, Errorf(results.FailureInvalidPlan, "%w", err)
	}
	part, err := c.Plan.Part(c.Index)
	if err != nil {
		return nil, Errorf(results.FailureInvalidPlan, "%w", err)
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	s := &Session{
		plan: c.Plan, part: part, driver: c.Driver, control: c.Control, measured: c.Measured,
		workload: workload.New(c.Plan),
		recorder: newRecorder(),
		sampler:  &sampler{driver: c.Driver, interval: c.Plan.Target.SampleInterval()},
		meter:    process.NewMeter(),
		state:    newState(c.Log),
		endWatch: func() {},
	}
	if s.workload.Marked() {
		s.ledger = newLedger(c.Index, s.recorder)
	}
	if w := c.Plan.Workload.WatchGet; w != nil {
		s.replays = &replays{events: w.Events, watchers: len(part.Streams(w.Streams)) * w.WatchersPerStream}
	}
	return s, nil
}

// errTimedOut is why the context of a session ends at plan.TimeoutSeconds.
var errTimedOut = errors.New("plan.timeoutSeconds have passed")

// Run does the whole part: connect, preflight, claim, preload, wait for the
// start, warm up, measure, drain, delete the keys. It is called once. When ctx
// ends or the control says so, the load ends early, and Run still drains,
// deletes and returns nil with a snapshot that says Stopped; requests that
// fail are results, not errors. FailureOf explains an error.
func (s *Session) Run(ctx context.Context) error {
	ctx, cancel := s.bound(ctx)
	defer cancel()
	err := s.interruption(ctx, s.work(ctx))
	s.endWatch()
	// The others wait for this part: they must hear of a failure now.
	s.state.fail(FailureOf(err))
	if s.measured != nil {
		s.measured()
	}
	s.release(ctx)
	if cerr := s.driver.Close(); cerr != nil {
		s.state.log.Warn("closing connections failed", "error", cerr)
	}
	s.state.enter(results.StageDone)
	return err
}

// bound returns a context that ends with ctx, at the plan's timeout, or when
// the control says stop.
func (s *Session) bound(ctx context.Context) (context.Context, context.CancelFunc) {
	timeout := time.Duration(s.plan.TimeoutSeconds) * time.Second
	ctx, cancel := context.WithTimeoutCause(ctx, timeout, errTimedOut)
	go func() {
		select {
		case <-s.control.Stopped():
			cancel()
		case <-ctx.Done():
		}
	}()
	return ctx, cancel
}

func (s *Session) work(ctx context.Context) error {
	clients, err := s.prepare(ctx)
	if err != nil {
		return err
	}
	s.state.enter(results.StageReady)
	startAt, err := s.control.StartAt(ctx)
	if err != nil {
		return err
	}
	if err := sleepUntil(ctx, instantOf(startAt)); err != nil {
		return err
	}
	s.load(ctx, startAt, clients)
	return nil
}

// prepare does what comes before the start and returns the clients.
func (s *Session) prepare(ctx context.Context) ([]*client, error) {
	target, err := s.driver.Preflight(ctx)
	if err != nil {
		return nil, err
	}
	if s.part.Index == 0 {
		s.state.setTarget(target)
	}
	if s.conns, err = s.connect(ctx); err != nil {
		return nil, err
	}
	if err := s.claim(ctx); err != nil {
		return nil, err
	}
	clients, err := s.clients(ctx)
	if err != nil {
		return nil, err
	}
	if count := s.workload.PreloadCount(); count > 0 {
		s.state.enter(results.StagePreloading)
		if err := preload(ctx, clients, s.part, count); err != nil {
			return nil, err
		}
	}
	if err := s.writeHistory(ctx, clients[0]); err != nil {
		return nil, err
	}
	return clients, s.watch(ctx)
}

// claim is careful: after any error but a refusal, the claim may have reached
// the target, so that there may be something to release.
func (s *Session) claim(ctx context.Context) error {
	s.state.setCleaning(results.CleaningKeysLeft)
	err := s.driver.Claim(ctx)
	if f := FailureOf(err); f != nil && refuses(f.Reason) {
		s.state.setCleaning(results.CleaningNothingWritten)
	}
	return err
}

// refuses says whether a failed claim was refused before it could write.
func refuses(r results.FailureReason) bool {
	switch r {
	case results.FailurePrefixNotEmpty, results.FailureAuthenticationFailed, results.FailureTLSFailed, results.FailureSecretInvalid:
		return true
	}
	return false
}

// interruption turns the end of ctx from an error of whatever it interrupted
// into what it means. An error with a reason of its own keeps it.
func (s *Session) interruption(ctx context.Context, err error) error {
	if _, ok := errors.AsType[*Error](err); ok || err == nil || ctx.Err() == nil {
		return err
	}
	if errors.Is(context.Cause(ctx), errTimedOut) {
		return Errorf(results.FailurePodFailed, "%d s (plan.timeoutSeconds) passed while the client was %s; raise spec.timeoutSeconds, or look at what it waited for",
			s.plan.TimeoutSeconds, s.Stage())
	}
	s.state.setStopped()
	return nil
}

// release gives the keys up, if there can be any.
func (s *Session) release(ctx context.Context) {
	if s.state.cleaningIs(results.CleaningNothingWritten) {
		return
	}
	s.state.enter(results.StageCleaning)
	bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), releaseLimit)
	defer cancel()
	hurry := context.AfterFunc(ctx, func() { time.AfterFunc(interruptedRelease, cancel) })
	defer hurry()
	cleaning, err := s.driver.Release(bounded)
	if err != nil {
		s.state.log.Warn("keys are left under the prefix", "prefix", s.plan.Prefix, "error", err)
	}
	s.state.setCleaning(cleaning)
}
