package collector

import (
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// answer is the result of one scrape.
type answer struct {
	snapshot *results.Snapshot
	// clock is nil if the pod did not report its time.
	clock *Clock
	// course is nil until it was read.
	course *results.Snapshot
}

// Clock compares a pod's clock with the clock of this process. The pod's clock is ahead by Ahead, plus or minus
// Uncertain.
type Clock struct{ Ahead, Uncertain time.Duration }

// readClock compares a time that a pod reported with the times just before and after the request.
func readClock(shown, asked, answered time.Time) *Clock {
	if shown.IsZero() {
		return nil
	}
	half := answered.Sub(asked) / 2
	return &Clock{Ahead: shown.Sub(asked.Add(half)), Uncertain: half}
}

// moreExact returns the more exact reading; the newer one if both are equal.
func moreExact(old, newer *Clock) *Clock {
	if newer == nil || old != nil && old.Uncertain < newer.Uncertain {
		return old
	}
	return newer
}

// Offset is the certain part of the pod clock's lead; negative if the clock is behind.
func (c *Clock) Offset() time.Duration {
	if c.Ahead < 0 {
		return min(c.Ahead+c.Uncertain, 0)
	}
	return max(c.Ahead-c.Uncertain, 0)
}
