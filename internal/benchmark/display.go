package benchmark

import (
	"fmt"
	"slices"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// Display returns the short strings for kubectl get that follow from the rest
// of b's status: from its summary, before there is one from its progress. It
// returns nil while there is nothing to show.
func Display(b *v1alpha1.EtcdBenchmark) *v1alpha1.Display {
	switch s := &b.Status; {
	case s.Summary != nil:
		return &v1alpha1.Display{
			Throughput: rateIn(s.Summary.ThroughputPerSecond, s.Summary.ThroughputPerMillionSeconds).String(),
			P99:        worstP99(s.Summary.Operations),
			Errors:     results.Grouped(s.Summary.FailedRequests),
			Pods:       podsOf(reportedPods(s.Pods), b),
		}
	case s.Progress != nil && s.Progress.Requests > 0:
		return &v1alpha1.Display{
			Throughput: rateIn(s.Progress.ThroughputPerSecond, s.Progress.ThroughputPerMillionSeconds).String(),
			P99:        progressP99(s.Progress),
			Errors:     results.Grouped(s.Progress.FailedRequests),
			Pods:       podsOf(s.Progress.ReadyPods, b),
		}
	case s.Progress != nil:
		return &v1alpha1.Display{Pods: podsOf(s.Progress.ReadyPods, b)}
	}
	return nil
}

// progressP99 is empty where nothing has succeeded yet: no latency is 0.
func progressP99(p *v1alpha1.Progress) string {
	if p.P99Microseconds == 0 {
		return ""
	}
	return orMore(Micros(p.P99Microseconds), p.AtLeast, v1alpha1.StatisticP99)
}

func podsOf(n int32, b *v1alpha1.EtcdBenchmark) string {
	return fmt.Sprintf("%d/%d", n, b.Resolved().Load.Pods)
}

// reportedPods counts the pods whose final result is known, by whichever road.
func reportedPods(pods []v1alpha1.PodStatus) int32 {
	n := int32(0)
	for _, p := range pods {
		if p.Stage == string(results.StageDone) && !p.Partial {
			n++
		}
	}
	return n
}

// worstP99 is that of the slowest kind of request.
func worstP99(operations []v1alpha1.OperationSummary) string {
	op := slowest(operations)
	if op == nil {
		return ""
	}
	return statistic(op.Latency, v1alpha1.StatisticP99)
}

// statistic writes one number of l, with "≥" before it where requests that
// were cut off keep it from being more than a lower bound. Without an error
// bound there are no percentiles.
func statistic(l *v1alpha1.LatencySummary, s v1alpha1.LatencyStatistic) string {
	if l.ErrorBoundPartsPerMillion == 0 && s != v1alpha1.StatisticMean && s != v1alpha1.StatisticMax {
		return unknown
	}
	return orMore(Micros(microseconds(l, s)), l.AtLeast, s)
}

// orMore marks the text of a statistic that is one of the lower bounds.
func orMore(text string, atLeast []v1alpha1.LatencyStatistic, s v1alpha1.LatencyStatistic) string {
	if slices.Contains(atLeast, s) {
		return "≥" + text
	}
	return text
}

func microseconds(l *v1alpha1.LatencySummary, s v1alpha1.LatencyStatistic) int64 {
	return map[v1alpha1.LatencyStatistic]int64{
		v1alpha1.StatisticMean: l.MeanMicroseconds,
		v1alpha1.StatisticP50:  l.P50Microseconds,
		v1alpha1.StatisticP90:  l.P90Microseconds,
		v1alpha1.StatisticP95:  l.P95Microseconds,
		v1alpha1.StatisticP99:  l.P99Microseconds,
		v1alpha1.StatisticP999: l.P999Microseconds,
		v1alpha1.StatisticMax:  l.MaxMicroseconds,
	}[s]
}
