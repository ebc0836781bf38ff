package results

import (
	"fmt"
	"time"
)

// Watch counts what happened to a pod's watchers and to their events. It is zero for a run without watchers.
type Watch struct {
	// Watchers is the number of watchers opened before the load.
	Watchers uint64
	// Expected counts the events that the watchers should receive for acknowledged measured puts of the pod, or from
	// histories. Missed counts those that were not delivered in time.
	Expected, Missed uint64
	// Duplicate counts events that a watcher had received before.
	Duplicate uint64
	// Replays counts how often a watcher has read its history to the end.
	Replays uint64
	// Cancelled counts the watchers that etcd ended. Resumed counts the watchers that were opened again at their last
	// revision after their stream had broken.
	Cancelled, Resumed uint64
	// CompactedAfter is the time from the start of the window until the history of the watchers was found compacted, at
	// least a millisecond; 0 if it was not. From then on the pod does not replay.
	CompactedAfter time.Duration
}

// add adds the counts of another pod and keeps the earliest compaction.
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

// check returns an error if counts contradict each other.
func (w *Watch) check() error {
	if w.Missed > w.Expected {
		return fmt.Errorf("wanted at most %d missed events, as many as were expected, found %d", w.Expected, w.Missed)
	}
	return nil
}
