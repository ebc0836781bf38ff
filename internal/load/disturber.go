package load

import (
	"context"
	"sync"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// Step is one thing that a disturbance has done.
type Step struct {
	Began Instant
	// Member that it was done to, by the ID in results.Member; empty for the
	// whole store.
	Member string
	// Err is why it failed; nil if it did not.
	Err error
}

// disturber makes the plan's disturbances over a window, each in its own
// intervals.
type disturber struct {
	source Disturber
	plans  []spec.Disturbance
	// cancel ends those that go on; nil before begin.
	cancel  context.CancelFunc
	running sync.WaitGroup

	mutex sync.Mutex
	done  map[spec.DisturbanceType]*results.Disturbance
}

// begin starts the disturbances of a window.
func (d *disturber) begin(ctx context.Context, window *stint) {
	ctx, d.cancel = context.WithCancel(ctx)
	for _, p := range d.plans {
		d.running.Go(func() { d.repeat(ctx, p, window) })
	}
}

// end ends them with the window, and waits until the last has.
func (d *disturber) end() {
	if d.cancel != nil {
		d.cancel()
		d.running.Wait()
	}
}

// repeat makes one disturbance whenever it is due. What was due while the one
// before went on is left out, and counted: it would come as a pair, which nobody
// asked for.
func (d *disturber) repeat(ctx context.Context, p spec.Disturbance, window *stint) {
	for due := window.start.Add(p.Every()); !window.over(due) && waitFor(ctx, due, nil); {
		d.source.Disturb(ctx, p, func(s Step) { d.record(ctx, p.Type, window.start, s) })
		for due = due.Add(p.Every()); due < Now() && !window.over(due); due = due.Add(p.Every()) {
			d.change(p.Type, func(done *results.Disturbance) { done.LeftOut++ })
		}
	}
}

const cutByTheWindow = "it still went on when the window ended"

func (d *disturber) record(ctx context.Context, kind spec.DisturbanceType, start Instant, s Step) {
	problem := ""
	switch {
	case s.Err != nil && ctx.Err() != nil:
		problem = cutByTheWindow
	case s.Err != nil:
		problem = s.Err.Error()
	}
	mark := results.Mark{After: s.Began.Sub(start), Took: Now().Sub(s.Began), Member: s.Member}
	d.change(kind, func(done *results.Disturbance) { done.Record(mark, problem) })
}

// change changes what was done of a kind.
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

// results returns what was done so far; nil if nothing was.
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
