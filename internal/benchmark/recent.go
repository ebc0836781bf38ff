package benchmark

import (
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// Recent follows the counts of one run from update to update. The zero value is ready.
type Recent struct {
	// clocks are the pods' clocks at the last update, by index.
	clocks  map[int]time.Time
	latency map[spec.Operation]*results.Histogram
	shown   *v1alpha1.RecentProgress
}

// Update sets progress.Recent: the requests that succeeded since the update before. Without newer snapshots it stays.
// merged has the counts of all snapshots.
func (r *Recent) Update(p *v1alpha1.Progress, merged *results.Snapshot, snaps []*results.Snapshot) {
	clocks := clocksOf(snaps)
	length := r.elapsed(clocks)
	if len(r.clocks) > 0 && length <= 0 {
		p.Recent = r.shown
		return
	}
	r.shown = r.since(p.Operation, merged, length)
	p.Recent = r.shown
	r.clocks, r.latency = clocks, map[spec.Operation]*results.Histogram{}
	for operation, result := range merged.Operations {
		// Only this histogram stays in memory.
		latency := result.Latency.Clone()
		latency.Pack()
		r.latency[operation] = &latency
	}
}

func clocksOf(snaps []*results.Snapshot) map[int]time.Time {
	out := map[int]time.Time{}
	for _, s := range snaps {
		if s != nil && !s.Clock.IsZero() {
			out[s.Index] = s.Clock
		}
	}
	return out
}

// elapsed is how long ago the last update was, by the clock of the pod that knows the longest time. Clocks of different
// pods cannot be compared.
func (r *Recent) elapsed(now map[int]time.Time) (longest time.Duration) {
	for index, at := range now {
		if before, known := r.clocks[index]; known {
			longest = max(longest, at.Sub(before))
		}
	}
	return longest
}

// since returns nil if the update before has no counts of the operation.
func (r *Recent) since(operation spec.Operation, merged *results.Snapshot, length time.Duration) *v1alpha1.RecentProgress {
	before, now := r.latency[operation], merged.Operations[operation]
	if before == nil || now == nil {
		return nil
	}
	h, known := now.Latency.Since(before)
	if !known {
		return nil
	}
	out := &v1alpha1.RecentProgress{DurationMicroseconds: toMicros(length), SucceededRequests: int64(h.Count())}
	if p50, known := h.Quantile(results.QuantileOf(spec.StatisticP50)); known {
		out.P50Microseconds = toMicros(p50)
	}
	if p99, known := h.Quantile(results.QuantileOf(spec.StatisticP99)); known && !h.IsThin(spec.StatisticP99) {
		out.P99Microseconds = toMicros(p99)
	}
	return out
}
