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

// warnings say which events are not in the latencies.
func (w *Watch) warnings(warn warner) {
	warn(w.Missed > 0, "watchers missed %s of %s events that etcd owed them", Grouped(w.Missed), Grouped(w.Expected))
	warn(w.Cancelled > 0, "etcd cancelled watchers %s times; they were opened anew, and lost no event by that but those that had been compacted, which are among the missed ones", Grouped(w.Cancelled))
	warn(w.Resumed > 0, "watchers were resumed %s times because their stream had broken: events waited for that", Grouped(w.Resumed))
	warn(w.CompactedAfter > 0, "the history that watchers read was compacted: since %v after the start of the window it is replayed no more; turn the target's auto-compaction off, or let it keep more than the run lasts",
		w.CompactedAfter.Round(time.Millisecond))
	warn(w.Duplicate > 0, "watchers were given %s events twice", Grouped(w.Duplicate))
}

// watchFamilies are what became of the pod's watchers.
func watchFamilies() []family {
	gauge := func(name, help string, field func(*Watch) *uint64) family {
		return scalar(name, help, counts[uint64](), func(s *Snapshot) *uint64 { return field(&s.Watch) })
	}
	return []family{
		gauge("etcdbench_watchers", "Watchers that were opened before the load.", func(w *Watch) *uint64 { return &w.Watchers }),
		gauge("etcdbench_watch_expected_events", "Events that acknowledged measured puts, or histories, owe the watchers of the client pod.",
			func(w *Watch) *uint64 { return &w.Expected }),
		gauge("etcdbench_watch_missed_events", "Expected events that were not delivered in time.", func(w *Watch) *uint64 { return &w.Missed }),
		gauge("etcdbench_watch_duplicate_events", "Events that a watcher had been given before.", func(w *Watch) *uint64 { return &w.Duplicate }),
		gauge("etcdbench_watch_cancelled_watchers", "How often etcd ended a watcher.", func(w *Watch) *uint64 { return &w.Cancelled }),
		gauge("etcdbench_watch_resumed_watchers", "How often a watcher was opened anew because its stream had broken.",
			func(w *Watch) *uint64 { return &w.Resumed }),
		gauge("etcdbench_watch_replays", "How often a watcher has read its history to the end.", func(w *Watch) *uint64 { return &w.Replays }),
		scalar("etcdbench_watch_compacted_after_seconds", "Time from the start of the window to when the history that watchers read was found compacted.",
			durations, func(s *Snapshot) *time.Duration { return &s.Watch.CompactedAfter }),
	}
}
