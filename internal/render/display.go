package render

import (
	"fmt"
	"path"
	"strconv"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/benchmark"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
	"github.com/etcdbench/etcd-benchmark-operator/internal/text"
)

// Display returns the short strings for kubectl get. They come from the summary of b, or from its progress if b has no
// summary yet.
func Display(b *v1alpha1.EtcdBenchmark) *v1alpha1.Display {
	load := b.Resolved().Load
	d := &v1alpha1.Display{
		Target:  targetText(b.Spec.Target),
		Load:    fmt.Sprintf("%s×%s", text.Grouped(load.Connections), text.Grouped(load.Clients)),
		Rate:    shortRate(load),
		Members: membersCount(b),
	}
	switch s := &b.Status; {
	case s.Summary != nil:
		d.Throughput = text.RateIn(s.Summary.ThroughputPerSecond).String()
		if op := benchmark.Slowest(s.Summary.Operations); op != nil {
			d.P50, d.P99 = Statistic(op.Latency, spec.StatisticP50), Statistic(op.Latency, spec.StatisticP99)
		}
		d.Errors = text.Grouped(s.Summary.FailedRequests)
		d.Pods = podsOf(reportedPods(s.Pods), load)
	case s.Progress != nil && s.Progress.Requests > 0:
		p := s.Progress
		d.Throughput = text.RateIn(p.ThroughputPerSecond).String()
		if p.SilentPods > 0 {
			d.Throughput = fmt.Sprintf("%s of %s pods", d.Throughput, podsOf(p.ReadyPods-p.SilentPods, load))
		}
		d.P50, d.P99 = progressed(p, spec.StatisticP50, p.P50Microseconds), progressed(p, spec.StatisticP99, p.P99Microseconds)
		d.Errors = text.Grouped(p.FailedRequests)
		d.Pods = podsOf(p.ReadyPods-p.SilentPods, load)
	case s.Progress != nil:
		d.Pods = podsOf(s.Progress.ReadyPods-s.Progress.SilentPods, load)
	}
	return d
}

// targetText names the target.
func targetText(t v1alpha1.Target) string {
	switch {
	case t.Service != nil:
		return "service " + t.Service.Name
	case t.Pods != nil:
		return "pods"
	case t.Ephemeral != nil:
		return fmt.Sprintf("%d × %s", t.Ephemeral.Replicas, path.Base(t.Ephemeral.Image))
	case t.Disk != nil && t.Disk.Storage != nil && t.Disk.Storage.VolumeClaim != nil:
		return "disk of a claim"
	case t.Disk != nil:
		return "disk of the node"
	case len(t.Endpoints) == 1:
		return t.Endpoints[0]
	case len(t.Endpoints) > 1:
		return fmt.Sprintf("%s and %d more", t.Endpoints[0], len(t.Endpoints)-1)
	}
	return ""
}

// shortRate is the highest scheduled rate.
func shortRate(l spec.Load) string {
	if l.Rate == nil {
		return "closed loop"
	}
	highest := l.Rate.PerSecond
	for _, s := range l.Stages() {
		highest = max(highest, s.From, s.To)
	}
	return text.PerSecond(highest)
}

// membersCount is empty until the members are known.
func membersCount(b *v1alpha1.EtcdBenchmark) string {
	t := b.Status.Target
	if t == nil || len(t.Members) == 0 {
		return ""
	}
	if !sentLoad(b) {
		return strconv.Itoa(len(t.Members))
	}
	return fmt.Sprintf("%d (%s)", len(t.Members), loadedText(b))
}

// progressed is empty before the first success, because its latency is unknown.
func progressed(p *v1alpha1.Progress, s spec.Statistic, micros int64) string {
	if micros == 0 {
		return ""
	}
	return orMore(text.Micros(micros), p.AtLeast, s)
}

func podsOf(n int32, l spec.Load) string { return fmt.Sprintf("%d/%d", n, l.Pods) }

// reportedPods counts the pods whose final result is known.
func reportedPods(pods []v1alpha1.PodStatus) int32 {
	n := int32(0)
	for _, p := range pods {
		if p.Stage == string(results.StageDone) && !p.Partial {
			n++
		}
	}
	return n
}
