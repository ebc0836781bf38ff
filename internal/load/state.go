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

	mutex    sync.Mutex
	stage    results.Stage
	ready    bool
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
}

func newState(log *slog.Logger) state {
	return state{log: log, stage: results.StageConnecting, cleaning: results.CleaningNothingWritten}
}

func (s *state) enter(stage results.Stage) {
	s.log.Info("stage", "stage", string(stage))
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.stage = stage
	s.ready = s.ready || stage == results.StageReady
}

// fail keeps the reason for a failure; nil if there was none.
func (s *state) fail(failure *results.Failure) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.failure = failure
}

func (s *state) setTarget(t *results.Target) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.target = t
}

func (s *state) setProcess(w *results.ProcessWindow) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.process = w
}

func (s *state) setCoarsePacing(is bool) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.coarsePacing = is
}

func (s *state) setUnlocked() {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.unlocked = true
}

func (s *state) setStopped() {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.stopped = true
}

func (s *state) setCleaning(c results.Cleaning) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.cleaning = c
}

func (s *state) setReleased(c results.Cleaning, left error) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.cleaning, s.left = c, left
}

func (s *state) cleaningIs(c results.Cleaning) bool {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return s.cleaning == c
}

// setWindow changes the window.
func (s *state) setWindow(change func(*results.Window)) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	change(&s.window)
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
