package collector

import (
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// answer is what a scrape of a pod brought.
type answer struct {
	snapshot *results.Snapshot
	// clock is nil where the pod did not tell the time.
	clock *Clock
}

// Clock is a reading of a pod's clock: it showed Ahead more than this process's
// at a moment that is known to Uncertain either way.
type Clock struct{ Ahead, Uncertain time.Duration }

// readClock takes what a clock showed at some moment between two of this process.
func readClock(shown, asked, answered time.Time) *Clock {
	if shown.IsZero() {
		return nil
	}
	half := answered.Sub(asked) / 2
	return &Clock{Ahead: shown.Sub(asked.Add(half)), Uncertain: half}
}

// better is the reading that is known best. The newer one wins if they are alike.
func better(old, newer *Clock) *Clock {
	if newer == nil || old != nil && old.Uncertain < newer.Uncertain {
		return old
	}
	return newer
}

// Offset is how far the pod's clock is ahead, less than 0 if it is behind, as far
// as that is certain.
func (c *Clock) Offset() time.Duration {
	if c.Ahead < 0 {
		return min(c.Ahead+c.Uncertain, 0)
	}
	return max(c.Ahead-c.Uncertain, 0)
}
