package verdict

import (
	"fmt"
	"slices"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
	"github.com/etcdbench/etcd-benchmark-operator/internal/text"
)

// MissedAlready returns why a run that goes on can no longer meet an objective on a percentile; empty if it can. More requests
// have been too slow than may be in the whole run, whose number of requests must be known.
func MissedAlready(b *v1alpha1.EtcdBenchmark, snapshots []*results.Snapshot) string {
	run := b.Resolved()
	most, known := mostRequests(run.Load)
	for _, o := range run.Objectives {
		if !known || o.Latency == nil || !slices.Contains(results.Percentiles, o.Latency.Statistic) || o.Latency.Operation.IsEvent() || o.Latency.Operation.IsPart() {
			continue
		}
		allowed := results.Beyond(o.Latency.Statistic, most)
		slow := slower(snapshots, *o.Latency)
		if slow <= allowed || !isMissedNow(b, o.Name, snapshots) {
			continue
		}
		return fmt.Sprintf("The objective %s cannot be met any more: %s failed or took longer than %s, and at most %s may.",
			o.Name, text.Plural(int64(slow), string(o.Latency.Operation)+" request"), text.Exact(time.Duration(o.Latency.MaxMicroseconds)*time.Microsecond), text.Grouped(int64(allowed)))
	}
	return ""
}

// slower counts requests that failed, or surely took longer than the limit.
func slower(snapshots []*results.Snapshot, o v1alpha1.LatencyObjective) (n uint64) {
	for _, s := range snapshots {
		if s == nil || s.Operations[o.Operation] == nil {
			continue
		}
		r := s.Operations[o.Operation]
		over, _ := r.Latency.Over(time.Duration(o.MaxMicroseconds) * time.Microsecond)
		n += over + r.Failed.Count()
	}
	return n
}

// isMissedNow reports whether the objective is missed whatever the rest of the run does: what the client pods have so far
// is a part of the result.
func isMissedNow(b *v1alpha1.EtcdBenchmark, objective string, snapshots []*results.Snapshot) bool {
	summary := results.Summarize(snapshots)
	all, _ := Judge(b, &summary, v1alpha1.ReasonMissedEarly)
	return slices.ContainsFunc(all, func(o v1alpha1.ObjectiveStatus) bool {
		return o.Name == objective && o.Result == v1alpha1.ObjectiveMissed
	})
}
