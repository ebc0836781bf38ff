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

	startOnce, stopOnce sync.Once
}

var _ load.Control = (*gate)(nil)

func newGate() *gate {
	return &gate{started: make(chan struct{}), stopped: make(chan struct{})}
}

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

// Turn implements load.Control.
func (g *gate) Turn(context.Context) error { return nil }

// Stopped implements load.Control.
func (g *gate) Stopped() <-chan struct{} { return g.stopped }
