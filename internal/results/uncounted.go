package results

import (
	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
)

// uncountedEvents returns the maximum number of events that unanswered puts may have caused. No other number includes
// them, because it is unknown whether these puts were applied. The acknowledged puts show how many events one put
// causes.
func uncountedEvents(merged *Snapshot) uint64 {
	var unanswered, acknowledged uint64
	for _, operation := range []spec.Operation{spec.OperationPut, spec.OperationOptimisticPut} {
		if r := merged.Operations[operation]; r != nil {
			unanswered += r.Failed.Count() + r.Censored.Count()
			acknowledged += r.Latency.Count() - min(r.Lost, r.Latency.Count())
		}
	}
	if acknowledged == 0 {
		return unanswered
	}
	perPut := (merged.Watch.Expected + acknowledged - 1) / acknowledged
	return unanswered * max(perPut, 1)
}

// rankUncounted adds the distribution in which the uncounted events rank above all others.
func (o *OperationSummary) rankUncounted(uncounted uint64, r *OperationResult) {
	if uncounted == 0 || o.Operation != spec.OperationWatchEvent && o.Operation != spec.OperationWatchDelivery {
		return
	}
	judgedAtWorst := rankTogether(&r.Latency, &r.Censored, r.Failed.Count()+uncounted)
	o.UncountedEvents, o.JudgedAtWorst = uncounted, judgedAtWorst.distribution()
}
