package verdict

import (
	"fmt"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

const (
	// minSent is how many of 1,000 arrivals with a free client an open loop must send for the target to have received its
	// load.
	minSent = 995
	// maxBunched is how many of 100 requests may leave in bursts, which the target would not have received from a
	// punctual client.
	maxBunched = 1
)

// bounds says what a limited client leaves of a verdict: whether a met objective would also be met with a faster
// client, and whether a missed one would also be missed.
type bounds struct{ met, missed bool }

// boundsOf is the rule of docs/verdict.md for objectives of a run whose load generator was a limit.
func boundsOf(o v1alpha1.Objective, b *v1alpha1.EtcdBenchmark, s results.Summary, clients *v1alpha1.Validity) bounds {
	delivered := b.Resolved().Load.Rate != nil && wasDelivered(s)
	switch {
	case o.Latency != nil && o.Latency.Statistic == spec.StatisticStddev:
		return boundsOfStddev(*o.Latency, s, clients, delivered)
	case o.Latency != nil && b.Resolved().Load.Rate != nil:
		return bounds{met: delivered, missed: delivered && isMissedWithoutLateness(*o.Latency, s, clients)}
	case o.Latency != nil:
		// A closed loop sends less while its client is slow, so fast responses are missing among the percentiles. The
		// mean still includes every delay of the client.
		return bounds{met: o.Latency.Statistic == spec.StatisticMean}
	case o.Throughput != nil, o.AchievedRate != nil:
		// A target that does not keep up misses a rate by itself.
		return bounds{met: true, missed: Saturation(b, s, clients) != nil}
	case o.ErrorRatio != nil:
		return bounds{met: delivered, missed: isMissedWithoutTimeouts(*o.ErrorRatio, b, s)}
	case memberLimitOf(o) != nil:
		// A starved client takes processor time from a member beside it; one that is only late does not.
		apart := delivered && (clients.Shared == "" || !isStarved(clients))
		return bounds{met: apart, missed: apart}
	}
	// The start skew does not depend on the load.
	return bounds{met: true, missed: true}
}

// boundsOfStddev compares with the standard deviation that a punctual load generator would have measured: that of the
// net latency. It is known only if lateness is all that the load generator added. Bursts can only make the target slower,
// so a limit that is met in spite of them stays met. Whatever the load generator added, it made no latency smaller, and
// latencies between 0 and a maximum have a standard deviation of at most half of it.
func boundsOfStddev(o v1alpha1.LatencyObjective, s results.Summary, clients *v1alpha1.Validity, delivered bool) bounds {
	op := operationOf(s, o.Operation)
	if op == nil || op.Net.Count == 0 || !delivered {
		return bounds{}
	}
	limit := time.Duration(o.MaxMicroseconds) * time.Microsecond
	if longest, known := op.Latency.Values[spec.StatisticMax]; known && !longest.AtLeast && longest.Duration/2 <= limit {
		return bounds{met: true}
	}
	if isStarved(clients) {
		return bounds{}
	}
	within := op.Net.Stddev <= limit
	return bounds{met: within, missed: !within && !leavesInBursts(s)}
}

// leavesInBursts reports whether so many requests left together that the target may have been slower for that.
func leavesInBursts(s results.Summary) bool {
	return results.IsMore(s.Arrivals.Bunched, s.Started, maxBunched, 100)
}

// wasDelivered reports whether an open loop sent nearly all arrivals for which a client was free.
func wasDelivered(s results.Summary) bool {
	sendable := s.Started + s.Arrivals.Skipped
	return sendable > 0 && !results.IsMore(minSent, 1000, s.Started, sendable)
}

// isMissedWithoutLateness reports whether an objective on the latency would be missed without the client's lateness.
func isMissedWithoutLateness(o v1alpha1.LatencyObjective, s results.Summary, clients *v1alpha1.Validity) bool {
	op := operationOf(s, o.Operation)
	// An event has no service time, and so no net latency.
	if op == nil || op.Net.Count == 0 || isStarved(clients) || leavesInBursts(s) {
		return false
	}
	return judgeTail(o, *op, op.NetJudged).result == v1alpha1.ObjectiveMissed
}

// codeTimeout is the code of requests that the client gave up.
const codeTimeout = "DeadlineExceeded"

func isMissedWithoutTimeouts(o v1alpha1.ErrorRatioObjective, b *v1alpha1.EtcdBenchmark, s results.Summary) bool {
	without := s
	for _, op := range s.Operations {
		if !op.Operation.IsEvent() {
			without.Failed -= min(op.Errors[codeTimeout], without.Failed)
		}
	}
	without.Succeeded += s.Failed - without.Failed
	return judgeErrorRatio(o, b, without).result == v1alpha1.ObjectiveMissed
}

// bounded makes a verdict Unknown if a faster client could have changed it.
func bounded(v verdict, o v1alpha1.Objective, b *v1alpha1.EtcdBenchmark, s results.Summary, clients *v1alpha1.Validity) verdict {
	if clients.Verdict != v1alpha1.ValidityClientBound || v.result == v1alpha1.ObjectiveUnknown {
		return v
	}
	holds := boundsOf(o, b, s, clients)
	if v.result == v1alpha1.ObjectiveMet && holds.met || v.result == v1alpha1.ObjectiveMissed && holds.missed {
		return v
	}
	outcome := map[v1alpha1.ObjectiveResult]string{v1alpha1.ObjectiveMet: "met", v1alpha1.ObjectiveMissed: "missed"}[v.result]
	out := notJudged(v.got, fmt.Sprintf("The measured value has %s the limit, but the load generator was itself a limit (%s). A faster one could have changed that. See status.summary.validity.",
		outcome, causes(clients)))
	out.reason = v1alpha1.ReasonClientBound
	return out
}
