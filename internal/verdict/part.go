package verdict

import (
	"math"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// judgePart judges a latency of a result without the part of a pod. It is missed only if no outcome of the missing
// requests could meet the limit: a maximum that is exceeded stays exceeded, and other statistics are judged as if the
// missing requests had taken no time.
func judgePart(o v1alpha1.LatencyObjective, b *v1alpha1.EtcdBenchmark, s results.Summary, op results.OperationSummary) verdict {
	if o.Statistic == spec.StatisticStddev {
		return notJudged("", partOfPodMissing)
	}
	v := judgeTail(o, op, op.Judged)
	if v.result == v1alpha1.ObjectiveUnknown || v.result == v1alpha1.ObjectiveMissed && o.Statistic == spec.StatisticMax {
		return v
	}
	more, known := missing(b, s)
	if known && !o.Operation.IsEvent() && judgeTail(o, op, s.Merged.Operations[o.Operation].JudgedAtBest(more)).result == v1alpha1.ObjectiveMissed {
		return v
	}
	return notJudged(v.got, partOfPodMissing+" Its requests could change whether the limit is met.")
}

// missing is the most requests that a partial result can lack; false if it is not known.
func missing(b *v1alpha1.EtcdBenchmark, s results.Summary) (n uint64, known bool) {
	most, known := mostRequests(b.Resolved().Load)
	for _, op := range s.Operations {
		// The second half of a request is counted with it.
		if !op.Operation.IsEvent() && !op.Operation.IsPart() {
			most -= min(op.Succeeded+op.Failed+op.Censored, most)
		}
	}
	return most, known
}

// mostRequests is at least the number of requests of a whole run; false if that is not known, as in a closed loop with a
// duration. With random arrivals, the number exceeds six standard deviations in one run of a billion.
func mostRequests(l spec.Load) (n uint64, known bool) {
	const deviations, rounding = 6, 10
	switch {
	case l.Requests != nil:
		return uint64(*l.Requests), true
	case l.Rate == nil:
		return 0, false
	}
	expected := float64(l.Rate.PerSecond) * l.Duration().Seconds()
	for _, s := range l.Stages() {
		expected += float64(s.From+s.To) / 2 * float64(s.Seconds)
	}
	return uint64(expected + deviations*math.Sqrt(expected) + rounding), true
}
