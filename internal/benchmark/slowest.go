package benchmark

import (
	"cmp"
	"slices"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
)

// Slowest returns the kind of request with the highest 99th percentile of latency, and of several the one with the
// highest maximum. Outputs with room for one latency show this one, so that the slow half of a mixed workload is not
// hidden. Events do not count. It is nil if nothing has a latency.
func Slowest(operations []v1alpha1.OperationSummary) *v1alpha1.OperationSummary {
	var found *v1alpha1.OperationSummary
	for i := range operations {
		op := &operations[i]
		if op.Latency == nil || op.Operation.IsEvent() {
			continue
		}
		if found == nil || compareTails(op.Latency, found.Latency) > 0 {
			found = op
		}
	}
	return found
}

func compareTails(a, b *v1alpha1.LatencySummary) int {
	return cmp.Or(cmp.Compare(a.P99Microseconds, b.P99Microseconds), cmp.Compare(a.MaxMicroseconds, b.MaxMicroseconds))
}

// progressStatistics are the statistics of a latency that progress has.
var progressStatistics = []spec.Statistic{
	spec.StatisticP50, spec.StatisticP90, spec.StatisticP99, spec.StatisticP999, spec.StatisticMax,
}

// LatencyOf returns the latency of a finished run in the form of progress.
func LatencyOf(s *v1alpha1.Summary) *v1alpha1.Progress {
	p := &v1alpha1.Progress{}
	setLatency(p, s.Operations)
	return p
}

// setLatency sets the latency of progress to that of the slowest kind of request.
func setLatency(p *v1alpha1.Progress, operations []v1alpha1.OperationSummary) {
	op := Slowest(operations)
	if op == nil {
		return
	}
	l := op.Latency
	p.Operation = op.Operation
	p.P50Microseconds, p.P90Microseconds, p.P99Microseconds = l.P50Microseconds, l.P90Microseconds, l.P99Microseconds
	p.P999Microseconds, p.MaxMicroseconds = l.P999Microseconds, l.MaxMicroseconds
	for _, s := range l.AtLeast {
		if slices.Contains(progressStatistics, s) {
			p.AtLeast = append(p.AtLeast, s)
		}
	}
}
