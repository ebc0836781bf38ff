package wire

import (
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// watchFamilies hold the counts of the pod's watchers.
func watchFamilies() []family {
	gauge := func(name, help string, field func(*results.Watch) *uint64) family {
		return scalar(name, help, counts[uint64](), func(s *results.Snapshot) *uint64 { return field(&s.Watch) })
	}
	return []family{
		gauge("etcdbench_watchers", "Watchers that were opened before the load.", func(w *results.Watch) *uint64 { return &w.Watchers }),
		gauge("etcdbench_watch_expected_events", "Events that the client pod's watchers should receive for acknowledged measured puts, or from histories.",
			func(w *results.Watch) *uint64 { return &w.Expected }),
		gauge("etcdbench_watch_missed_events", "Expected events that were not delivered in time.", func(w *results.Watch) *uint64 { return &w.Missed }),
		gauge("etcdbench_watch_duplicate_events", "Events that a watcher had received before.", func(w *results.Watch) *uint64 { return &w.Duplicate }),
		gauge("etcdbench_watch_cancelled_watchers", "How often etcd ended a watcher.", func(w *results.Watch) *uint64 { return &w.Cancelled }),
		gauge("etcdbench_watch_resumed_watchers", "How often a watcher was opened again because its stream had broken.",
			func(w *results.Watch) *uint64 { return &w.Resumed }),
		gauge("etcdbench_watch_replays", "How often a watcher has read its history to the end.", func(w *results.Watch) *uint64 { return &w.Replays }),
		scalar("etcdbench_watch_compacted_after_seconds", "Time from the start of the window until the watchers' history was found compacted.",
			durations, func(s *results.Snapshot) *time.Duration { return &s.Watch.CompactedAfter }),
	}
}
