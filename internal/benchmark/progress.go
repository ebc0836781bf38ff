package benchmark

import (
	"math"
	"slices"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
	"github.com/etcdbench/etcd-benchmark-operator/internal/text"
)

// reached reports whether a pod is at that stage or past it.
func reached(snap *results.Snapshot, stage results.Stage) bool {
	return snap != nil && snap.Stage.Reached(stage)
}

// Progress returns the progress of a run from the newest snapshot of each pod, and from s, which summarizes them. snaps
// holds nil for a pod without a snapshot. The share that is done never falls below that of the status of b: the end of a window can turn out to be
// earlier than it looked.
func Progress(b *v1alpha1.EtcdBenchmark, s results.Summary, snaps []*results.Snapshot) *v1alpha1.Progress {
	out := &v1alpha1.Progress{
		Requests:            int64(s.Succeeded + s.Failed + s.Censored),
		StartedRequests:     int64(s.Started),
		FailedRequests:      int64(s.Failed),
		ThroughputPerSecond: text.RateOf(s.Throughput).Decimal(),
	}
	setLatency(out, operationSummaries(s.Operations))
	for _, snap := range snaps {
		if reached(snap, results.StageReady) {
			out.ReadyPods++
		}
	}
	out.Percent = percent(b, out.Requests, snaps)
	if before := b.Status.Progress; before != nil {
		out.Percent = max(out.Percent, before.Percent)
	}
	if stage := s.Merged.Stage; s.Merged.Work.Total > 0 && (stage == results.StagePreloading || stage == results.StageCleaning) {
		out.Work, out.SecondsLeft = workProgress(s.Merged.Work, snaps)
	} else if !haveAll(snaps, results.StageDraining) {
		out.SecondsLeft = windowLeft(b, out, s, snaps)
	}
	return out
}

func haveAll(snaps []*results.Snapshot, stage results.Stage) bool {
	return !slices.ContainsFunc(snaps, func(s *results.Snapshot) bool { return !reached(s, stage) })
}

// workProgress returns the progress of work, and how many seconds it still takes at this rate.
func workProgress(w results.Work, snaps []*results.Snapshot) (*v1alpha1.WorkProgress, *int64) {
	out := &v1alpha1.WorkProgress{Done: int64(min(w.Done, w.Total)), Total: int64(w.Total)}
	perSecond := 0.0
	for _, snap := range snaps {
		if snap == nil {
			continue
		}
		// Each pod by its own clock.
		if elapsed := snap.Clock.Sub(snap.Work.Since).Seconds(); snap.Work.Total > 0 && elapsed > 0 {
			perSecond += float64(snap.Work.Done) / elapsed
		}
	}
	if perSecond == 0 {
		return out, nil
	}
	out.PerSecond = text.RateOf(perSecond).Decimal()
	return out, secondsFor(float64(out.Total-out.Done), perSecond)
}

// windowLeft is the time until the end of the window; nil if it has not begun or nothing is known.
func windowLeft(b *v1alpha1.EtcdBenchmark, p *v1alpha1.Progress, s results.Summary, snaps []*results.Snapshot) *int64 {
	if wanted := b.Resolved().Load.Requests; wanted != nil {
		return secondsFor(float64(max(*wanted-p.Requests, 0)), float64(p.Requests)/max(s.Length.Seconds(), 1e-9))
	}
	var left *int64
	for _, snap := range snaps {
		if snap == nil || snap.Window.Start.IsZero() || snap.Clock.IsZero() {
			continue
		}
		if rest := int64(max(snap.Window.Planned-snap.Clock.Sub(snap.Window.Start), 0).Seconds()); left == nil || rest > *left {
			left = &rest
		}
	}
	return left
}

// maxSecondsLeft bounds an estimate to a year: a longer one says nothing.
const maxSecondsLeft = 366 * 24 * 3600

func secondsFor(amount, perSecond float64) *int64 {
	if perSecond <= 0 {
		return nil
	}
	return new(int64(min(math.Ceil(amount/perSecond), maxSecondsLeft)))
}

// percent is the share of the requests if they bound the run, else of the time.
func percent(b *v1alpha1.EtcdBenchmark, requests int64, snaps []*results.Snapshot) int32 {
	if wanted := b.Resolved().Load.Requests; wanted != nil {
		return ratioPercent(float64(requests), float64(*wanted))
	}
	return timePercent(snaps)
}

// timePercent uses the time of the last response as the current time until the window has ended, because a snapshot has
// no other clock. Under a steady load the difference is one request.
func timePercent(snaps []*results.Snapshot) int32 {
	least, known := int32(100), false
	for _, snap := range snaps {
		if snap == nil {
			continue
		}
		w := snap.Window
		now := w.LastResponse
		if !w.End.IsZero() {
			now = w.End
		}
		switch {
		case reached(snap, results.StageDraining) && !endedEarly(snap):
			known = true
		case w.Start.IsZero() || !now.After(w.Start):
			return 0
		default:
			known, least = true, min(least, ratioPercent(float64(now.Sub(w.Start)), float64(w.Planned)))
		}
	}
	if !known {
		return 0
	}
	return least
}

// endedEarly reports whether a pod's window ended before its bound.
func endedEarly(snap *results.Snapshot) bool { return snap.Stopped || snap.Failure != nil }

func ratioPercent(done, wanted float64) int32 {
	if wanted <= 0 {
		return 0
	}
	return int32(min(max(done/wanted, 0), 1) * 100)
}

// Pod returns the status of a pod from its snapshot. The caller adds name, node, the way by which the snapshot came,
// and whether it is partial.
func Pod(snap *results.Snapshot) v1alpha1.PodStatus {
	out := v1alpha1.PodStatus{
		Index:                 int32(snap.Index),
		Stage:                 string(snap.Stage),
		MeasuredRequests:      measuredRequests(snap),
		StartSkewMicroseconds: toMicros(max(snap.Window.Skew, time.Duration(0))),
		KeysDeleted:           snap.Cleaning == results.CleaningKeysDeleted,
	}
	if snap.Failure != nil {
		out.Message = text.Shorten(snap.Failure.Message, v1alpha1.MaxPodMessageLength)
	}
	out.Disk = diskOf(snap)
	return out
}

// diskOf is nil for a pod whose target is not a disk.
func diskOf(snap *results.Snapshot) *v1alpha1.DiskStatus {
	if snap.Target == nil || snap.Target.Disk == nil {
		return nil
	}
	d := snap.Target.Disk
	out := &v1alpha1.DiskStatus{Device: text.Shorten(d.Device, 256), FileSystem: text.Shorten(d.FileSystem, 64), Options: text.Shorten(d.Options, 1024)}
	if op := snap.Operations[spec.OperationFlush]; op != nil && op.Latency.Count() > 0 {
		out.FlushP50Microseconds, out.FlushP99Microseconds = flushTime(op, spec.StatisticP50), flushTime(op, spec.StatisticP99)
		out.FlushMaxMicroseconds = toMicros(op.Latency.Max())
	}
	return out
}

// flushTime is a percentile of the flushes; 0 if too few are above it, or if it falls on one that failed or did not end.
func flushTime(op *results.OperationResult, s spec.Statistic) int64 {
	ranked := op.Judged()
	v, known := ranked.Quantile(results.QuantileOf(s))
	if !known || v.Unbounded || v.AtLeast || ranked.IsThin(s) {
		return 0
	}
	return toMicros(v.Duration)
}

func measuredRequests(snap *results.Snapshot) int64 {
	n := uint64(0)
	for operation, op := range snap.Operations {
		if operation.IsEvent() {
			continue
		}
		n += op.Failed.Count() + op.Censored.Count()
		if !operation.IsPart() {
			n += op.Latency.Count()
		}
	}
	return int64(n)
}

// Phase is the earliest stage of any pod, empty until a pod reports.
func Phase(b *v1alpha1.EtcdBenchmark) results.Stage {
	earliest := len(results.Stages)
	for _, pod := range b.Status.Pods {
		if at := slices.Index(results.Stages, results.Stage(pod.Stage)); at >= 0 {
			earliest = min(earliest, at)
		}
	}
	if earliest == len(results.Stages) {
		return ""
	}
	return results.Stages[earliest]
}
