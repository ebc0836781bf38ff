package results

import (
	"fmt"
	"time"
)

// Watch is what became of a pod's watchers, and of the events that they were to
// see. The zero Watch is that of a run without watchers.
type Watch struct {
	// Watchers that were opened before the load.
	Watchers uint64
	// Expected counts the events that acknowledged measured puts of the pod, or
	// histories, owe its watchers. Of these, Missed were not delivered in time.
	Expected, Missed uint64
	// Duplicate counts events that a watcher had been given before.
	Duplicate uint64
	// Replays counts how often a watcher has read its history to the end.
	Replays uint64
	// Cancelled counts how often etcd ended a watcher, and Resumed how often one
	// was opened anew, where it had been, after its stream had broken.
	Cancelled, Resumed uint64
	// CompactedAfter is the time from the start of the window, at least a
	// millisecond, to when the history that watchers read was found compacted; 0 if
	// it was not. From then on the pod replays nothing.
	CompactedAfter time.Duration
}

// add adds what another pod has counted, and keeps when a history was gone first.
func (w *Watch) add(other Watch) {
	if w.CompactedAfter == 0 || other.CompactedAfter > 0 && other.CompactedAfter < w.CompactedAfter {
		w.CompactedAfter = other.CompactedAfter
	}
	for i, n := range other.counts() {
		*w.counts()[i] += *n
	}
}

func (w *Watch) counts() []*uint64 {
	return []*uint64{&w.Watchers, &w.Expected, &w.Missed, &w.Duplicate, &w.Cancelled, &w.Resumed, &w.Replays}
}

// check finds counts that contradict each other.
func (w *Watch) check() error {
	if w.Missed > w.Expected {
		return fmt.Errorf("wanted at most %d missed events, as many as were expected, found %d", w.Expected, w.Missed)
	}
	return nil
}
