package load

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/internal/load/members"
	"github.com/etcdbench/etcd-benchmark-operator/internal/load/process"
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
	"github.com/etcdbench/etcd-benchmark-operator/internal/workload"
)

// How long a session may take for what comes after the load. A pod that was
// told to end has 60 s: for the drain, the deletion, and its last words.
const (
	releaseLimit       = 5 * time.Minute
	interruptedDrain   = 10 * time.Second
	interruptedRelease = 35 * time.Second
)

// turnLimit is how long a session waits for its turn at the target.
const turnLimit = 24 * time.Hour

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
	// conns are the pod's connections, once they are open, and carriers those of
	// its watchers: the same, unless these have some of their own.
	conns     []Conn
	carriers  []Conn
	sampler   *sampler
	disturber *disturber
	meter     *process.Meter
	state     state
	lookout   *lookout
	// life is the context of Run; lifetime ends the session at the plan's timeout.
	life     context.Context
	lifetime *time.Timer
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
		workload:  workload.New(c.Plan.Run),
		recorder:  newRecorder(),
		sampler:   &sampler{interval: c.Plan.Target.SampleInterval()},
		disturber: &disturber{plans: c.Plan.Disturbances},
		meter:     process.NewMeter(),
		state:     newState(c.Log),
		endWatch:  func() {},
	}
	s.sampler.source, _ = c.Driver.(Sampler)
	if s.disturber.source, _ = c.Driver.(Disturber); s.disturber.source == nil && len(c.Plan.Disturbances) > 0 {
		return nil, Errorf(results.FailureInvalidPlan, "%s cannot be disturbed: leave disturbances out", c.Plan.Target.Datastore)
	}
	s.lookout = newLookout(c, s.recorder)
	if s.workload.Marked() {
		s.ledger = newLedger(c.Index, s.recorder)
	}
	if h := s.workload.History(c.Index); h != nil {
		s.replays = &replays{settings: *h}
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
	s.life = ctx
	ctx, cancel := s.bound(ctx)
	defer cancel()
	err := s.interruption(ctx, s.work(ctx, cancel))
	s.endWatch()
	s.watchForOthers(ctx, err)
	// The others wait for this part: they must hear of a failure now.
	s.state.fail(FailureOf(err))
	if err == nil && !s.state.cleaningIs(results.CleaningNothingWritten) {
		// Before the last words: whoever reads them must see that all was measured.
		s.state.enter(results.StageCleaning)
	}
	if s.measured != nil {
		s.measured()
	}
	s.release(ctx)
	s.lookout.end()
	if cerr := s.driver.Close(); cerr != nil {
		s.state.log.Warn("closing connections failed", "error", cerr)
	}
	s.state.enter(results.StageDone)
	return err
}

// watchForOthers ends the lookout, unless others still load the target that it is
// to look at until this session has released its keys. That waits for the others.
func (s *Session) watchForOthers(ctx context.Context, err error) {
	if err == nil && ctx.Err() == nil && s.part.Index == 0 && s.plan.WatchesForOthers() {
		s.lookout.goOn()
		return
	}
	s.lookout.end()
}

// bound returns a context that ends with ctx, at the plan's timeout, or when
// the control says stop.
func (s *Session) bound(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	s.lifetime = time.AfterFunc(s.timeout(), func() { cancel(errTimedOut) })
	go func() {
		select {
		case <-s.control.Stopped():
			cancel(nil)
		case <-ctx.Done():
		}
	}()
	return ctx, func() {
		s.lifetime.Stop()
		cancel(nil)
	}
}

func (s *Session) timeout() time.Duration { return time.Duration(s.plan.TimeoutSeconds) * time.Second }

// work does all but to release. stop ends ctx.
func (s *Session) work(ctx context.Context, stop context.CancelFunc) error {
	clients, err := s.prepare(ctx, stop)
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
	return s.load(ctx, startAt, clients)
}

// prepare does what comes before the start and returns the clients. From the
// look at the target before its first write on, the target is watched.
func (s *Session) prepare(ctx context.Context, stop context.CancelFunc) ([]*client, error) {
	target, first, err := s.preflight(ctx)
	if err != nil {
		return nil, err
	}
	s.lookout.begin(s.life, target, first, stop)
	if err := s.connect(ctx); err != nil {
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

// preflight looks at the target, and waits for the run's turn at it. What was
// seen before the wait is then out of date.
func (s *Session) preflight(ctx context.Context) (*results.Target, members.View, error) {
	target, first, err := s.look(ctx)
	if err != nil || !s.plan.AwaitTurn {
		return target, first, err
	}
	s.state.enter(results.StageWaiting)
	if err := s.await(ctx); err != nil {
		return nil, members.View{}, err
	}
	s.state.enter(results.StageConnecting)
	return s.look(ctx)
}

// await waits for the turn. That is not the run's time, but it must end even if
// nobody is left to give one.
func (s *Session) await(ctx context.Context) error {
	s.lifetime.Stop()
	defer func() { s.lifetime.Reset(s.timeout()) }()
	bounded, cancel := context.WithTimeout(ctx, turnLimit)
	defer cancel()
	err := s.control.Turn(bounded)
	if err != nil && ctx.Err() == nil {
		return Errorf(results.FailureTimedOut, "nobody said for %v that this run may load the target, and the client waits no longer: see whether the operator is there, and which run on the same etcd cluster does not end.", turnLimit)
	}
	return err
}

func (s *Session) look(ctx context.Context) (*results.Target, members.View, error) {
	target, first, err := s.driver.Preflight(ctx)
	if err == nil && s.part.Index == 0 {
		s.state.setTarget(target)
	}
	return target, first, err
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
	s.state.setStopped()
	return s.timedOut(ctx)
}

// timedOut says, of a part that was cut short, that time ran out, if that was why.
func (s *Session) timedOut(ctx context.Context) error {
	if !errors.Is(context.Cause(ctx), errTimedOut) {
		return nil
	}
	return Errorf(results.FailureTimedOut, "%d s (spec.timeoutSeconds) passed while the client was in stage %s, and nobody told it to stop: look at what it waited for, or raise them.",
		s.plan.TimeoutSeconds, s.Stage())
}

// release gives the keys up, if there can be any.
func (s *Session) release(ctx context.Context) {
	if s.state.cleaningIs(results.CleaningNothingWritten) {
		return
	}
	if s.Stage() != results.StageCleaning {
		s.state.enter(results.StageCleaning)
	}
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
