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

// Time limits after the load. A pod that is terminated has 60 s for the drain, the deletion and its termination
// message.
const (
	releaseLimit       = 5 * time.Minute
	interruptedDrain   = 10 * time.Second
	interruptedRelease = 35 * time.Second
)

// maxAdmissionWait is how long a session waits until it is admitted.
const maxAdmissionWait = 24 * time.Hour

// Interrupted returns how long a session takes at most after an interrupt during the load: first until the last response,
// then until its keys are deleted.
func (s *Session) Interrupted() (responses, deletion time.Duration) {
	responses = min(s.plan.DrainLimit(), interruptedDrain)
	if s.matcher != nil {
		responses += min(s.plan.Load.RequestTimeout(), interruptedDrain)
	}
	return responses, interruptedRelease
}

// ReleaseLimit is how long the deletion of keys takes at most without an interrupt.
func ReleaseLimit() time.Duration { return releaseLimit }

// Config has the inputs of a session.
type Config struct {
	Plan plan.Plan
	// Index is the pod's part of the plan, from 0.
	Index int
	// Driver is closed by Run.
	Driver  Driver
	Control Control
	// Measured, if set, is called once the load is over and before the keys are deleted, which can take minutes.
	// Snapshot is complete by then.
	Measured func()
	// Sessions is how many sessions this process runs at the same time; 0 means 1.
	Sessions int
	// Log receives stages and errors that do not end the session; nil discards them.
	Log *slog.Logger
}

// Session is one client pod's part of a run, from the first connection to the last deleted key.
type Session struct {
	plan    plan.Plan
	part    plan.Part
	driver  Driver
	control Control
	// measured is Config.Measured.
	measured func()

	workload *workload.Workload
	recorder *recorder
	// preloaded is how far the preload has come.
	preloaded work
	// conns are the pod's open connections. carriers are the connections of its watchers: the same ones, or separate
	// ones if the plan has them.
	conns []Conn
	// early are the connections of the preload, if those of the load are opened later.
	early     []Conn
	carriers  []Conn
	sampler   *sampler
	traffic   traffic
	disturber *disturber
	meter     *process.Meter
	state     state
	watchdog  *watchdog
	// permit and signs are the pod's permission to send, from the claim until the release.
	permit permit
	signs  signs
	// lock is nil if the run does not use the target's lock.
	lock *targetLock
	// life is the context of Run; lifetime ends the session at the plan's timeout. abandon ends the load with an error.
	life     context.Context
	lifetime *time.Timer
	abandon  context.CancelCauseFunc
	// silence and probing are maxSilence and minProbing, except in tests.
	silence, probing time.Duration
	// sessions is Config.Sessions.
	sessions int
	// matcher tracks watched puts, and replays reads a history; each is nil if the workload has none. endWatch ends the
	// watchers.
	matcher  *eventMatcher
	replays  *replays
	endWatch context.CancelFunc
	// diagnosed receives the diagnosis; nil if there is none.
	diagnosed chan diagnosis
	// engine is set once the load has begun.
	engine atomic.Pointer[engine]
}

// NewSession prepares a session of a valid plan. Its errors are FailureInvalidPlan.
func NewSession(c Config) (*Session, error) {
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
		silence:   maxSilence, probing: minProbing, sessions: c.Sessions,
	}
	s.sampler.source, _ = c.Driver.(Sampler)
	s.sampler.pinger, _ = c.Driver.(Pinger)
	if s.disturber.source, _ = c.Driver.(Disturber); s.disturber.source == nil && len(c.Plan.Disturbances) > 0 {
		return nil, Errorf(results.FailureInvalidPlan, "%s does not support disturbances: remove disturbances from the plan", c.Plan.Target.Datastore)
	}
	s.watchdog = newWatchdog(c, s.recorder)
	s.signs = signs{driver: c.Driver, permit: &s.permit, lost: func(err error) { s.abandon(err) }}
	s.lock = newTargetLock(c)
	if s.workload.Marked() {
		s.matcher = newEventMatcher(c.Index, s.recorder)
	}
	if h := s.workload.History(c.Index); h != nil {
		s.replays = &replays{settings: *h}
	}
	return s, nil
}

// errTimedOut is the cause when the context of a session ends at plan.TimeoutSeconds.
var errTimedOut = errors.New("plan.timeoutSeconds have passed")

// Run does the pod's whole part: connect, preflight, claim, preload, wait for the start, warm up, measure, drain,
// delete the keys. It is called once. If ctx ends or the control closes Stopped, the load ends early; Run still drains,
// deletes and returns nil, and the snapshot has Stopped set. Failed requests are results, not errors. FailureOf
// explains an error.
func (s *Session) Run(ctx context.Context) error {
	s.life = ctx
	ctx, cancel := s.bound(ctx)
	defer cancel()
	err := s.interruption(ctx, s.work(ctx, cancel))
	s.endWatch()
	s.watchForOthers(ctx, err)
	// The other pods wait for this one: report a failure before the deletion.
	s.state.set(func(s *state) { s.failure = FailureOf(err) })
	if f := FailureOf(err); (f == nil || cutsShort(f.Reason)) && !s.state.cleaningIs(results.CleaningNothingWritten) {
		// Before the termination message is written: a reader must see that all was measured.
		s.state.enter(results.StageCleaning)
	}
	if s.measured != nil {
		s.measured()
	}
	s.release(ctx)
	s.watchdog.end()
	if cerr := s.driver.Close(); cerr != nil {
		s.state.log.Warn("closing connections failed", "error", cerr)
	}
	s.state.enter(results.StageDone)
	return err
}

// cutsShort reports whether a failure ended the load after requests were measured.
func cutsShort(r results.FailureReason) bool {
	return r == results.FailureTargetLost || r == results.FailureTargetTaken || r == results.FailureOwnershipLost
}

// watchForOthers ends the watchdog, unless client pod 0 must watch the target for other pods. Then the watchdog lasts
// until this session has released its keys, which waits for the others.
func (s *Session) watchForOthers(ctx context.Context, err error) {
	if err == nil && ctx.Err() == nil && s.part.Index == 0 && s.plan.WatchesForOthers() {
		s.watchdog.continueForOthers()
		return
	}
	s.watchdog.end()
}

// bound returns a context that ends with ctx, at the plan's timeout, or when the control closes Stopped.
func (s *Session) bound(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	s.abandon = cancel
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

// work does everything except the release. stop ends ctx.
func (s *Session) work(ctx context.Context, stop context.CancelFunc) error {
	clients, err := s.prepare(ctx, stop)
	if err != nil {
		return err
	}
	if s.part.Index == 0 && s.plan.Burst() != nil {
		s.sampler.before(ctx)
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

// prepare does everything before the start and returns the clients. The watchdog begins after the preflight, before the
// first write.
func (s *Session) prepare(ctx context.Context, stop context.CancelFunc) ([]*client, error) {
	target, first, err := s.preflight(ctx)
	if err != nil {
		return nil, err
	}
	s.watchdog.begin(s.life, target, first, stop)
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
		if err := preload(ctx, s.writers(clients), s.part, count, &s.preloaded); err != nil {
			return nil, err
		}
	}
	if err := s.writeHistory(ctx, clients[0]); err != nil {
		return nil, err
	}
	return clients, s.watch(ctx)
}

// preflight checks the target and takes its lock. If that may have taken a while, it checks the target again, because
// the first check is out of date.
func (s *Session) preflight(ctx context.Context) (*results.Target, members.View, error) {
	target, first, err := s.look(ctx)
	if err != nil || s.plan.Lock == nil {
		return target, first, err
	}
	if !s.plan.AwaitsLock() {
		return target, first, s.takeLock(ctx)
	}
	s.state.enter(results.StageWaiting)
	if err := s.awaitLock(ctx); err != nil {
		return nil, members.View{}, err
	}
	s.state.enter(results.StageClaiming)
	return s.look(ctx)
}

// awaitLock waits until the session is admitted and the run holds the lock. The wait does not count towards the run's
// timeout; it has its own limit, in case no operator is left to admit the session.
func (s *Session) awaitLock(ctx context.Context) error {
	s.lifetime.Stop()
	defer func() { s.lifetime.Reset(s.timeout()) }()
	bounded, cancel := context.WithTimeout(ctx, maxAdmissionWait)
	defer cancel()
	err := s.control.Admitted(bounded)
	if err != nil && ctx.Err() == nil {
		return Errorf(results.FailureTimedOut, "the client pod waited %v for the operator to admit it. Check that the operator is running.", maxAdmissionWait)
	}
	if err != nil {
		return err
	}
	return s.takeLock(ctx)
}

// takeLock takes the target's lock if this is client pod 0, and renews it from then on.
func (s *Session) takeLock(ctx context.Context) error {
	if s.lock == nil {
		s.state.set(func(s *state) { s.unlocked = true })
		return nil
	}
	if s.lock.first {
		exists, err := s.lock.take(ctx, func(h Holder) {
			s.state.log.Info("waiting for the target", "because", h.String())
			s.state.enter(results.StageLocking)
		})
		if err != nil {
			return err
		}
		if !exists {
			s.state.set(func(s *state) { s.unlocked = true })
			return nil
		}
	}
	s.lock.keep(func(err error) { s.abandon(err) })
	return nil
}

func (s *Session) look(ctx context.Context) (*results.Target, members.View, error) {
	target, first, err := s.driver.Preflight(ctx)
	switch {
	case err != nil:
	case s.part.Index == 0:
		s.state.set(func(s *state) { s.target = target })
		s.sampler.processes = processesOf(s.plan.Target, target.Members)
	case len(target.Skipped) > 0 || target.Disk != nil:
		s.state.set(func(s *state) {
			s.target = &results.Target{ClusterID: target.ClusterID, Skipped: target.Skipped, Disk: target.Disk}
		})
	default:
		s.state.set(func(s *state) { s.target = nil })
	}
	return target, first, err
}

// claim assumes after every error, except a refusal, that the claim may have reached the target, so that there may be
// something to release.
func (s *Session) claim(ctx context.Context) error {
	if !s.plan.Workload.OnlyObserves() {
		s.state.set(func(s *state) { s.cleaning = results.CleaningKeysLeft })
	}
	began := Now()
	err := s.driver.Claim(ctx)
	if f := FailureOf(err); f != nil && refuses(f.Reason) {
		s.state.set(func(s *state) { s.cleaning = results.CleaningNothingWritten })
	}
	if err == nil {
		s.signs.begin(began)
	}
	return err
}

// interruption replaces an error that the end of ctx caused by its meaning. An error with its own reason is kept.
func (s *Session) interruption(ctx context.Context, err error) error {
	if _, ok := errors.AsType[*Error](err); ok || err == nil || ctx.Err() == nil {
		return err
	}
	s.state.set(func(s *state) { s.stopped = true })
	return s.whyEnded(ctx)
}

// whyEnded returns an error if the run's timeout or the loss of the lock ended ctx, else nil.
func (s *Session) whyEnded(ctx context.Context) error {
	if taken, ok := errors.AsType[*Error](context.Cause(ctx)); ok {
		return taken
	}
	if !errors.Is(context.Cause(ctx), errTimedOut) {
		return nil
	}
	return Errorf(results.FailureTimedOut, "spec.timeoutSeconds (%d s) passed while the client pod was in stage "+
		"%s, and no stop request arrived. Check what the client pod was waiting for, or raise spec.timeoutSeconds.",
		s.plan.TimeoutSeconds, s.Stage())
}
