package results

import (
	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
)

// unheardEvents returns how many events may have followed from the puts that got
// no answer: nobody expects these, for nobody knows whether they were made, and
// so they are in no other number. The puts that were acknowledged say how many
// events one has.
func unheardEvents(merged *Snapshot) uint64 {
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

// fear ranks events of which nobody has heard above all that came, too.
func (o *OperationSummary) fear(unheard uint64, r *OperationResult) {
	if unheard == 0 || o.Operation != spec.OperationWatchEvent && o.Operation != spec.OperationWatchDelivery {
		return
	}
	feared := rankTogether(&r.Latency, &r.Censored, r.Failed.Count()+unheard)
	o.Unheard, o.Feared = unheard, feared.distribution()
}
