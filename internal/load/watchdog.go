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
	// lookEvery is the longest interval at which the requests and the members' status are checked. A status check costs
	// a member microseconds.
	lookEvery = time.Second
	// viewTimeout bounds one check of the members' status.
	viewTimeout = time.Second
)

// watchdog checks the requests and, in client pod 0, the target. It begins before the first write and ends when the
// pod's part of the load is over. It ends the load if a rule of the guard fires before the window has ended. If the
// pods do not end together, the watchdog of client pod 0 continues while that pod waits for the others.
type watchdog struct {
	recorder *recorder
	rules    spec.StopRules
	// observer and sampler are nil if this pod does not check the target, or if the driver cannot.
	observer Observer
	sampler  Sampler
	// sampling is the interval at which the members' metrics are read.
	sampling time.Duration

	// life is the context of the session.
	life context.Context
	// stop ends the load.
	stop    context.CancelFunc
	ended   chan struct{}
	looking sync.WaitGroup

	mutex   sync.Mutex
	guard   *guard.Guard
	changes members.Changes
	// over: the window or the session has ended, and no rule can fire any more.
	over bool
	// forOthers: this pod's load is over, but other pods still send.
	forOthers bool
	fired     *results.Fired
}

func newWatchdog(c Config, r *recorder) *watchdog {
	rules, interval := c.Plan.Guard.Rules(), c.Plan.Target.SampleInterval()
	if rules.WALFsync != nil {
		interval = min(interval, rules.WALFsync.For())
	}
	w := &watchdog{recorder: r, rules: rules, sampling: interval}
	if c.Index == 0 {
		w.observer, _ = c.Driver.(Observer)
		w.sampler, _ = c.Driver.(Sampler)
	}
	return w
}

// begin starts the checks, which last until end is called or life ends. first is the preflight's view of the target, so
// that a change before the first check is noticed too. stop ends the load.
func (w *watchdog) begin(life context.Context, target *results.Target, first members.View, stop context.CancelFunc) {
	name := nameIn(target)
	w.mutex.Lock()
	w.guard, w.changes.Name, w.life, w.stop = guard.New(w.rules, name), name, life, stop
	w.guard.LimitQuotas(target.Members)
	w.mutex.Unlock()
	w.ended = make(chan struct{})
	if w.observer != nil {
		w.judge(func(g *guard.Guard) *results.Fired {
			w.changes.From(first)
			return g.SeesView(first)
		})
	}
	w.repeat(w.untilNextLook, w.look)
	if w.sampler != nil && w.rules.WALFsync != nil {
		w.repeat(func() time.Duration { return w.sampling }, w.sample)
	}
}

// nameIn returns a function that maps a member's ID to its name.
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

// repeat calls do now and at intervals, until the watchdog or life ends.
func (w *watchdog) repeat(interval func() time.Duration, do func()) {
	w.looking.Go(func() {
		timer := time.NewTimer(0)
		defer timer.Stop()
		for {
			select {
			case <-w.ended:
				return
			case <-w.life.Done():
				return
			case <-timer.C:
				do()
				timer.Reset(interval())
			}
		}
	})
}

// untilNextLook is short while a member's database comes near its quota.
func (w *watchdog) untilNextLook() time.Duration {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	if w.observer == nil {
		return lookEvery
	}
	return w.guard.NextLook(lookEvery)
}

// end ends the watchdog after a last check of the target. Calling it again has no effect.
func (w *watchdog) end() {
	if w.ended == nil || isClosed(w.ended) {
		return
	}
	w.disarm()
	close(w.ended)
	w.looking.Wait()
	if w.life.Err() == nil {
		w.look()
	}
}

// disarm stops rules from firing, and reports whether one has fired. The target is still checked for changes until end.
func (w *watchdog) disarm() (hasFired bool) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	w.over = true
	return w.fired != nil
}

// continueForOthers lets rules about the target fire again, for the load of other pods. They learn of it from this
// pod's results.
func (w *watchdog) continueForOthers() {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	w.over, w.forOthers, w.stop = false, true, func() {}
}

// look checks the requests and the members' status. The end of the load does not cut off a check in progress, since
// client and server must count the same requests; only the end of life does.
func (w *watchdog) look() {
	w.lookAtRequests()
	if w.observer == nil {
		return
	}
	bounded, cancel := context.WithTimeout(w.life, viewTimeout)
	defer cancel()
	view := w.observer.View(bounded)
	if w.life.Err() != nil {
		// A view that was cut off says nothing about the target.
		return
	}
	w.judge(func(g *guard.Guard) *results.Fired {
		w.changes.See(view)
		return g.SeesView(view)
	})
}

// lookAtRequests checks the requests while this pod sends any.
func (w *watchdog) lookAtRequests() {
	ended, failed := w.recorder.tallied()
	at := time.Now()
	w.judge(func(g *guard.Guard) *results.Fired {
		if w.forOthers {
			return nil
		}
		return g.SeesRequests(at, ended, failed)
	})
}

func (w *watchdog) sample() {
	bounded, cancel := context.WithTimeout(w.life, sampleTimeout)
	defer cancel()
	samples := w.sampler.Sample(bounded)
	if w.life.Err() != nil {
		return
	}
	w.judge(func(g *guard.Guard) *results.Fired { return g.SeesSamples(samples) })
}

// judge passes new data to the guard, and ends the load if a rule fires.
func (w *watchdog) judge(show func(*guard.Guard) *results.Fired) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	fired := show(w.guard)
	if fired == nil || w.fired != nil || w.over {
		return
	}
	w.fired = fired
	w.stop()
}

// fill writes the findings into a snapshot. A fired rule is reported only if it ended the load, or is to end it.
func (w *watchdog) fill(snapshot *results.Snapshot) {
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
		snapshot.Target.Changes, snapshot.Target.Unobserved = w.changes.Found(), w.changes.Unobserved()
	}
}
