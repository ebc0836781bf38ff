package lifecycle

import (
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// client is the real state of a pod's container. The operator sees only a part of it.
type client struct {
	// wrote: it has claimed or joined the prefix.
	wrote bool
	// over: it sends no more load. It has either done all of it, or another field says what has ended it.
	over, did, stopped bool
	fired              *results.Fired
	failure            *results.Failure
	// released is since when it waits for the other pods to release the prefix.
	released time.Time
}

// store is the run's prefix in the target: the pods that have not released it, whether it has keys, and whether it ever
// had some.
type store struct {
	writers     map[int]bool
	keys, wrote bool
	// gone: the members are deleted.
	gone bool
}

func (s *store) write(index int) {
	if !s.gone {
		s.writers[index], s.keys, s.wrote = true, true, true
	}
}

// release removes a pod from the writers. The last one deletes the keys.
func (s *store) release(index int) (deleted bool) {
	delete(s.writers, index)
	if len(s.writers) == 0 {
		s.keys = false
	}
	return !s.keys
}

func (s *store) sweep() {
	clear(s.writers)
	s.keys = false
}

func (w *world) client(p *Pod) *client {
	if w.clients[p.Name] == nil {
		w.clients[p.Name] = &client{}
	}
	return w.clients[p.Name]
}

// grow moves a pod one step ahead, as loadgen does.
func (w *world) grow(p *Pod, hostile bool) {
	if w.frozen[p.Name] || w.rand.IntN(3) == 0 {
		return
	}
	switch c := w.client(p); {
	case p.State == PodWaiting:
		w.startOrStick(p, hostile)
	case p.State != PodRunning:
	case p.Final != nil && p.Collected:
		p.State, p.Exit, p.Exited, p.Ready = PodEnded, "ended with exit code 0 (Completed)", true, false
	case p.Final != nil:
	case c.over:
		w.release(p, c)
	case p.Stop:
		c.over, c.stopped = true, true
	case p.StartAt != "":
		c.over, c.did = true, true
		w.report(p, c, results.StageCleaning)
	case !p.Admitted && usesLock(w.run):
		w.report(p, c, results.StageWaiting)
	case p.Index == 0 && w.rivals > 0 && !w.held && usesLock(w.run):
		w.report(p, c, results.StageLocking)
	case !c.wrote:
		c.wrote = true
		w.store.write(p.Index)
		w.held = w.held || p.Index == 0
		w.report(p, c, results.StageClaiming)
	default:
		p.Ready = true
	}
}

// thaw resumes a hung pod and its load. Its timer has continued to run.
func (w *world) thaw(p *Pod) {
	delete(w.frozen, p.Name)
	inTime := w.now.Before(timesOut(Observed{Run: w.run}))
	if c := w.client(p); c.wrote && !c.over && inTime {
		w.store.write(p.Index)
	}
}

// How long a pod waits for the others to release the prefix: normally, and after a stop.
const (
	releasePatience  = 4 * time.Minute
	releaseInterrupt = 30 * time.Second
)

// release releases the prefix and waits a while for the other pods.
func (w *world) release(p *Pod, c *client) {
	if c.released.IsZero() {
		c.released = w.now
	}
	waited := w.now.Sub(c.released)
	switch {
	case !c.wrote, w.store.release(p.Index), waited >= releasePatience, p.Stop && waited >= releaseInterrupt:
		w.report(p, c, results.StageDone)
	default:
		w.report(p, c, results.StageCleaning)
	}
}

// report returns the result of a scrape.
func (w *world) report(p *Pod, c *client, stage results.Stage) {
	if p.Unreachable {
		return
	}
	p.Choose(w.snapshot(c, stage), nil)
}

func (w *world) snapshot(c *client, stage results.Stage) *results.Snapshot {
	s := &results.Snapshot{Stage: stage, Stopped: c.stopped, Fired: c.fired, Failure: c.failure, Cleaning: results.CleaningKeysLeft}
	switch {
	case !c.wrote:
		s.Cleaning = results.CleaningNothingWritten
	case !c.released.IsZero() && !w.store.keys:
		s.Cleaning = results.CleaningKeysDeleted
	}
	return s
}

// terminate ends the pod's container as after a SIGTERM. Randomly, it releases the prefix and leaves a termination
// message.
func (w *world) terminate(p *Pod) {
	c, spoke := w.client(p), p.Final != nil
	p.State, p.Exit, p.Exited, p.Ready = PodEnded, "ended with exit code 0 (Completed)", true, false
	if spoke || !p.Started || w.rand.IntN(2) == 0 {
		return
	}
	c.stopped = c.stopped || !c.over
	if w.rand.IntN(2) == 0 {
		c.released = w.now
		w.store.release(p.Index)
	}
	p.Choose(nil, w.snapshot(c, results.StageDone))
}

// breaks makes the pod fail and report the failure.
func (w *world) breaks(p *Pod) {
	if c := w.client(p); p.State == PodRunning && p.Final == nil && !c.over {
		c.over, c.failure = true, &results.Failure{Reason: results.FailureTLSFailed, Message: "no"}
		w.report(p, c, results.StageConnecting)
	}
}

// fire makes the pod's guard end its load.
func (w *world) fire(p *Pod) {
	if c := w.client(p); p.State == PodRunning && p.Final == nil && !c.over {
		c.over, c.stopped = true, true
		c.fired = &results.Fired{Rule: spec.GuardAlarm, Detail: "NOSPACE", At: w.now}
		w.report(p, c, results.StageCleaning)
	}
}

// forget removes what a restarted operator does not know.
func forget(p *Pod) {
	if p.Live = nil; p.Source == v1alpha1.SourceScrape {
		p.Final, p.Source = nil, ""
	}
}

// timer ends the pods by their own timers. The timer of a pod that may not write yet does not run.
func (w *world) timer() {
	w.leave(seconds(w.run.Spec.TimeoutSeconds))
	expires := func(p *Pod) bool {
		return p.State == PodRunning && p.Final == nil && p.Admitted && w.held && !w.frozen[p.Name]
	}
	for _, p := range w.pods {
		if expires(p) {
			w.store.release(p.Index)
		}
	}
	for _, name := range w.names() {
		if p, c := w.pods[name], w.client(w.pods[name]); expires(p) {
			c.released = w.now
			if !c.over {
				c.over, c.stopped = true, true
				c.failure = &results.Failure{Reason: results.FailureTimedOut, Message: "time ran out"}
			}
			p.State, p.Exit, p.Exited, p.Ready = PodEnded, "ended with exit code 1 (Error)", true, false
			p.Choose(nil, w.snapshot(c, results.StageDone))
		}
	}
}
