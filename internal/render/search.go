package render

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/text"
)

// searchResult adds the answer of each search, and its probes by rate.
func searchResult(p *page, s *v1alpha1.EtcdBenchmarkSuite) {
	for _, c := range s.Status.Capacities {
		p.gap()
		cell := c.Cell + ": "
		if len(s.Status.Capacities) == 1 {
			cell = ""
		}
		p.sentence("", fmt.Sprintf("%s%s. %s", cell, c.State, answer(c)))
		if g, any := probeGrid(s, c.Cell); any {
			p.section(g)
		}
	}
}

// probeGrid has the probes of a cell, from the lowest rate to the highest.
func probeGrid(s *v1alpha1.EtcdBenchmarkSuite, cell string) (g grid, any bool) {
	results := slices.Clone(s.Status.Results)
	results = slices.DeleteFunc(results, func(r v1alpha1.SuiteResult) bool { return r.Cell != cell || r.Probe == nil })
	slices.SortStableFunc(results, func(a, b v1alpha1.SuiteResult) int {
		return cmp.Compare(a.Probe.AskedPerSecond, b.Probe.AskedPerSecond)
	})
	g.left = 2
	g.add("PROBE", "ROLE", "ASKED", "ACHIEVED", "ANSWERED", "P50", "P99", "P99.9", "MAX", "FAILED", "OBJECTIVES")
	for _, r := range results {
		asked, slowest := "–", slowestOf(r)
		latency := func(micros int64) string {
			if micros != 0 && slowest.AtLeast {
				return "≥" + text.Micros(micros)
			}
			return microsOrThin(micros)
		}
		if r.Probe.AskedPerSecond > 0 {
			asked = text.PerSecond(r.Probe.AskedPerSecond)
		}
		failed := int64(0)
		for _, o := range r.Operations {
			failed += o.Failed
		}
		g.add(fmt.Sprint(r.Round), string(r.Probe.Role), asked, text.RateOf(float64(r.Probe.ThroughputMilliPerSecond)/1000).String(),
			text.Grouped(slowest.Succeeded), latency(slowest.P50Microseconds), latency(slowest.P99Microseconds), latency(slowest.P999Microseconds), latency(slowest.MaxMicroseconds),
			text.Grouped(failed), outcome(r))
	}
	return g, len(results) > 0
}

// slowestOf is the kind of request with the highest p99.
func slowestOf(r v1alpha1.SuiteResult) (slowest v1alpha1.SuiteOperation) {
	for _, o := range r.Operations {
		if !o.Operation.IsEvent() && o.P99Microseconds >= slowest.P99Microseconds {
			slowest = o
		}
	}
	return slowest
}

// outcome says what a probe means for the search.
func outcome(r v1alpha1.SuiteResult) string {
	switch {
	case r.Reason != v1alpha1.ReasonCompleted && r.Reason != v1alpha1.ReasonMissedEarly:
		return r.Reason
	case r.Probe.Role == v1alpha1.ProbeCeiling:
		return "–"
	case r.Passed == metav1.ConditionTrue:
		return "Met"
	case r.Passed == metav1.ConditionFalse:
		name, _, _ := strings.Cut(r.Probe.LimitedBy, " ")
		return strings.TrimSuffix("Missed: "+name, ": ")
	}
	return "Unknown"
}

func microsOrThin(micros int64) string {
	if micros == 0 {
		return thin
	}
	return text.Micros(micros)
}

func answer(c v1alpha1.SuiteCapacity) string {
	rate, above := text.PerSecond(c.RatePerSecond), ""
	if c.FirstMissedPerSecond > 0 {
		above = fmt.Sprintf(" %s misses %s.", text.PerSecond(c.FirstMissedPerSecond), c.LimitedBy)
	}
	confirmed := fmt.Sprintf("%s meets all objectives, and %d of %d further runs confirm it.", rate, c.Confirmed, c.Tried)
	known := ""
	if c.RatePerSecond > 0 {
		known = fmt.Sprintf(" The highest rate that met them is %s, without confirmation.", rate)
	}
	switch c.State {
	case v1alpha1.CapacityFound:
		return confirmed + above
	case v1alpha1.CapacityAtLeast:
		return confirmed + " No higher rate was allowed: raise maxPerSecond (--max-rate)."
	case v1alpha1.CapacityBelowMinimum:
		return "No rate that was allowed meets all objectives: lower minPerSecond (--min-rate), or see which objective is missed." + above
	case v1alpha1.CapacityUnstable:
		return "No rate meets all objectives reliably: a rate met them once and missed them later, or a rate missed them below one that met. Use longer probes, or a quieter machine." + above
	case v1alpha1.CapacitySearching:
		return "More probes follow." + known
	}
	return fmt.Sprintf("The search could not decide: %s.", strings.TrimSuffix(c.LimitedBy, ".")) + known
}
