package results

import (
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
)

// Figure names one number that a member of the target reported about the measured window. Unless the name says
// otherwise, it is the increase of a counter of the member. The name contains the unit.
type Figure string

// The figures of a member.
const (
	// FigureSampledSeconds is the time between the two samples whose differences are the other figures.
	FigureSampledSeconds Figure = "sampled_seconds"
	// FigureSampleLagSeconds is the sum of the distances of the samples from the start and from the end of the window.
	FigureSampleLagSeconds Figure = "sample_lag_seconds"

	FigureLeaderChanges   Figure = "leader_changes"
	FigureSlowApplies     Figure = "slow_applies"
	FigureSlowReadIndexes Figure = "slow_read_indexes"
	FigureFailedProposals Figure = "failed_proposals"
	// FigurePendingProposals is the highest number in any sample.
	FigurePendingProposals Figure = "pending_proposals_highest"
	// FigurePendingMean is the mean over all samples, FigurePendingSamples their number, and FigurePendingBusySamples
	// how many of them were above 0.
	FigurePendingMean        Figure = "pending_proposals_mean"
	FigurePendingSamples     Figure = "pending_proposals_samples"
	FigurePendingBusySamples Figure = "pending_proposals_samples_above_zero"
	FigureAppliedProposals   Figure = "applied_proposals"

	FigureCPUSeconds Figure = "cpu_seconds"
	// FigureProcessors is how many processors the member's process may use at a time.
	FigureProcessors Figure = "processors"
	// FigureCPUHighest is the highest use of processors over a second, if the process is sampled from outside.
	FigureCPUHighest Figure = "cpu_highest_processors"
	// FigureMemoryBytes is the greatest resident memory in any sample, including mapped pages of the database.
	FigureMemoryBytes Figure = "resident_memory_highest_bytes"
	// FigureMemoryStartBytes is the resident memory at the first sample.
	FigureMemoryStartBytes Figure = "resident_memory_start_bytes"
	// FigureDatabaseStartBytes and FigureDatabaseEndBytes are the size of the database at the first and at the last
	// sample.
	FigureDatabaseStartBytes Figure = "database_start_bytes"
	FigureDatabaseEndBytes   Figure = "database_end_bytes"

	FigureClientReceivedBytes Figure = "client_received_bytes"
	FigureClientSentBytes     Figure = "client_sent_bytes"
	FigurePeerReceivedBytes   Figure = "peer_received_bytes"
	FigurePeerSentBytes       Figure = "peer_sent_bytes"

	// These are what the kernel counts for the process, and for the network of its pod.
	FigureStorageReadBytes    Figure = "storage_read_bytes"
	FigureStorageWrittenBytes Figure = "storage_written_bytes"
	FigurePodReceivedBytes    Figure = "pod_received_bytes"
	FigurePodSentBytes        Figure = "pod_sent_bytes"

	// FigurePings is how many pings of client pod 0 the member answered. A ping is no request to etcd.
	// The others are how long the answer took.
	FigurePings               Figure = "pings"
	FigurePingShortestSeconds Figure = "ping_shortest_seconds"
	FigurePingMedianSeconds   Figure = "ping_p50_seconds"
	FigurePingLongestSeconds  Figure = "ping_longest_seconds"
)

// Timer is a kind of work whose duration a member measures.
type Timer string

// The timers of a member.
const (
	// TimerWALFsync is a flush of the write-ahead log to disk; one flush serves many writes.
	TimerWALFsync Timer = "wal_fsync"
	// TimerBackendCommit is a commit of the database to disk, off the path of a write.
	TimerBackendCommit Timer = "backend_commit"
	// TimerPeerRoundTrip is a moving average that a member observes twice for each peer every 30 s.
	TimerPeerRoundTrip Timer = "peer_round_trip"
	// TimerApply is applying an agreed request to the store.
	TimerApply Timer = "apply"
	// TimerHandling is handling a request that writes keys, from when gRPC has read it until the response is written.
	// Members serve it with --metrics=extensive only.
	TimerHandling Timer = "write_handling"
	// TimerDefragment is defragmenting the database. The member serves no requests meanwhile.
	TimerDefragment Timer = "defragment"
	// TimerCompact is deleting old revisions, in batches with pauses between them. Applying waits for each batch.
	TimerCompact Timer = "compact"
)

// Count is the figure with the number of observations.
func (t Timer) Count() Figure { return Figure(t + "_observations") }

// Seconds is the figure with the total duration.
func (t Timer) Seconds() Figure { return Figure(t + "_seconds") }

// P99Above is the figure with the lower bound of the member's own bucket that contains the 99th percentile.
func (t Timer) P99Above() Figure { return Figure(t + "_p99_above_seconds") }

// P99AtMost is the figure with the upper bound of that bucket. If it is missing, the bucket has no upper bound.
func (t Timer) P99AtMost() Figure { return Figure(t + "_p99_at_most_seconds") }

// Estimated are the timers whose percentiles are estimated, too, and Estimates the statistics.
var (
	Estimated = []Timer{TimerWALFsync, TimerBackendCommit}
	Estimates = []spec.Statistic{spec.StatisticP50, spec.StatisticP90, spec.StatisticP99}
)

// Estimate is the figure with a percentile as Prometheus's histogram_quantile estimates it within the member's bucket. It is
// for graphs that have such estimates. Judge by P99Above and P99AtMost.
func (t Timer) Estimate(s spec.Statistic) Figure {
	return Figure(string(t) + "_" + strings.ToLower(string(s)) + "_estimate_seconds")
}

// LeastCutMean is the shortest mean that is known of durations that the member cut to whole milliseconds: it can be up to a
// millisecond too short.
const LeastCutMean = 3 * time.Millisecond

// timers are in encoding order.
var timers = []Timer{TimerWALFsync, TimerBackendCommit, TimerPeerRoundTrip, TimerApply, TimerHandling, TimerDefragment, TimerCompact}

// figures are all figures except those of the timers, in encoding order.
var figures = []Figure{
	FigureSampledSeconds, FigureSampleLagSeconds,
	FigureLeaderChanges, FigureSlowApplies, FigureSlowReadIndexes, FigureFailedProposals, FigurePendingProposals,
	FigurePendingMean, FigurePendingSamples, FigurePendingBusySamples, FigureAppliedProposals,
	FigureCPUSeconds, FigureCPUHighest, FigureProcessors, FigureMemoryBytes, FigureMemoryStartBytes, FigureDatabaseStartBytes, FigureDatabaseEndBytes,
	FigureClientReceivedBytes, FigureClientSentBytes, FigurePeerReceivedBytes, FigurePeerSentBytes,
	FigureStorageReadBytes, FigureStorageWrittenBytes, FigurePodReceivedBytes, FigurePodSentBytes,
	FigurePings, FigurePingShortestSeconds, FigurePingMedianSeconds, FigurePingLongestSeconds,
}

// AllFigures returns all figures, including those of the timers.
func AllFigures() []Figure {
	all := slices.Clone(figures)
	for _, t := range timers {
		all = append(all, t.Count(), t.Seconds(), t.P99Above(), t.P99AtMost())
	}
	for _, t := range Estimated {
		for _, s := range Estimates {
			all = append(all, t.Estimate(s))
		}
	}
	return all
}

// What MemberWindow.Unknown begins with if a member had figures at the start of the window, and lost them.
const (
	UnknownAtEnd     = "at the end of the window "
	UnknownRestarted = "the member restarted in the window"
)

// UnreadMetrics is how the problem of a sample begins if the member did not serve its metrics.
const UnreadMetrics = "its metrics could not be read"

// MemberWindow holds a member's own metrics over the measured window.
type MemberWindow struct {
	// Figures are the known figures. A figure that the member does not serve is missing.
	Figures map[Figure]float64
	// Unknown is why there are no figures; empty if there are some.
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

// Without returns a copy without some figures.
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

// DatabaseGrowth is the growth of the database in bytes; negative if it shrank.
func (w *MemberWindow) DatabaseGrowth() (float64, bool) {
	start, started := w.Value(FigureDatabaseStartBytes)
	end, ended := w.Value(FigureDatabaseEndBytes)
	return end - start, started && ended
}

// CPU is the average number of processors that the member's process used.
func (w *MemberWindow) CPU() (float64, bool) {
	used, known := w.Value(FigureCPUSeconds)
	elapsed, _ := w.Value(FigureSampledSeconds)
	return used / elapsed, known && elapsed > 0
}

// Millicores is CPU in thousandths of a processor. It is rounded once, so that a use at its limit is not above it.
func (w *MemberWindow) Millicores() (float64, bool) {
	used, known := w.Value(FigureCPUSeconds)
	elapsed, _ := w.Value(FigureSampledSeconds)
	return 1000 * used / elapsed, known && elapsed > 0
}

// Timing is the count and the duration of one kind of work.
type Timing struct {
	Count uint64
	// Mean is as exact as the member's own sum; 0 if Count is 0.
	Mean time.Duration
	// P99Above and P99AtMost bound the 99th percentile; P99AtMost is 0 if there is no upper bound.
	P99Above, P99AtMost time.Duration
	// Estimates has each of Estimates, or is nil.
	Estimates []time.Duration
}

// Timing returns the values of a timer. It returns false if the member did not report them, or reported an impossible
// number.
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
	for _, s := range Estimates {
		if v, known := w.Value(t.Estimate(s)); known {
			out.Estimates = append(out.Estimates, Seconds(v))
		}
	}
	if len(out.Estimates) < len(Estimates) {
		out.Estimates = nil
	}
	return out, true
}

// Seconds converts seconds to a Duration and limits them to MaxSeconds, because a member's metrics can have any value.
func Seconds(s float64) time.Duration {
	return time.Duration(math.Round(min(s, MaxSeconds) * nanosecondsPerSecond))
}
