package controllers

import (
	"cmp"
	"slices"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/benchmark"
	"github.com/etcdbench/etcd-benchmark-operator/internal/lifecycle"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results/wire"
	"github.com/etcdbench/etcd-benchmark-operator/internal/text"
	"github.com/etcdbench/etcd-benchmark-operator/internal/verdict"
)

// keepResults copies the pods' results into status. Results that a restarted operator has not scraped again stay
// unchanged. It returns the summary of the pods' snapshots; nil before the run has measured.
func keepResults(run *v1alpha1.EtcdBenchmark, o lifecycle.Observed, finish *lifecycle.Problem, now time.Time) (merged *results.Summary) {
	final := finish != nil
	s := &run.Status
	snapshots := snapshotsOf(o.Pods)
	if t := results.TargetOf(snapshots); t != nil && len(t.Members) > 0 && s.Target != nil {
		before := s.Target
		s.Target = benchmark.TargetStatus(run, before.Endpoints, t)
		s.Target.Nodes, s.Target.NotReady = before.Nodes, before.NotReady
	}
	s.Pods = podStatuses(run, o.Pods, final)
	if s.Guard == nil && endsByGuard(s, finish) {
		s.Guard = benchmark.Guard(run, snapshots)
	}
	if hasAny(snapshots) {
		s.Progress = progressOf(run, o.Pods)
	}
	var summary *results.Summary
	if hasMeasurement(snapshots) && (final || haveMeasured(o.Pods)) {
		summary = new(results.Summarize(snapshots))
		merged = summary
		newer := benchmark.Summary(run, *summary)
		if s.Summary = fuller(s.Summary, newer); s.Summary != newer {
			// Status shows more than these snapshots have, so they must not be judged.
			summary = nil
		}
	}
	if !final {
		return merged
	}
	if s.Summary == nil {
		s.RequestCounts = benchmark.RequestCounts(results.Merge(snapshots).Requests)
	} else {
		s.Summary.Partial = s.Summary.Partial || finish.Reason != v1alpha1.ReasonCompleted
	}
	setPassed(run, summary, *finish, now)
	return merged
}

// progressOf returns the progress of a run. While pods cannot be scraped, its rate is that of the others, because that of
// all pods is not known.
func progressOf(run *v1alpha1.EtcdBenchmark, pods []lifecycle.Pod) *v1alpha1.Progress {
	p := benchmark.Progress(run, snapshotsOf(pods))
	answering := slices.DeleteFunc(slices.Clone(pods), isSilent)
	if p.SilentPods = int32(len(pods) - len(answering)); p.SilentPods > 0 {
		p.ThroughputPerSecond = benchmark.Progress(run, snapshotsOf(answering)).ThroughputPerSecond
	}
	return p
}

// isSilent reports whether a pod runs and cannot be scraped.
func isSilent(p lifecycle.Pod) bool { return p.State == lifecycle.PodRunning && p.Unreachable }

// warningLostDetail is the warning on a summary that was saved before a restart.
const warningLostDetail = "The operator restarted after a client pod was lost. The summary was saved before the restart; the report, if there is one, lacks that pod's detail."

// fuller returns the newer summary, unless it has fewer requests than the old one.
func fuller(old, newer *v1alpha1.Summary) *v1alpha1.Summary {
	if old == nil || old.MeasuredRequests <= newer.MeasuredRequests {
		return newer
	}
	old.Partial = true
	if !slices.Contains(old.Warnings, warningLostDetail) {
		old.Warnings = verdict.AppendWarning(old.Warnings, warningLostDetail)
	}
	return old
}

func endsByGuard(s *v1alpha1.EtcdBenchmarkStatus, finish *lifecycle.Problem) bool {
	return finish != nil && finish.Reason == v1alpha1.ReasonGuardStopped ||
		s.Ending != nil && s.Ending.Reason == v1alpha1.ReasonGuardStopped
}

func snapshotsOf(pods []lifecycle.Pod) []*results.Snapshot {
	out := make([]*results.Snapshot, len(pods))
	for i, p := range pods {
		out[i] = p.Newest()
	}
	return out
}

func hasAny(snapshots []*results.Snapshot) bool {
	return slices.ContainsFunc(snapshots, func(s *results.Snapshot) bool { return s != nil })
}

// haveMeasured reports whether all measured numbers are final. Deleting keys changes none of them, so the summary need
// not wait for it.
func haveMeasured(pods []lifecycle.Pod) bool {
	return !slices.ContainsFunc(pods, func(p lifecycle.Pod) bool {
		s := p.Newest()
		return s == nil || !s.HasMeasured()
	})
}

// hasMeasurement reports whether a pod has started its measured window.
func hasMeasurement(snapshots []*results.Snapshot) bool {
	return slices.ContainsFunc(snapshots, func(s *results.Snapshot) bool { return s != nil && !s.Window.Start.IsZero() })
}

func setPassed(run *v1alpha1.EtcdBenchmark, summary *results.Summary, finish lifecycle.Problem, now time.Time) {
	objectives, passed := verdict.Judge(run, summary, finish.Reason)
	run.Status.Objectives = objectives
	if passed != nil {
		setCondition(run, v1alpha1.ConditionPassed, passed.Status, passed.Reason, passed.Message, now)
	}
}

// The API server takes requests of at most 1.5 MB, and a run may have 1,000 pods.
const (
	// mostLastResults bounds what is kept for a restart of the operator, to 600 KB.
	mostLastResults = 200
	// mostMessages bounds the messages of all pods together, in bytes.
	mostMessages = 256_000
)

func podStatuses(run *v1alpha1.EtcdBenchmark, pods []lifecycle.Pod, final bool) []v1alpha1.PodStatus {
	before := map[int32]v1alpha1.PodStatus{}
	for _, p := range run.Status.Pods {
		before[p.Index] = p
	}
	kept := map[int]bool{}
	if !final {
		kept = mayBeLost(pods)
	}
	message := min(v1alpha1.MaxPodMessageLength, mostMessages/max(1, len(pods)))
	var out []v1alpha1.PodStatus
	for _, p := range pods {
		if p.State == lifecycle.PodMissing {
			continue
		}
		old := before[int32(p.Index)]
		status := podStatus(old, p, final)
		status.Message = text.Shorten(status.Message, message)
		if kept[p.Index] {
			status.LastResult, status.Source = lastResult(old, status, p), p.Source
		}
		out = append(out, status)
	}
	return out
}

// mayBeLost are the pods with results that a restarted operator may not find again, by index: those without an object
// before those that do not answer, and these before those that have ended, whose objects may be deleted.
func mayBeLost(pods []lifecycle.Pod) map[int]bool {
	unreachable := slices.DeleteFunc(slices.Clone(pods), func(p lifecycle.Pod) bool { return !p.IsUnreachable() || p.Newest() == nil })
	first := map[lifecycle.PodState]int{lifecycle.PodGone: -2, lifecycle.PodRunning: -1}
	slices.SortStableFunc(unreachable, func(a, b lifecycle.Pod) int { return first[a.State] - first[b.State] })
	kept := map[int]bool{}
	for _, p := range unreachable[:min(len(unreachable), mostLastResults)] {
		kept[p.Index] = true
	}
	return kept
}

func podStatus(before v1alpha1.PodStatus, p lifecycle.Pod, final bool) v1alpha1.PodStatus {
	if before.Name != p.Name {
		before = v1alpha1.PodStatus{}
	}
	out := before
	if s := p.Newest(); s != nil {
		out = benchmark.Pod(s)
	}
	if out.ClockOffsetMicroseconds = before.ClockOffsetMicroseconds; p.ClockOffset != nil {
		out.ClockOffsetMicroseconds = new(p.ClockOffset.Microseconds())
	}
	out.Index, out.Name, out.Node = int32(p.Index), p.Name, cmp.Or(p.Node, before.Node)
	out.LastResult, out.Source = "", ""
	if !final && isSilent(p) {
		out.Message = cmp.Or(out.Message, notScraped+p.WhyUnreachable)
	}
	if final {
		out.Source = cmp.Or(p.Source, v1alpha1.SourceNone)
		out.Partial = p.Final == nil && !p.HasWholeResult()
		out.Message = cmp.Or(out.Message, whyPartial(p))
	}
	return out
}

// notScraped begins the message of a pod that cannot be scraped.
const notScraped = "The operator cannot read this pod's metrics: "

// lastResult encodes the pod's result again only if it has changed, because encoding takes some milliseconds.
func lastResult(before, now v1alpha1.PodStatus, p lifecycle.Pod) string {
	newest := p.Newest()
	same := before.Stage == now.Stage && before.MeasuredRequests == now.MeasuredRequests && before.Message == now.Message
	switch {
	case before.Name == now.Name && before.LastResult != "" && (same || newest == nil):
		return before.LastResult
	case newest == nil:
		return ""
	}
	return string(wire.TerminationMessage(newest))
}

func whyPartial(p lifecycle.Pod) string {
	switch {
	case p.Final != nil, p.HasWholeResult():
		return ""
	case p.Stuck != nil:
		return p.Stuck.Message
	case p.Exit != "":
		return "The pod " + p.Exit + "."
	}
	return "The pod did not report its final result."
}
