package wire

import (
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// watchFamilies are what became of the pod's watchers.
func watchFamilies() []family {
	gauge := func(name, help string, field func(*results.Watch) *uint64) family {
		return scalar(name, help, counts[uint64](), func(s *results.Snapshot) *uint64 { return field(&s.Watch) })
	}
	return []family{
		gauge("etcdbench_watchers", "Watchers that were opened before the load.", func(w *results.Watch) *uint64 { return &w.Watchers }),
		gauge("etcdbench_watch_expected_events", "Events that acknowledged measured puts, or histories, owe the watchers of the client pod.",
			func(w *results.Watch) *uint64 { return &w.Expected }),
		gauge("etcdbench_watch_missed_events", "Expected events that were not delivered in time.", func(w *results.Watch) *uint64 { return &w.Missed }),
		gauge("etcdbench_watch_duplicate_events", "Events that a watcher had been given before.", func(w *results.Watch) *uint64 { return &w.Duplicate }),
		gauge("etcdbench_watch_cancelled_watchers", "How often etcd ended a watcher.", func(w *results.Watch) *uint64 { return &w.Cancelled }),
		gauge("etcdbench_watch_resumed_watchers", "How often a watcher was opened anew because its stream had broken.",
			func(w *results.Watch) *uint64 { return &w.Resumed }),
		gauge("etcdbench_watch_replays", "How often a watcher has read its history to the end.", func(w *results.Watch) *uint64 { return &w.Replays }),
		scalar("etcdbench_watch_compacted_after_seconds", "Time from the start of the window to when the history that watchers read was found compacted.",
			durations, func(s *results.Snapshot) *time.Duration { return &s.Watch.CompactedAfter }),
	}
}
