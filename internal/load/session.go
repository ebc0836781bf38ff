package load

import (
	"context"
	"errors"

	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// Config is what a session needs.
type Config struct {
	Plan plan.Plan
	// Index is the pod's part of the plan, from 0.
	Index int
	// Driver is closed by Run.
	Driver  Driver
	Control Control
}

// Session is one client pod's part of a run, from the first connection to the
// last deleted key.
type Session struct {
	config Config
}

// NewSession prepares a session. Its errors are FailureInvalidPlan.
func NewSession(c Config) (*Session, error) {
	if err := c.Plan.Validate(); err != nil {
		return nil, Errorf(results.FailureInvalidPlan, "%w", err)
	}
	if _, err := c.Plan.Part(c.Index); err != nil {
		return nil, Errorf(results.FailureInvalidPlan, "%w", err)
	}
	return &Session{config: c}, nil
}

// Run does the whole part: connect, preflight, claim, preload, wait for the
// start, warm up, measure, drain, delete the keys. It is called once. When ctx
// ends, the load ends early, and Run still drains, deletes and returns nil
// with a snapshot that says Stopped; requests that fail are results, not
// errors. FailureOf explains an error.
func (s *Session) Run(ctx context.Context) error {
	return errors.ErrUnsupported
}

// Snapshot returns what was counted so far. It may be called at any time and
// by any number of goroutines; after Run it is final.
func (s *Session) Snapshot() *results.Snapshot { return &results.Snapshot{} }

// Stage returns where the session is.
func (s *Session) Stage() results.Stage { return results.StageConnecting }

// Ready says whether the session waits for the start, or waited and went on.
func (s *Session) Ready() bool { return false }
