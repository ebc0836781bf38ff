package load

import (
	"log/slog"
	"sync"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// state is the session's state beside its counts.
type state struct {
	log *slog.Logger

	mutex sync.Mutex
	stage results.Stage
	ready bool
	// failure is why the session fails; nil if it does not.
	failure  *results.Failure
	cleaning results.Cleaning
	// left is why the release has left keys.
	left    error
	stopped bool
	window  results.Window
	target  *results.Target
	process *results.ProcessWindow
	// coarsePacing is Snapshot.CoarsePacing.
	coarsePacing bool
	// unlocked is Target.Unlocked.
	unlocked bool
	// wire are the bytes on the load's connections before the load; nil before it.
	wire *results.Bodies
}

func newState(log *slog.Logger) state {
	return state{log: log, stage: results.StageConnecting, cleaning: results.CleaningNothingWritten}
}

func (s *state) enter(stage results.Stage) {
	s.log.Info("stage", "stage", string(stage))
	s.set(func(s *state) { s.stage, s.ready = stage, s.ready || stage == results.StageReady })
}

// set changes the state.
func (s *state) set(change func(*state)) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	change(s)
}

func (s *state) cleaningIs(c results.Cleaning) bool {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return s.cleaning == c
}

// fill copies the state into a snapshot.
func (s *state) fill(snapshot *results.Snapshot) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	snapshot.Stage, snapshot.Failure = s.stage, s.failure
	snapshot.Cleaning, snapshot.Stopped = s.cleaning, s.stopped
	snapshot.Window = s.window
	snapshot.Target = cloneTarget(s.target)
	if snapshot.Target != nil {
		snapshot.Target.Unlocked = s.unlocked
	}
	snapshot.Process = s.process
	snapshot.CoarsePacing = s.coarsePacing
}

func cloneTarget(t *results.Target) *results.Target {
	if t == nil {
		return nil
	}
	c := *t
	c.Members = append([]results.Member(nil), t.Members...)
	return &c
}

// plannedWindow is a window before it has begun.
func plannedWindow(startAt time.Time, start Instant, length time.Duration, requests int64) results.Window {
	return results.Window{
		StartAt: startAt, Skew: max(start.Sub(instantOf(startAt)), 0),
		Planned: length, PlannedRequests: uint64(requests),
	}
}
