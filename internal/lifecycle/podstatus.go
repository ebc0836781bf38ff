package lifecycle

import (
	"cmp"
	"slices"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/benchmark"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results/wire"
	"github.com/etcdbench/etcd-benchmark-operator/internal/text"
)

// The API server takes requests of at most 1.5 MB, and a run may have 1,000 pods.
const (
	// mostLastResults bounds what is kept for a restart of the operator, to 600 KB.
	mostLastResults = 200
	// mostMessages bounds the messages of all pods together, in bytes.
	mostMessages = 256_000
)

func podStatuses(run *v1alpha1.EtcdBenchmark, pods []Pod, final bool) []v1alpha1.PodStatus {
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
		if p.State == PodMissing {
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
// before those that do not answer, and these before those that have ended, whose objects may be deleted. A run without a
// cluster has none.
func mayBeLost(pods []Pod) map[int]bool {
	unreachable := slices.DeleteFunc(slices.Clone(pods), func(p Pod) bool { return p.Name == "" || !p.IsUnreachable() || p.Newest() == nil })
	first := map[PodState]int{PodGone: -2, PodRunning: -1}
	slices.SortStableFunc(unreachable, func(a, b Pod) int { return first[a.State] - first[b.State] })
	kept := map[int]bool{}
	for _, p := range unreachable[:min(len(unreachable), mostLastResults)] {
		kept[p.Index] = true
	}
	return kept
}

// isSilent reports whether a pod runs and cannot be scraped.
func isSilent(p Pod) bool { return p.State == PodRunning && p.Unreachable }

func podStatus(before v1alpha1.PodStatus, p Pod, final bool) v1alpha1.PodStatus {
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
		out.Message = cmp.Or(out.Message, NotScraped+p.WhyUnreachable)
	}
	if final {
		if p.Name != "" {
			out.Source = cmp.Or(p.Source, v1alpha1.SourceNone)
		}
		out.Partial = p.Final == nil && !p.HasWholeResult()
		out.Message = cmp.Or(out.Message, whyPartial(p))
	}
	return out
}

// NotScraped begins the message of a pod that cannot be scraped.
const NotScraped = "The operator cannot read this pod's metrics: "

// lastResult encodes the pod's result again only if it has changed, because encoding takes some milliseconds.
func lastResult(before, now v1alpha1.PodStatus, p Pod) string {
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

func whyPartial(p Pod) string {
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
