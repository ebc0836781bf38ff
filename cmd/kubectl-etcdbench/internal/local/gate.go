package local

import (
	"context"
	"sync"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
)

// gate is the load.Control that all sessions of a run share.
type gate struct {
	// startAt is set before started is closed.
	startAt time.Time
	started chan struct{}
	stopped chan struct{}
	// admitted is closed when session 0 holds the lock of the target. Session 0 itself needs no admission.
	admitted chan struct{}

	startOnce, stopOnce, admitOnce sync.Once
}

var _ load.Control = (*gate)(nil)

func newGate() *gate {
	return &gate{started: make(chan struct{}), stopped: make(chan struct{}), admitted: make(chan struct{})}
}

// first is the gate of session 0.
type first struct{ *gate }

// Admitted implements load.Control.
func (first) Admitted(context.Context) error { return nil }

// admit admits the sessions other than session 0.
func (g *gate) admit() { g.admitOnce.Do(func() { close(g.admitted) }) }

// open sets the common start of all sessions. Only the first call has an effect.
func (g *gate) open(at time.Time) {
	g.startOnce.Do(func() {
		g.startAt = at
		close(g.started)
	})
}

// stop ends the load of all sessions early.
func (g *gate) stop() { g.stopOnce.Do(func() { close(g.stopped) }) }

func (g *gate) isStopped() bool {
	select {
	case <-g.stopped:
		return true
	default:
		return false
	}
}

// StartAt implements load.Control.
func (g *gate) StartAt(ctx context.Context) (time.Time, error) {
	select {
	case <-g.started:
		return g.startAt, nil
	case <-ctx.Done():
		return time.Time{}, ctx.Err()
	}
}

// Admitted implements load.Control.
func (g *gate) Admitted(ctx context.Context) error {
	select {
	case <-g.admitted:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Stopped implements load.Control.
func (g *gate) Stopped() <-chan struct{} { return g.stopped }
