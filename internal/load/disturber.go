package load

import (
	"context"
	"sync"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// Step is one completed step of a disturbance.
type Step struct {
	Began Instant
	// Member that the step acted on, by the ID in results.Member; empty for the whole store.
	Member string
	// Err is the reason for a failure; nil on success.
	Err error
}

// disturber makes the plan's disturbances during a window, each at its own interval.
type disturber struct {
	source Disturber
	plans  []spec.Disturbance
	permit *permit
	// cancel ends disturbances in progress; nil before begin.
	cancel  context.CancelFunc
	running sync.WaitGroup

	mutex sync.Mutex
	done  map[spec.DisturbanceType]*results.Disturbance
}

// begin starts the disturbances of a window.
func (d *disturber) begin(ctx context.Context, window *loadPhase, permit *permit) {
	d.permit = permit
	ctx, d.cancel = context.WithCancel(ctx)
	for _, p := range d.plans {
		d.running.Go(func() { d.repeat(ctx, p, window) })
	}
}

// end cancels the disturbances at the end of the window and waits for them.
func (d *disturber) end() {
	if d.cancel != nil {
		d.cancel()
		d.running.Wait()
	}
}

// repeat makes one disturbance each time it is due. A disturbance that was due while the previous one was still running,
// or while the pod may not send, is left out and counted: two in immediate succession are not what the plan asks for.
func (d *disturber) repeat(ctx context.Context, p spec.Disturbance, window *loadPhase) {
	for due := window.start.Add(p.Every()); !window.over(due) && waitFor(ctx, due, nil); {
		if d.permit.isOpen() {
			d.source.Disturb(ctx, p, func(s Step) { d.record(ctx, p.Type, window.start, s) })
		} else {
			d.leaveOut(p.Type)
		}
		for due = due.Add(p.Every()); due < Now() && !window.over(due); due = due.Add(p.Every()) {
			d.leaveOut(p.Type)
		}
	}
}

func (d *disturber) leaveOut(kind spec.DisturbanceType) {
	d.change(kind, func(done *results.Disturbance) { done.LeftOut++ })
}

const stillRunning = "it was still running when the window ended"

func (d *disturber) record(ctx context.Context, kind spec.DisturbanceType, start Instant, s Step) {
	problem := ""
	switch {
	case s.Err != nil && ctx.Err() != nil:
		problem = stillRunning
	case s.Err != nil:
		problem = s.Err.Error()
	}
	mark := results.Mark{After: s.Began.Sub(start), Took: Now().Sub(s.Began), Member: s.Member}
	d.change(kind, func(done *results.Disturbance) { done.Record(mark, problem) })
}

// change updates the record of one kind of disturbance.
func (d *disturber) change(kind spec.DisturbanceType, change func(*results.Disturbance)) {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	if d.done == nil {
		d.done = map[spec.DisturbanceType]*results.Disturbance{}
	}
	if d.done[kind] == nil {
		d.done[kind] = &results.Disturbance{}
	}
	change(d.done[kind])
}

// results returns the disturbances so far; nil if there were none.
func (d *disturber) results() map[spec.DisturbanceType]*results.Disturbance {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	var out map[spec.DisturbanceType]*results.Disturbance
	for kind, done := range d.done {
		if out == nil {
			out = map[spec.DisturbanceType]*results.Disturbance{}
		}
		out[kind] = done.Clone()
	}
	return out
}
