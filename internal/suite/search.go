package suite

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
	"github.com/etcdbench/etcd-benchmark-operator/internal/search"
	"github.com/etcdbench/etcd-benchmark-operator/internal/text"
	"github.com/etcdbench/etcd-benchmark-operator/internal/verdict"
)

// maxProbeSeconds bounds the length of a probe with few requests per second.
const maxProbeSeconds = 300

// probes returns the probes that have run and, of each search that is not over, the next one: first the first probe of
// each cell, then the second of each, and so on. So cells take turns, and a drift of the machine affects all of them.
func probes(s *v1alpha1.EtcdBenchmarkSuite) (plan []Planned) {
	for _, c := range Cells(s) {
		past, _ := probesOf(s, c.Name)
		steps := make([]search.Step, 0, len(past)+1)
		for _, p := range past {
			steps = append(steps, p.Step)
		}
		if step, more, _ := nextProbe(s, c.Name); more {
			steps = append(steps, step)
		}
		for i, step := range steps {
			plan = append(plan, probe(s, c, i+1, step))
		}
	}
	slices.SortStableFunc(plan, func(a, b Planned) int { return cmp.Compare(a.Round, b.Round) })
	return plan
}

func probe(s *v1alpha1.EtcdBenchmarkSuite, c Cell, number int, step search.Step) Planned {
	return Planned{Cell: c, Round: int32(number), Name: fmt.Sprintf("%s-%d-%d", s.Name, c.number, number), Step: step}
}

// probesOf returns the probes of a cell that have run. broken is the last one if it could not do its load.
func probesOf(s *v1alpha1.EtcdBenchmarkSuite, cell string) (past []search.Probe, broken *v1alpha1.SuiteResult) {
	for i, r := range s.Status.Results {
		if r.Cell != cell || r.Probe == nil {
			continue
		}
		if Failed(r) || r.Reason == v1alpha1.ReasonStopped {
			broken = &s.Status.Results[i]
		}
		past = append(past, search.Probe{
			Step:    search.Step{Role: search.Role(r.Probe.Role), PerSecond: r.Probe.AskedPerSecond},
			Verdict: verdictOf(r), Throughput: float64(r.Probe.ThroughputMilliPerSecond) / milli, Limit: r.Probe.LimitedBy,
		})
	}
	return past, broken
}

func verdictOf(r v1alpha1.SuiteResult) search.Verdict {
	switch r.Passed {
	case metav1.ConditionTrue:
		return search.Met
	case metav1.ConditionFalse:
		return search.Missed
	}
	return search.Unknown
}

// nextProbe replays the search of a cell. A probe that could not do its load ends it.
func nextProbe(s *v1alpha1.EtcdBenchmarkSuite, cell string) (search.Step, bool, search.Result) {
	past, broken := probesOf(s, cell)
	if broken != nil {
		why := fmt.Sprintf("a probe ended as %s", broken.Reason)
		if broken.Probe.LimitedBy != "" {
			why += ": " + broken.Probe.LimitedBy
		}
		return search.Step{}, false, search.Result{State: search.Undecided, PerSecond: search.Best(past), Limit: why}
	}
	f := s.Spec.Search
	return search.Next(search.Settings{
		MinPerSecond: f.MinPerSecond, MaxPerSecond: f.MaxPerSecond, Tolerance: float64(f.TolerancePercent) / 100,
		Confirmations: int(f.Confirmations), MaxProbes: int(f.MaxProbes),
	}, past)
}

// capacities returns the answers of all searches, as far as they are known.
func capacities(s *v1alpha1.EtcdBenchmarkSuite) (out []v1alpha1.SuiteCapacity) {
	if s.Spec.Search == nil {
		return nil
	}
	for _, c := range Cells(s) {
		past, _ := probesOf(s, c.Name)
		_, more, r := nextProbe(s, c.Name)
		if more {
			r = search.Result{State: search.State(v1alpha1.CapacitySearching), PerSecond: search.Best(past)}
		}
		length, _ := room(s)
		capacity := v1alpha1.SuiteCapacity{
			Cell: c.Name, State: v1alpha1.CapacityState(r.State), RatePerSecond: r.PerSecond, FirstMissedPerSecond: r.FirstMissed,
			LimitedBy: text.Shorten(r.Limit, length), Confirmed: int32(r.Confirmed), Tried: int32(r.Tried),
		}
		if len(past) > 0 {
			capacity.CeilingMilliPerSecond = int64(math.Round(milli * past[0].Throughput))
		}
		out = append(out, capacity)
	}
	return out
}

// endSearches decides the searches of a suite that has ended before them.
func endSearches(s *v1alpha1.EtcdBenchmarkSuite) {
	for i := range s.Status.Capacities {
		if c := &s.Status.Capacities[i]; c.State == v1alpha1.CapacitySearching {
			c.State, c.LimitedBy = v1alpha1.CapacityUnknown, "the suite ended before the search"
		}
	}
}

// probesLeft is the most that all searches can still need.
func probesLeft(s *v1alpha1.EtcdBenchmarkSuite) (left int) {
	for _, c := range Cells(s) {
		if _, more, _ := nextProbe(s, c.Name); more {
			past, _ := probesOf(s, c.Name)
			left += max(int(s.Spec.Search.MaxProbes)-len(past), 1)
		}
	}
	return left
}

// loadOf is the load of a probe: that of the search, with the rate of the step, and as long as the objectives need.
func loadOf(load spec.Load, f *v1alpha1.SuiteSearch, step search.Step, objectives []v1alpha1.Objective) spec.Load {
	load.Rate = &spec.Rate{PerSecond: step.PerSecond, Arrival: f.Arrival}
	if load.DurationSeconds != nil {
		needed := (requestsFor(objectives) + step.PerSecond - 1) / step.PerSecond
		load.DurationSeconds = new(max(*load.DurationSeconds, int32(min(needed, maxProbeSeconds))))
	}
	return load
}

// requestsFor is how many requests the percentiles of the objectives need, with a reserve because arrivals are random.
func requestsFor(objectives []v1alpha1.Objective) (most int64) {
	const reserve = 1.2
	for _, o := range objectives {
		if o.Latency != nil && slices.Contains(results.Percentiles, o.Latency.Statistic) {
			beyond := 1 - results.QuantileOf(o.Latency.Statistic)
			most = max(most, int64(math.Ceil(reserve*results.MinBeyond/beyond)))
		}
	}
	return most
}

// probeResult is what a suite keeps of a probe; length bounds its text.
func probeResult(p Planned, run *v1alpha1.EtcdBenchmark, length int) *v1alpha1.SuiteProbe {
	out := asked(p)
	if out == nil {
		return nil
	}
	if sum := run.Status.Summary; sum != nil {
		out.ThroughputMilliPerSecond = int64(math.Round(milli * sum.ThroughputPerSecond.Float64()))
	}
	out.LimitedBy = text.Shorten(limitOf(run), length)
	return out
}

// asked is the step of a probe in the words of the API; nil if the run is not a probe.
func asked(p Planned) *v1alpha1.SuiteProbe {
	if p.Step.Role == "" {
		return nil
	}
	return &v1alpha1.SuiteProbe{Role: v1alpha1.ProbeRole(p.Step.Role), AskedPerSecond: p.Step.PerSecond}
}

// limitOf is the objective that a run missed first, else why it was not judged, else why it could not do its load.
func limitOf(run *v1alpha1.EtcdBenchmark) string {
	for _, o := range run.Status.Objectives {
		if o.Result == v1alpha1.ObjectiveMissed {
			return fmt.Sprintf("%s (wanted %s, got %s)", o.Name, o.Wanted, o.Got)
		}
	}
	finished := meta.FindStatusCondition(run.Status.Conditions, v1alpha1.ConditionFinished)
	passed := meta.FindStatusCondition(run.Status.Conditions, v1alpha1.ConditionPassed)
	couldRun := finished == nil || !verdict.CouldNotRun(finished.Reason)
	switch {
	case couldRun && passed != nil && passed.Status == metav1.ConditionUnknown:
		return strings.TrimSpace(passed.Reason + ": " + passed.Message + " " + advice(run))
	case finished != nil && finished.Reason != v1alpha1.ReasonCompleted:
		return finished.Message
	}
	return ""
}

// advice says how to make the load generator no limit; empty if it was none.
func advice(run *v1alpha1.EtcdBenchmark) string {
	if sum := run.Status.Summary; sum != nil && sum.Validity != nil && sum.Validity.Verdict == v1alpha1.ValidityClientBound && len(sum.Validity.Reasons) > 0 {
		return sum.Validity.Reasons[0].Change
	}
	return ""
}

// describeProbe announces a probe.
func describeProbe(p Planned) string {
	if p.Step.Role == search.Ceiling {
		return fmt.Sprintf("Probe %d of %s: as fast as the target answers.", p.Round, p.Cell.Name)
	}
	return fmt.Sprintf("Probe %d of %s: %s (%s).", p.Round, p.Cell.Name, text.PerSecond(p.Step.PerSecond), strings.ToLower(string(p.Step.Role)))
}

// judgeSearches returns the condition Passed of a suite that has a search.
func judgeSearches(s *v1alpha1.EtcdBenchmarkSuite) *metav1.Condition {
	const most = 5
	below, undecided := 0, 0
	var rates []string
	for _, c := range s.Status.Capacities {
		cell := c.Cell + " "
		if len(s.Status.Capacities) == 1 {
			cell = ""
		}
		switch c.State {
		case v1alpha1.CapacityFound:
			rates = append(rates, cell+text.PerSecond(c.RatePerSecond))
		case v1alpha1.CapacityAtLeast:
			rates = append(rates, cell+"at least "+text.PerSecond(c.RatePerSecond))
		case v1alpha1.CapacityBelowMinimum:
			below++
		default:
			undecided++
		}
	}
	c := &metav1.Condition{Type: v1alpha1.ConditionPassed, Status: metav1.ConditionTrue, Reason: v1alpha1.ReasonObjectivesMet}
	switch {
	case below > 0:
		c.Status, c.Reason = metav1.ConditionFalse, v1alpha1.ReasonObjectivesMissed
	case undecided > 0:
		c.Status, c.Reason = metav1.ConditionUnknown, v1alpha1.ReasonNotJudged
	}
	found := ""
	if len(rates) > 0 {
		more := ""
		if n := len(rates) - most; n > 0 {
			more = fmt.Sprintf(" and %d more", n)
		}
		noun := "rates that meet"
		if len(rates) == 1 {
			noun = "rate that meets"
		}
		found = fmt.Sprintf("The highest %s all objectives: %s%s.", noun, strings.Join(rates[:min(len(rates), most)], ", "), more)
	}
	c.Message = strings.TrimSpace(counted(below, "cell", "missed an objective at every rate") + counted(undecided, "cell", "could not be decided") + found)
	return c
}
