package results

import (
	"maps"
	"math"
	"slices"
	"time"
)

// Figure names one number of what a member of the target said of itself over
// the measured window. Unless its name says otherwise it is what a counter of
// the member rose by; its unit is in its name.
type Figure string

// The figures of a member.
const (
	// FigureSampledSeconds is the time between the samples that the other
	// figures are differences of.
	FigureSampledSeconds Figure = "sampled_seconds"
	// FigureSampleLagSeconds is how far these samples were from the start and
	// from the end of the window, added up.
	FigureSampleLagSeconds Figure = "sample_lag_seconds"

	FigureLeaderChanges   Figure = "leader_changes"
	FigureSlowApplies     Figure = "slow_applies"
	FigureSlowReadIndexes Figure = "slow_read_indexes"
	FigureFailedProposals Figure = "failed_proposals"
	// FigurePendingProposals is the highest number in any sample.
	FigurePendingProposals Figure = "pending_proposals_highest"

	FigureCPUSeconds Figure = "cpu_seconds"
	// FigureProcessors is how many processors the member's process may use at
	// a time.
	FigureProcessors Figure = "processors"
	// FigureMemoryBytes is the greatest resident memory in any sample, mapped
	// pages of the database included.
	FigureMemoryBytes Figure = "resident_memory_highest_bytes"
	// FigureDatabaseStartBytes and FigureDatabaseEndBytes are the size of the
	// database at the first and at the last sample.
	FigureDatabaseStartBytes Figure = "database_start_bytes"
	FigureDatabaseEndBytes   Figure = "database_end_bytes"

	FigureClientReceivedBytes Figure = "client_received_bytes"
	FigureClientSentBytes     Figure = "client_sent_bytes"
	FigurePeerReceivedBytes   Figure = "peer_received_bytes"
	FigurePeerSentBytes       Figure = "peer_sent_bytes"
)

// Timer is a kind of work whose duration a member observes.
type Timer string

// The timers of a member.
const (
	// TimerWALFsync: the write-ahead log is flushed to disk; one flush serves
	// many writes.
	TimerWALFsync Timer = "wal_fsync"
	// TimerBackendCommit: the database is committed to disk, off the path of a
	// write.
	TimerBackendCommit Timer = "backend_commit"
	// TimerPeerRoundTrip: a moving average, which a member observes once in 30
	// s for each peer.
	TimerPeerRoundTrip Timer = "peer_round_trip"
	// TimerApply: an agreed request is applied to the store.
	TimerApply Timer = "apply"
)

// Count is the figure of how often the work was done.
func (t Timer) Count() Figure { return Figure(t + "_observations") }

// Seconds is the figure of how long it took altogether.
func (t Timer) Seconds() Figure { return Figure(t + "_seconds") }

// P99Above and P99AtMost are the figures of the bounds of the member's own
// bucket that the 99th percentile lies in. Without the second one it has no
// upper bound.
func (t Timer) P99Above() Figure { return Figure(t + "_p99_above_seconds") }

// P99AtMost is the upper bound, see P99Above.
func (t Timer) P99AtMost() Figure { return Figure(t + "_p99_at_most_seconds") }

// timers are in the order in which they are written.
var timers = []Timer{TimerWALFsync, TimerBackendCommit, TimerPeerRoundTrip, TimerApply}

// figures are all figures but those of the timers, in that order.
var figures = []Figure{
	FigureSampledSeconds, FigureSampleLagSeconds,
	FigureLeaderChanges, FigureSlowApplies, FigureSlowReadIndexes, FigureFailedProposals, FigurePendingProposals,
	FigureCPUSeconds, FigureProcessors, FigureMemoryBytes, FigureDatabaseStartBytes, FigureDatabaseEndBytes,
	FigureClientReceivedBytes, FigureClientSentBytes, FigurePeerReceivedBytes, FigurePeerSentBytes,
}

// AllFigures has those of the timers too.
func AllFigures() []Figure {
	all := slices.Clone(figures)
	for _, t := range timers {
		all = append(all, t.Count(), t.Seconds(), t.P99Above(), t.P99AtMost())
	}
	return all
}

// MemberWindow is what one member did over the measured window, by its own
// metrics.
type MemberWindow struct {
	// Figures that are known. One that the member does not serve is absent.
	Figures map[Figure]float64
	// Unknown is why there are no figures; empty if there are.
	Unknown string
}

// Value returns a figure; false if it is not known.
func (w *MemberWindow) Value(f Figure) (float64, bool) {
	if w == nil {
		return 0, false
	}
	v, ok := w.Figures[f]
	return v, ok
}

// Without returns a copy that lacks some figures.
func (w *MemberWindow) Without(figures ...Figure) *MemberWindow {
	if w == nil {
		return nil
	}
	out := &MemberWindow{Figures: maps.Clone(w.Figures), Unknown: w.Unknown}
	for _, f := range figures {
		delete(out.Figures, f)
	}
	return out
}

// DatabaseGrowth is how many bytes the database has grown by; less than 0 if
// it shrank.
func (w *MemberWindow) DatabaseGrowth() (float64, bool) {
	start, started := w.Value(FigureDatabaseStartBytes)
	end, ended := w.Value(FigureDatabaseEndBytes)
	return end - start, started && ended
}

// CPU is how many processors the member's process kept busy, on average.
func (w *MemberWindow) CPU() (float64, bool) {
	used, known := w.Value(FigureCPUSeconds)
	elapsed, _ := w.Value(FigureSampledSeconds)
	return used / elapsed, known && elapsed > 0
}

// Millicores is CPU in thousandths of a processor.
func (w *MemberWindow) Millicores() (float64, bool) {
	used, known := w.CPU()
	return 1000 * used, known
}

// Timing is how often a kind of work was done and how long it took.
type Timing struct {
	Count uint64
	// Mean is exact, as far as the member's own sum is; 0 if Count is.
	Mean time.Duration
	// P99Above and P99AtMost are the bounds between which the 99th percentile
	// lies; 0 for the second means that there is none.
	P99Above, P99AtMost time.Duration
}

// Timing returns what is known of a timer; false if the member did not tell, or
// told a number that cannot be.
func (w *MemberWindow) Timing(t Timer) (Timing, bool) {
	count, known := w.Value(t.Count())
	sum, summed := w.Value(t.Seconds())
	if !known || !summed || count > MaxBytes {
		return Timing{}, false
	}
	above, _ := w.Value(t.P99Above())
	atMost, _ := w.Value(t.P99AtMost())
	out := Timing{Count: uint64(count), P99Above: Seconds(above), P99AtMost: Seconds(atMost)}
	if count >= 1 {
		out.Mean = Seconds(sum / count)
	}
	return out, true
}

// Seconds are at most what a Duration holds: a member's metrics may say anything.
func Seconds(s float64) time.Duration {
	return time.Duration(math.Round(min(s, MaxSeconds) * nanosecondsPerSecond))
}
