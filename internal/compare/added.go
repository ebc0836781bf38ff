package compare

import (
	"fmt"
	"math"
	"slices"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
)

// maxAdded is the greatest share of the mean latency, in parts per million, that the load generator may have added. Beyond
// it, most of what was measured may be the load generator.
const maxAdded = 500_000

// Added is what the load generators of the two sides may have added to the latencies: the greatest share of a run of each.
type Added struct {
	baseline, candidate int64
	// bound: the load generator of some run was a limit.
	bound bool
}

// AddedOf is what the load generators of the valid runs of two sides may have added. It is nothing if none was a limit: what
// is harmless for an objective is harmless here. If one was, the shares of all runs count, so that a run just below the
// limit is not unlike one just above it.
func AddedOf(baseline, candidate []v1alpha1.Environment) (a Added) {
	isBound := func(e v1alpha1.Environment) bool { return e.ClientBound }
	if !slices.ContainsFunc(baseline, isBound) && !slices.ContainsFunc(candidate, isBound) {
		return a
	}
	return Added{baseline: greatest(baseline), candidate: greatest(candidate), bound: true}
}

func greatest(side []v1alpha1.Environment) (added int64) {
	for _, e := range side {
		added = max(added, e.AddedPerMillion)
	}
	return added
}

// whyClientBound is why a run cannot be compared because of its load generator; empty if it can. One that was a limit only
// because it waited for processors has added at most a known share of the mean latency.
func whyClientBound(v *v1alpha1.Validity) string {
	switch {
	case v == nil || v.Verdict != v1alpha1.ValidityClientBound:
		return ""
	case v.AddedPerMillion == nil:
		return "its load generator was a limit (ClientBound), and how much of the latency it added is not known"
	case *v.AddedPerMillion > maxAdded:
		return fmt.Sprintf("its load generator was a limit (ClientBound), and may have added up to %s of the latency", ShareText(*v.AddedPerMillion))
	}
	return ""
}

// differ reports whether the load generator may have added so much more on one side that this alone is beyond a tolerance.
func (a Added) differ(tolerancePercent int32) bool {
	return max(a.baseline-a.candidate, a.candidate-a.baseline) > 10_000*int64(tolerancePercent)
}

// isUnlike reports whether the load generators alone may make two sides look different by more than the tolerance.
func (c comparing) isUnlike() bool {
	return c.added.differ(c.metric.WithTolerance().TolerancePercent)
}

// hiddenByClients is the reason why nothing can be said about two sides because of their load generators; empty if something can.
func (c comparing) hiddenByClients() v1alpha1.ComparisonReason {
	if _, known := c.hiding(); c.isUnlike() && !known {
		return v1alpha1.ReasonComparedClientBound
	}
	return ""
}

// beyond is the limit that a change must exceed to be a regression. If the load generators may explain a difference, the change
// must exceed the tolerance also without all that the candidate's may have added.
func (c comparing) beyond() float64 {
	if !c.isUnlike() {
		return c.limit()
	}
	return c.limit() - math.Log1p(-float64(c.added.candidate)/1e6)
}

// hiding returns the greatest share of a change that both load generators can hide; false if it is not known.
func (c comparing) hiding() (share float64, known bool) {
	most := max(c.added.baseline, c.added.candidate)
	return float64(most) / 1e6, most <= maxAdded && (!c.added.bound || IsMean(c.metric))
}

// IsMean reports whether the share of the mean latency that the load generator has added is also that of a metric. The
// throughput of a closed loop is the number of clients ÷ the mean latency.
func IsMean(m v1alpha1.Metric) bool {
	return m.Type == v1alpha1.MetricThroughput || m.Statistic == spec.StatisticMean && !m.Operation.IsEvent() && !m.Operation.IsPart()
}

// harmless is the greatest change that may be seen if the true one is within the limit: a part of the latency did not change
// with the target. It holds for throughput, too, because limits are log ratios of which the worse are greater.
func (c comparing) harmless() (limit float64, known bool) {
	share, known := c.hiding()
	if share == 0 {
		return c.limit(), known
	}
	return math.Log1p(math.Expm1(c.limit()) * (1 - share)), known
}

// isWithin reports whether no part of the interval is worse than the tolerance, whatever the load generators have hidden.
func (c comparing) isWithin() bool {
	limit, known := c.harmless()
	return known && c.change.isWithin(c.side, limit)
}

// isImproved reports whether the whole interval is better than no change, also if the load generator has added to the
// baseline all that it can, and to the candidate no larger part of what it can.
func (c comparing) isImproved() bool {
	own := math.Log1p(-float64(c.added.baseline)/1e6) - math.Log1p(-float64(c.added.candidate)/1e6)
	return c.change.worst(c.side) < min(0, own)
}

// UsualStatistics are those of which a comparison judges the first that all runs have. Of a run whose load generator was a
// limit, nothing bounds what it added to a percentile.
func UsualStatistics(all []v1alpha1.Environment) []spec.Statistic {
	if slices.ContainsFunc(all, func(e v1alpha1.Environment) bool { return e.ClientBound }) {
		return []spec.Statistic{spec.StatisticMean}
	}
	return []spec.Statistic{spec.StatisticP99, spec.StatisticP90, spec.StatisticP50}
}

// whatWasAdded says how much of the latency the load generator may have added, and what follows; empty for none.
func whatWasAdded(c v1alpha1.Comparison) string {
	a, out := Added{baseline: c.BaselineAddedPerMillion, candidate: c.CandidateAddedPerMillion}, ""
	most := max(a.baseline, a.candidate)
	if most > 0 {
		out = fmt.Sprintf("The load generator may have added up to %s of the mean latency of the baseline, and up to %s of that of the candidate. ",
			ShareText(a.baseline), ShareText(a.candidate))
	}
	switch {
	case c.Reason == v1alpha1.ReasonComparedClientBound && a.differ(c.Metric.WithTolerance().TolerancePercent):
		return out + "The shares differ by more than the tolerance, so a change may be that of the load generator."
	case c.Reason == v1alpha1.ReasonComparedClientBound && most > maxAdded:
		return out + "With more than half, it may have hidden a change."
	case c.Reason == v1alpha1.ReasonComparedClientBound && !IsMean(c.Metric):
		return out + "It may have added more to this statistic, and so have hidden a change: compare the mean of the latency."
	case c.Reason == v1alpha1.ReasonComparedClientBound:
		return out + "It may have hidden a change beyond the tolerance."
	case c.Verdict == v1alpha1.Regressed && a.differ(c.Metric.WithTolerance().TolerancePercent):
		return out + "The change is beyond the tolerance also without all that the candidate's may have added."
	case most > 0 && most <= maxAdded && IsMean(c.Metric) && c.Reason == "":
		return out + fmt.Sprintf("A true change of the latency may be up to %.2f times the one that is shown.", 1e6/float64(1e6-most))
	}
	return out
}

// ShareText is a share of the latency in whole per cent, rounded up.
func ShareText(perMillion int64) string { return fmt.Sprintf("%d %%", (perMillion+9999)/10_000) }
