package verdict

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
	"github.com/etcdbench/etcd-benchmark-operator/internal/text"
)

// Hopeless returns why a run that goes on can no longer meet an objective on a percentile; empty if it can. More requests
// have been too slow than may be in the whole run. This needs a known number of requests, so the run must have a rate.
func Hopeless(b *v1alpha1.EtcdBenchmark, snapshots []*results.Snapshot) string {
	run := b.Resolved()
	most := mostRequests(run.Load)
	if most == 0 {
		return ""
	}
	for _, o := range run.Objectives {
		if o.Latency == nil || !slices.Contains(results.Percentiles, o.Latency.Statistic) || o.Latency.Operation.IsEvent() || o.Latency.Operation.IsPart() {
			continue
		}
		allowed := uint64((1 - results.QuantileOf(o.Latency.Statistic)) * most)
		slow := slower(snapshots, *o.Latency)
		if slow <= allowed || !isMissedNow(b, o.Name, snapshots) {
			continue
		}
		return fmt.Sprintf("The objective %s cannot be met any more: %s failed or took longer than %s, and at most %s may.",
			o.Name, text.Plural(int64(slow), string(o.Latency.Operation)+" request"), text.Exact(time.Duration(o.Latency.MaxMicroseconds)*time.Microsecond), text.Grouped(int64(allowed)))
	}
	return ""
}

// mostRequests is more than the number of requests of a whole run; 0 if that is not known. With random arrivals, the
// number exceeds six standard deviations in one run of a billion.
func mostRequests(l spec.Load) float64 {
	const deviations, rounding = 6, 10
	switch {
	case l.Rate == nil || l.Rate.PerSecond == 0:
		return 0
	case l.Requests != nil:
		return float64(*l.Requests)
	}
	n := float64(l.Rate.PerSecond) * l.Duration().Seconds()
	return n + deviations*math.Sqrt(n) + rounding
}

// slower counts requests that failed, or took longer than the limit by more than the error of a percentile.
func slower(snapshots []*results.Snapshot, o v1alpha1.LatencyObjective) (n uint64) {
	const reserve = 1.02
	limit := time.Duration(reserve * float64(o.MaxMicroseconds) * float64(time.Microsecond))
	for _, s := range snapshots {
		if s == nil || s.Operations[o.Operation] == nil {
			continue
		}
		r := s.Operations[o.Operation]
		over, _ := r.Latency.Over(limit)
		n += over + r.Failed.Count()
	}
	return n
}

// isMissedNow reports whether the objective would be missed if the run ended now. A percentile of few requests is not
// judged, however slow they were.
func isMissedNow(b *v1alpha1.EtcdBenchmark, objective string, snapshots []*results.Snapshot) bool {
	summary := results.Summarize(snapshots)
	all, _ := Judge(b, &summary, v1alpha1.ReasonMissedEarly)
	return slices.ContainsFunc(all, func(o v1alpha1.ObjectiveStatus) bool {
		return o.Name == objective && o.Result == v1alpha1.ObjectiveMissed
	})
}
