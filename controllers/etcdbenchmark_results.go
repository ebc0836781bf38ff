package controllers

import (
	"github.com/etcdbench/etcd-benchmark-operator/internal/results/wire"

	"cmp"
	"slices"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/benchmark"
	"github.com/etcdbench/etcd-benchmark-operator/internal/lifecycle"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
	"github.com/etcdbench/etcd-benchmark-operator/internal/text"
	"github.com/etcdbench/etcd-benchmark-operator/internal/verdict"
)

// keepResults brings what the pods have told into status. What a new operator
// has not yet scraped again stays as it is.
func keepResults(run *v1alpha1.EtcdBenchmark, o lifecycle.Observed, finish *lifecycle.Problem, now time.Time) {
	final := finish != nil
	s := &run.Status
	snapshots := snapshotsOf(o.Pods)
	if t := targetOf(snapshots); t != nil && s.Target != nil {
		nodes := s.Target.Nodes
		s.Target = benchmark.TargetStatus(run, s.Target.Endpoints, t)
		s.Target.Nodes = nodes
	}
	s.Pods = podStatuses(run, o.Pods, final)
	if s.Guard == nil && endsByGuard(s, finish) {
		s.Guard = benchmark.Guard(run, snapshots)
	}
	if hasAny(snapshots) {
		s.Progress = benchmark.Progress(run, snapshots)
	}
	var summary *results.Summary
	if hasMeasurement(snapshots) && (final || haveMeasured(o.Pods)) {
		summary = new(results.Summarize(snapshots))
		newer := benchmark.Summary(run, *summary)
		if s.Summary = fuller(s.Summary, newer); s.Summary != newer {
			// Nothing may be judged by less than status shows.
			summary = nil
		}
	}
	if !final {
		return
	}
	if s.Summary == nil {
		s.RequestCounts = benchmark.RequestCounts(results.Merge(snapshots).Requests)
	} else {
		s.Summary.Partial = s.Summary.Partial || finish.Reason != v1alpha1.ReasonCompleted
	}
	setPassed(run, summary, *finish, now)
}

// toldBefore is a warning.
const toldBefore = "A client pod that was lost had told more to an operator that is gone: the summary is what was known then, and the report, if there is one, lacks the rest."

// fuller is the newer summary, unless it has lost requests that the old one had.
func fuller(old, newer *v1alpha1.Summary) *v1alpha1.Summary {
	if old == nil || old.MeasuredRequests <= newer.MeasuredRequests {
		return newer
	}
	old.Partial = true
	if !slices.Contains(old.Warnings, toldBefore) {
		old.Warnings = verdict.AppendWarning(old.Warnings, toldBefore)
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

func targetOf(snapshots []*results.Snapshot) *results.Target {
	for _, s := range snapshots {
		if s != nil && s.Target != nil {
			return s.Target
		}
	}
	return nil
}

func hasAny(snapshots []*results.Snapshot) bool {
	return slices.ContainsFunc(snapshots, func(s *results.Snapshot) bool { return s != nil })
}

// haveMeasured: what is left of the run, the deletion of its keys, changes no
// measured number, so the summary need not wait for it.
func haveMeasured(pods []lifecycle.Pod) bool {
	return !slices.ContainsFunc(pods, func(p lifecycle.Pod) bool {
		s := p.Newest()
		return s == nil || !s.HasMeasured()
	})
}

// hasMeasurement says whether a pod has begun to measure.
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

func podStatuses(run *v1alpha1.EtcdBenchmark, pods []lifecycle.Pod, final bool) []v1alpha1.PodStatus {
	before := map[int32]v1alpha1.PodStatus{}
	for _, p := range run.Status.Pods {
		before[p.Index] = p
	}
	var out []v1alpha1.PodStatus
	for _, p := range pods {
		if p.State != lifecycle.PodMissing {
			out = append(out, podStatus(before[int32(p.Index)], p, final))
		}
	}
	return out
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
	out.LastResult, out.Road = "", ""
	if !final && p.CanNotBeAsked() {
		out.LastResult, out.Road = lastResult(before, out, p), p.Road
	}
	if final {
		out.Road = cmp.Or(p.Road, v1alpha1.RoadNone)
		out.Partial = p.Final == nil && !p.HasWholeResult()
		out.Message = cmp.Or(out.Message, whyPartial(p))
	}
	out.Message = text.Shorten(out.Message, v1alpha1.MaxPodMessageLength)
	return out
}

// lastResult packs what a pod has told anew only if that has changed, for that
// takes some milliseconds.
func lastResult(before, now v1alpha1.PodStatus, p lifecycle.Pod) string {
	told := p.Newest()
	same := before.Stage == now.Stage && before.MeasuredRequests == now.MeasuredRequests && before.Message == now.Message
	switch {
	case before.Name == now.Name && before.LastResult != "" && (same || told == nil):
		return before.LastResult
	case told == nil:
		return ""
	}
	return string(wire.TerminationMessage(told))
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
