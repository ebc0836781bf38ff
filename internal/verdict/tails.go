package verdict

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
	"github.com/etcdbench/etcd-benchmark-operator/internal/text"
)

// judgeTail judges a percentile with few requests above it by what is certain. It is missed if a lower percentile misses.
// It is met if all requests are within the limit and there are so many that the true percentile is within it, too. The value
// of such a percentile is unreliable, so the verdict has the bound that decides.
func judgeTail(o v1alpha1.LatencyObjective, op results.OperationSummary, ranked results.Distribution) verdict {
	v := judgeRanked(o, op, ranked)
	if !ranked.IsThin(o.Statistic) || v.result == v1alpha1.ObjectiveUnknown {
		return v
	}
	at := func(s spec.Statistic) verdict {
		other := o
		other.Statistic = s
		return judgeRanked(other, op, ranked)
	}
	quantile := results.QuantileOf(o.Statistic)
	for _, lower := range slices.Backward(results.Percentiles) {
		if results.QuantileOf(lower) < quantile && !ranked.IsThin(lower) && at(lower).result == v1alpha1.ObjectiveMissed {
			return bound(v, "≥", at(lower).got)
		}
	}
	enough, slowest := uint64(math.Ceil(math.Log(tailRisk)/math.Log(quantile))), at(spec.StatisticMax)
	if ranked.Count >= enough && slowest.result == v1alpha1.ObjectiveMet {
		return bound(v, "≤", slowest.got)
	}
	out := notJudged("", fmt.Sprintf("A %s needs at least %d requests above it, and %s are too few. %s are enough only if all are within %s; the slowest: %s. "+
		"Measure for longer. Or set the limit for a lower percentile, or for the maximum.", o.Statistic, results.MinBeyond,
		text.Plural(ranked.Count, string(op.Operation)+" request"), text.Grouped(enough), text.Exact(time.Duration(o.MaxMicroseconds)*time.Microsecond), cmp.Or(slowest.got, "not known")))
	out.reason = v1alpha1.ReasonTailTooThin
	return out
}

// bound replaces the value of a verdict by a bound of it.
func bound(v verdict, sign, got string) verdict {
	if v.got = got; got != failedRequest && !strings.HasPrefix(got, "≥") {
		v.got = sign + got
	}
	return v
}

// tailRisk is the probability that all of the required requests are within a limit although the true percentile is not.
const tailRisk = 0.05

// judgeStddev: the latency of a failed or unanswered request, and so its distance from the mean, is unknown.
func judgeStddev(o v1alpha1.LatencyObjective, op results.OperationSummary) verdict {
	limit := time.Duration(o.MaxMicroseconds) * time.Microsecond
	got := text.Beside(limit, op.Latency.Stddev)
	switch {
	case op.Succeeded == 0:
		return notJudged("", fmt.Sprintf("No %s request succeeded.", o.Operation))
	case op.Failed+op.Censored > 0:
		return notJudged(got, fmt.Sprintf("%s failed or were unanswered; their latency is unknown.", text.Plural(op.Failed+op.Censored, "request")))
	case op.UncountedEvents > 0:
		return notJudged(got, leftOut(op))
	case op.Latency.Stddev > limit:
		return missed(got, "")
	default:
		return met(got)
	}
}
