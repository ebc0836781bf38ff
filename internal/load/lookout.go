package load

import (
	"context"
	"sync"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/internal/load/guard"
	"github.com/etcdbench/etcd-benchmark-operator/internal/load/members"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

const (
	// lookEvery lies between two looks at the requests and at the members'
	// status, which costs a member microseconds.
	lookEvery = time.Second
	// viewTimeout bounds one look at the members' status.
	viewTimeout = time.Second
)

// lookout looks at the requests, and in pod 0 at the target, from before the
// first write until the pod's part of the load is over, and ends the load once a
// rule of the guard fires before its window has ended. Where pods do not end
// together, that of pod 0 looks at the target for as long as it waits for others to
// be done.
type lookout struct {
	recorder *recorder
	rules    spec.StopRules
	// observer and sampler are nil where this pod does not look at the target, or has
	// nothing to look at.
	observer Observer
	sampler  Sampler
	// sampling lies between two looks at the members' metrics.
	sampling time.Duration

	// life ends when the session must come to its end.
	life context.Context
	// stop ends the load.
	stop    context.CancelFunc
	ended   chan struct{}
	looking sync.WaitGroup

	mutex   sync.Mutex
	guard   *guard.Guard
	changes members.Changes
	// over: the window or the session is, so that nothing can fire any more.
	over bool
	// forOthers: this pod's load is over, and that of others is not.
	forOthers bool
	fired     *results.Fired
}

func newLookout(c Config, r *recorder) *lookout {
	rules, interval := c.Plan.Guard.Rules(), c.Plan.Target.SampleInterval()
	if rules.WALFsync != nil {
		interval = min(interval, rules.WALFsync.For())
	}
	w := &lookout{recorder: r, rules: rules, sampling: interval}
	if c.Index == 0 {
		w.observer, _ = c.Driver.(Observer)
		w.sampler, _ = c.Driver.(Sampler)
	}
	return w
}

// begin watches until end is called, or life ends. first is the preflight's view
// of the target, so that what changed before the first look is a change, too. stop
// ends the load.
func (w *lookout) begin(life context.Context, target *results.Target, first members.View, stop context.CancelFunc) {
	name := nameIn(target)
	w.mutex.Lock()
	w.guard, w.changes.Name, w.life, w.stop = guard.New(w.rules, name), name, life, stop
	w.mutex.Unlock()
	w.ended = make(chan struct{})
	if w.observer != nil {
		w.judge(func(g *guard.Guard) *results.Fired {
			w.changes.From(first)
			return g.SeesView(first)
		})
	}
	w.repeat(lookEvery, w.look)
	if w.sampler != nil && w.rules.WALFsync != nil {
		w.repeat(w.sampling, w.sample)
	}
}

// nameIn returns what people call a member of the target.
func nameIn(target *results.Target) func(id string) string {
	return func(id string) string {
		for _, m := range target.Members {
			if m.ID == id && m.Name != "" {
				return m.Name
			}
		}
		return id
	}
}

// repeat does something now and in intervals, until the watch ends.
func (w *lookout) repeat(every time.Duration, do func()) {
	w.looking.Go(func() {
		ticker := time.NewTicker(every)
		defer ticker.Stop()
		for {
			do()
			select {
			case <-w.ended:
				return
			case <-w.life.Done():
				return
			case <-ticker.C:
			}
		}
	})
}

// end ends the lookout, with a last look at how the target is now. It may be
// called again.
func (w *lookout) end() {
	if w.ended == nil || isClosed(w.ended) {
		return
	}
	w.rest()
	close(w.ended)
	w.looking.Wait()
	if w.life.Err() == nil {
		w.look()
	}
}

// rest lets no rule fire from now on, and says whether one has fired. The target
// is looked at until the end all the same, for its changes.
func (w *lookout) rest() (hasFired bool) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	w.over = true
	return w.fired != nil
}

// goOn lets rules about the target fire again, for the load of other pods: they
// hear of it by what this one tells.
func (w *lookout) goOn() {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	w.over, w.forOthers, w.stop = false, true, func() {}
}

// look at the requests, and at the members' status. A look that was begun is
// finished, for each request is to be counted on both sides, unless life ends.
func (w *lookout) look() {
	w.lookAtRequests()
	if w.observer == nil {
		return
	}
	bounded, cancel := context.WithTimeout(w.life, viewTimeout)
	defer cancel()
	view := w.observer.View(bounded)
	if w.life.Err() != nil {
		// What was cut off shows nothing of the target.
		return
	}
	w.judge(func(g *guard.Guard) *results.Fired {
		w.changes.See(view)
		return g.SeesView(view)
	})
}

// lookAtRequests is for as long as this pod sends any.
func (w *lookout) lookAtRequests() {
	ended, failed := w.recorder.tallied()
	at := time.Now()
	w.judge(func(g *guard.Guard) *results.Fired {
		if w.forOthers {
			return nil
		}
		return g.SeesRequests(at, ended, failed)
	})
}

func (w *lookout) sample() {
	bounded, cancel := context.WithTimeout(w.life, sampleTimeout)
	defer cancel()
	samples := w.sampler.Sample(bounded)
	if w.life.Err() != nil {
		return
	}
	w.judge(func(g *guard.Guard) *results.Fired { return g.SeesSamples(samples) })
}

// judge shows the guard something, and ends the load if a rule fires.
func (w *lookout) judge(show func(*guard.Guard) *results.Fired) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	fired := show(w.guard)
	if fired == nil || w.fired != nil || w.over {
		return
	}
	w.fired = fired
	w.stop()
}

// fill writes into a snapshot what was seen. A rule that fired is only told of
// a load that it has ended, or that it is to end.
func (w *lookout) fill(snapshot *results.Snapshot) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	if w.guard == nil {
		return
	}
	if snapshot.Stopped || w.forOthers {
		snapshot.Fired = w.fired
	}
	if unwatched := w.guard.Unwatched(); len(unwatched) > 0 {
		snapshot.Unwatched = unwatched
	}
	if snapshot.Target != nil {
		snapshot.Target.Changes, snapshot.Target.Unseen = w.changes.Found(), w.changes.Unseen()
	}
}
