package compare

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
)

// finished is a valid run of a minute that began at a minute of the day.
func finished(name string, minute int, change ...func(*v1alpha1.EtcdBenchmark)) *v1alpha1.EtcdBenchmark {
	start := time.Date(2026, 1, 1, 0, minute, 0, 0, time.UTC)
	run := &v1alpha1.EtcdBenchmark{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: v1alpha1.EtcdBenchmarkSpec{
			Target:   v1alpha1.Target{Datastore: spec.Etcd},
			Workload: spec.Workload{Type: spec.WorkloadPut, Put: &spec.Put{Values: spec.Values{SizeBytes: 256}}},
			Load:     spec.Load{Clients: 10, Connections: 1, Pods: 1, Transport: spec.TransportFast},
		},
		Status: v1alpha1.EtcdBenchmarkStatus{
			Conditions: []metav1.Condition{{Type: v1alpha1.ConditionFinished, Status: metav1.ConditionTrue, Reason: v1alpha1.ReasonCompleted}},
			Summary: &v1alpha1.Summary{
				MeasuredRequests: 100_000, ThroughputPerSecond: "5000",
				WindowStart: &metav1.MicroTime{Time: start}, WindowEnd: &metav1.MicroTime{Time: start.Add(time.Minute)},
				Validity:   &v1alpha1.Validity{Verdict: v1alpha1.ValidityValid},
				Operations: []v1alpha1.OperationSummary{{Operation: spec.OperationPut, Latency: &v1alpha1.LatencySummary{Count: 100_000, P50Microseconds: 1000, P99Microseconds: 4000}}},
			},
		},
	}
	onClient("a")(run)
	for _, c := range change {
		c(run)
	}
	return run
}

// The side of a comparison names the members that got the load, so that one member is not taken for all.
func TestASideNamesTheLoadedMembers(t *testing.T) {
	for want, target := range map[string]v1alpha1.Target{
		"Etcd 3.6.7, 1 member":                   {Members: spec.MembersAll},
		"Etcd 3.6.7, 1 member, load on leader":   {Members: spec.MembersLeader},
		"Etcd 3.6.7, 1 member, load on member 2": {Members: spec.MembersAll, MemberIndex: new(int32(2))},
	} {
		run := finished("a", 0)
		target.Datastore = spec.Etcd
		run.Spec.Target, run.Status.Target = target, &v1alpha1.TargetStatus{Version: "3.6.7", Members: make([]v1alpha1.MemberStatus, 1)}
		if got := sideOf([]*v1alpha1.EtcdBenchmark{run}).Targets; len(got) != 1 || got[0] != want {
			t.Errorf("found %q, wanted %q", got, want)
		}
	}
}

func p99(micros int64) func(*v1alpha1.EtcdBenchmark) {
	return func(run *v1alpha1.EtcdBenchmark) { run.Status.Summary.Operations[0].Latency.P99Microseconds = micros }
}

func perSecond(n string) func(*v1alpha1.EtcdBenchmark) {
	return func(run *v1alpha1.EtcdBenchmark) { run.Status.Summary.ThroughputPerSecond = spec.Decimal(n) }
}

func atRate(run *v1alpha1.EtcdBenchmark) { run.Spec.Load.Rate = &spec.Rate{PerSecond: 5000} }

func saturated(run *v1alpha1.EtcdBenchmark) { run.Status.Summary.Saturated = &v1alpha1.Saturation{} }

func atLeast(run *v1alpha1.EtcdBenchmark) {
	run.Status.Summary.Operations[0].Latency.AtLeast = []spec.Statistic{spec.StatisticP99}
}

func clientBound(run *v1alpha1.EtcdBenchmark) {
	run.Status.Summary.Validity.Verdict = v1alpha1.ValidityClientBound
}

// onClient sets the processors of the client pods.
func onClient(processors string) func(*v1alpha1.EtcdBenchmark) {
	return func(run *v1alpha1.EtcdBenchmark) {
		run.Status.Summary.Fingerprint = &v1alpha1.Fingerprint{ID: "id", Client: processors, Processors: []string{processors}, PodMillicores: 2000}
	}
}

func inMemory(run *v1alpha1.EtcdBenchmark) {
	run.Status.Summary.Members = []v1alpha1.MemberSummary{{WALFsync: &v1alpha1.MemberDuration{Count: 5000, MeanNanoseconds: 700}}}
}

var (
	throughput = v1alpha1.Metric{Type: v1alpha1.MetricThroughput}
	putP99     = v1alpha1.Metric{Type: v1alpha1.MetricLatency, Operation: spec.OperationPut, Statistic: spec.StatisticP99}
)

// jitter makes the rounds differ a little from each other.
var jitter = []int64{-20, 15, 0, 25, -10, 5, -5, 10}

type editing = func(*v1alpha1.EtcdBenchmark)

// sides are rounds in turn, with a p99 of 4 ms and of another value.
func sides(rounds int, candidateP99 int64, changes ...editing) (baseline, candidate []*v1alpha1.EtcdBenchmark) {
	for i := range rounds {
		baseline = append(baseline, finished(fmt.Sprint("old-", i), 2*i, slices.Concat([]editing{p99(4000 + jitter[i])}, changes)...))
		candidate = append(candidate, finished(fmt.Sprint("new-", i), 2*i+1, slices.Concat([]editing{p99(candidateP99 - jitter[i])}, changes)...))
	}
	return baseline, candidate
}

func TestVerdicts(t *testing.T) {
	wide := func(c editing) func([]*v1alpha1.EtcdBenchmark) {
		return func(all []*v1alpha1.EtcdBenchmark) {
			for _, run := range all {
				c(run)
			}
		}
	}
	first := func(c editing) func([]*v1alpha1.EtcdBenchmark) {
		return func(all []*v1alpha1.EtcdBenchmark) { c(all[0]) }
	}
	for name, tc := range map[string]struct {
		rounds       int
		candidateP99 int64
		metric       v1alpha1.Metric
		baseline     func([]*v1alpha1.EtcdBenchmark)
		candidate    func([]*v1alpha1.EtcdBenchmark)
		want         v1alpha1.ComparisonVerdict
		reason       v1alpha1.ComparisonReason
		improved     bool
	}{
		"much slower":                 {rounds: 5, candidateP99: 6000, metric: putP99, want: v1alpha1.Regressed},
		"slower within the tolerance": {rounds: 5, candidateP99: 4200, metric: putP99, want: v1alpha1.NotRegressed},
		"faster":                      {rounds: 5, candidateP99: 3000, metric: putP99, want: v1alpha1.NotRegressed, improved: true},
		"near the tolerance":          {rounds: 5, candidateP99: 4402, metric: putP99, want: v1alpha1.NotCompared, reason: v1alpha1.ReasonNoisy},
		"two rounds":                  {rounds: 2, candidateP99: 6000, metric: putP99, want: v1alpha1.NotCompared, reason: v1alpha1.ReasonTooFewRounds},
		"one round":                   {rounds: 1, candidateP99: 6000, metric: putP99, want: v1alpha1.NotCompared, reason: v1alpha1.ReasonTooFewRounds},
		"less throughput":             {rounds: 3, candidateP99: 4000, metric: throughput, candidate: wide(perSecond("4000")), want: v1alpha1.Regressed},
		"more throughput":             {rounds: 3, candidateP99: 4000, metric: throughput, candidate: wide(perSecond("6000")), want: v1alpha1.NotRegressed, improved: true},
		"a rate that was reached":     {rounds: 3, candidateP99: 4000, metric: throughput, baseline: wide(atRate), candidate: wide(atRate), want: v1alpha1.NotCompared, reason: v1alpha1.ReasonNotInformative},
		"a rate that was not reached": {rounds: 3, candidateP99: 4000, metric: throughput, baseline: wide(atRate), candidate: func(all []*v1alpha1.EtcdBenchmark) {
			wide(atRate)(all)
			wide(saturated)(all)
			wide(perSecond("3000"))(all)
		}, want: v1alpha1.Regressed},
		"unanswered requests, slower":   {rounds: 5, candidateP99: 6000, metric: putP99, candidate: first(atLeast), want: v1alpha1.Regressed},
		"unanswered requests, the same": {rounds: 5, candidateP99: 4000, metric: putP99, candidate: first(atLeast), want: v1alpha1.NotCompared, reason: v1alpha1.ReasonUnanswered},
		"unanswered in the baseline":    {rounds: 5, candidateP99: 6000, metric: putP99, baseline: first(atLeast), want: v1alpha1.NotCompared, reason: v1alpha1.ReasonUnanswered},
		"a thin tail": {rounds: 5, candidateP99: 6000, metric: putP99, candidate: first(func(run *v1alpha1.EtcdBenchmark) {
			run.Status.Summary.Operations[0].Latency.Thin = []spec.Statistic{spec.StatisticP99}
		}), want: v1alpha1.NotCompared, reason: v1alpha1.ReasonComparedTailTooThin},
		"another operation":       {rounds: 5, candidateP99: 6000, metric: v1alpha1.Metric{Type: v1alpha1.MetricLatency, Operation: spec.OperationRange, Statistic: spec.StatisticP99}, want: v1alpha1.NotCompared, reason: v1alpha1.ReasonNotMeasured},
		"an invalid candidate":    {rounds: 5, candidateP99: 4000, metric: putP99, candidate: first(clientBound), want: v1alpha1.NotCompared, reason: v1alpha1.ReasonExclusionsDiffer},
		"one client of each":      {rounds: 5, candidateP99: 4000, metric: putP99, baseline: wide(onClient("a")), candidate: wide(onClient("a")), want: v1alpha1.NotRegressed},
		"clients change together": {rounds: 5, candidateP99: 4000, metric: putP99, baseline: first(onClient("b")), candidate: first(onClient("b")), want: v1alpha1.NotRegressed},
		"another client once":     {rounds: 5, candidateP99: 6000, metric: putP99, baseline: wide(onClient("a")), candidate: first(onClient("b")), want: v1alpha1.NotCompared, reason: v1alpha1.ReasonEnvironmentDiffers},
		"a client not known":      {rounds: 5, candidateP99: 6000, metric: putP99, candidate: first(onClient("")), want: v1alpha1.NotCompared, reason: v1alpha1.ReasonEnvironmentDiffers},
		"no client known":         {rounds: 5, candidateP99: 6000, metric: putP99, baseline: wide(onClient("")), candidate: wide(onClient("")), want: v1alpha1.NotCompared, reason: v1alpha1.ReasonEnvironmentDiffers},
		"data in memory":          {rounds: 5, candidateP99: 6000, metric: putP99, baseline: first(inMemory), want: v1alpha1.NotCompared, reason: v1alpha1.ReasonEnvironmentDiffers},
		"in memory on both sides": {rounds: 5, candidateP99: 6000, metric: putP99, baseline: wide(inMemory), candidate: wide(inMemory), want: v1alpha1.Regressed},
		"in memory in one round":  {rounds: 5, candidateP99: 6000, metric: putP99, baseline: first(inMemory), candidate: wide(inMemory), want: v1alpha1.NotCompared, reason: v1alpha1.ReasonEnvironmentDiffers},
		"mixed alike":             {rounds: 5, candidateP99: 6000, metric: putP99, baseline: first(inMemory), candidate: first(inMemory), want: v1alpha1.Regressed},
		"an invalid run of each":  {rounds: 5, candidateP99: 4000, metric: putP99, baseline: first(clientBound), candidate: first(clientBound), want: v1alpha1.NotRegressed},
	} {
		t.Run(name, func(t *testing.T) {
			baseline, candidate := sides(tc.rounds, tc.candidateP99)
			if tc.baseline != nil {
				tc.baseline(baseline)
			}
			if tc.candidate != nil {
				tc.candidate(candidate)
			}
			r, err := Runs(baseline, candidate, []v1alpha1.Metric{tc.metric})
			if err != nil {
				t.Fatal(err)
			}
			c := r.Comparisons[0]
			if c.Verdict != tc.want || c.Reason != tc.reason || c.Improved != tc.improved || r.Verdict != tc.want {
				t.Errorf("got %+v, wanted %s %s, improved %v", c, tc.want, tc.reason, tc.improved)
			}
			if (c.Reason == "") != (c.Message == "") {
				t.Errorf("the reason is %q, and the message %q", c.Reason, c.Message)
			}
		})
	}
}

func TestNumbersOfAComparison(t *testing.T) {
	baseline, candidate := sides(4, 5000)
	r, err := Runs(baseline, candidate, []v1alpha1.Metric{putP99, throughput})
	if err != nil {
		t.Fatal(err)
	}
	c := r.Comparisons[0]
	if c.Rounds != 4 || c.Baseline < 3990 || c.Baseline > 4010 || c.Candidate < 4985 || c.Candidate > 5005 || *c.ChangePerMillion < 235_000 || *c.ChangePerMillion > 255_000 {
		t.Errorf("got %+v, wanted 4 rounds and 25 %% more than 4000", c)
	}
	if *c.LowPerMillion >= *c.ChangePerMillion || *c.HighPerMillion <= *c.ChangePerMillion || *c.SmallestRegressionPerMillion <= 100_000 {
		t.Errorf("got %+v, wanted an interval around the change, and a smallest regression above the tolerance", c)
	}
	if *r.Comparisons[1].ChangePerMillion != 0 || r.Comparisons[1].Verdict != v1alpha1.NotRegressed || r.Verdict != v1alpha1.Regressed {
		t.Errorf("got %+v, wanted an equal throughput and that one regression decides", r)
	}
}

// A run that says little about its load is left out, and named with the reason.
func TestInvalidRunsAreNamed(t *testing.T) {
	for name, tc := range map[string]struct {
		change editing
		want   string
	}{
		"not finished": {func(run *v1alpha1.EtcdBenchmark) { run.Status.Conditions[0].Status = metav1.ConditionFalse }, "not finished"},
		"stopped":      {func(run *v1alpha1.EtcdBenchmark) { run.Status.Conditions[0].Reason = v1alpha1.ReasonStopped }, "Stopped"},
		"no result":    {func(run *v1alpha1.EtcdBenchmark) { run.Status.Summary = nil }, "no result"},
		"partial":      {func(run *v1alpha1.EtcdBenchmark) { run.Status.Summary.Partial = true }, "incomplete"},
		"another target": {func(run *v1alpha1.EtcdBenchmark) {
			run.Status.Summary.Concerns = []string{v1alpha1.ReasonTargetChanged}
		}, "TargetChanged"},
		"a skipped member": {func(run *v1alpha1.EtcdBenchmark) {
			run.Spec.Target.UnreachableMembers = spec.UnreachableSkip
			run.Status.Target = &v1alpha1.TargetStatus{Endpoints: []string{"a:1", "b:1"}, Members: []v1alpha1.MemberStatus{{Name: "a", Endpoint: "a:1"}}}
		}, "did not answer"},
		"failed requests": {func(run *v1alpha1.EtcdBenchmark) { run.Status.Summary.FailedRequests = 101 }, "101 of its 100,000 requests"},
	} {
		baseline, candidate := sides(4, 4000)
		tc.change(candidate[1])
		r, err := Runs(baseline, candidate, []v1alpha1.Metric{putP99})
		if err != nil || len(r.Excluded) != 1 || r.Excluded[0].Name != "new-1" || !strings.Contains(r.Excluded[0].Why, tc.want) || r.Comparisons[0].Rounds != 3 {
			t.Errorf("%s: got %+v (%v), wanted new-1 to be left out because of %q", name, r, err, tc.want)
		}
	}
}

// With more metrics, each needs stronger evidence, so that one of them is rarely called worse by chance.
func TestMoreMetricsNeedMoreEvidence(t *testing.T) {
	p50 := putP99
	p50.Statistic = spec.StatisticP50
	baseline, candidate := sides(3, 4640)
	alone, err := Runs(baseline, candidate, []v1alpha1.Metric{putP99})
	if err != nil {
		t.Fatal(err)
	}
	together, err := Runs(baseline, candidate, []v1alpha1.Metric{putP99, p50, throughput})
	if err != nil {
		t.Fatal(err)
	}
	one, other := alone.Comparisons[0], together.Comparisons[0]
	if one.Verdict != v1alpha1.Regressed || other.Verdict != v1alpha1.NotCompared || *other.SmallestRegressionPerMillion <= *one.SmallestRegressionPerMillion {
		t.Errorf("alone %+v, together %+v: wanted Regressed alone only", one, other)
	}
}

// The smallest regression of a throughput is a loss.
func TestSmallestRegressionOfThroughput(t *testing.T) {
	baseline, candidate := sides(3, 4000)
	for i, run := range candidate {
		perSecond(fmt.Sprint(5000 + jitter[i]))(run)
	}
	r, err := Runs(baseline, candidate, []v1alpha1.Metric{throughput})
	if err != nil || *r.Comparisons[0].SmallestRegressionPerMillion > -50_000 {
		t.Errorf("got %+v (%v), wanted a loss of more than 5 %%", r, err)
	}
}

// Runs one after the other by side show the difference between two times of day.
func TestSidesMustTakeTurns(t *testing.T) {
	var baseline, candidate []*v1alpha1.EtcdBenchmark
	for i := range 4 {
		baseline = append(baseline, finished(fmt.Sprint("old-", i), i, p99(4000+jitter[i])))
		candidate = append(candidate, finished(fmt.Sprint("new-", i), 10+i, p99(6000-jitter[i])))
	}
	r, err := Runs(baseline, candidate, []v1alpha1.Metric{putP99})
	if err != nil || r.Comparisons[0].Reason != v1alpha1.ReasonNotConcurrent || r.Comparisons[0].ChangePerMillion == nil {
		t.Errorf("got %+v (%v), wanted NotConcurrent with the change", r, err)
	}
}

// The order on the command line does not matter: rounds are by start.
func TestRoundsAreByStart(t *testing.T) {
	baseline, candidate := sides(3, 6000)
	slices.Reverse(candidate)
	want, _ := Runs(baseline, candidate, []v1alpha1.Metric{putP99})
	slices.Reverse(candidate)
	got, _ := Runs(baseline, candidate, []v1alpha1.Metric{putP99})
	if diff := cmp.Diff(want, got); diff != "" || got.Verdict != v1alpha1.Regressed {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestRunsThatCannotBeCompared(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(baseline, candidate []*v1alpha1.EtcdBenchmark) (_, _ []*v1alpha1.EtcdBenchmark)
		want   string
	}{
		"another load": {func(a, b []*v1alpha1.EtcdBenchmark) (_, _ []*v1alpha1.EtcdBenchmark) {
			b[1].Spec.Load.Clients = 11
			return a, b
		}, "load.clients (10, 11)"},
		"another transport": {func(a, b []*v1alpha1.EtcdBenchmark) (_, _ []*v1alpha1.EtcdBenchmark) {
			b[2].Spec.Load.Transport = spec.TransportJSON
			return a, b
		}, "load.transport (Fast, JSON)"},
		"another workload": {func(a, b []*v1alpha1.EtcdBenchmark) (_, _ []*v1alpha1.EtcdBenchmark) {
			b[0].Spec.Workload.Put.Values.SizeBytes = 1024
			return a, b
		}, "workload.put.values.sizeBytes (256, 1024)"},
		"another store": {func(a, b []*v1alpha1.EtcdBenchmark) (_, _ []*v1alpha1.EtcdBenchmark) {
			b[0].Spec.Target.Datastore = spec.ZooKeeper
			return a, b
		}, "datastore (Etcd, ZooKeeper)"},
		"a field that one lacks": {func(a, b []*v1alpha1.EtcdBenchmark) (_, _ []*v1alpha1.EtcdBenchmark) {
			b[0].Spec.Load.Rate = &spec.Rate{PerSecond: 5}
			return a, b
		}, "load.rate (not set, set)"},
		"other disturbances": {func(a, b []*v1alpha1.EtcdBenchmark) (_, _ []*v1alpha1.EtcdBenchmark) {
			b[0].Spec.Disturbances = []spec.Disturbance{{Type: spec.DisturbanceCompact}}
			return a, b
		}, "disturbances (not set, set)"},
		"a run twice":      {func(a, b []*v1alpha1.EtcdBenchmark) (_, _ []*v1alpha1.EtcdBenchmark) { return a, a }, "old-0 twice"},
		"a candidate less": {func(a, b []*v1alpha1.EtcdBenchmark) (_, _ []*v1alpha1.EtcdBenchmark) { return a, b[:2] }, "found 2 and 3"},
	} {
		t.Run(name, func(t *testing.T) {
			baseline, candidate := tc.change(sides(3, 4000))
			if _, err := Runs(baseline, candidate, nil); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, wanted %q", err, tc.want)
			}
		})
	}
	baseline, candidate := sides(3, 4000)
	candidate[2].Spec.Load.Seed = 7
	if _, err := Runs(baseline, candidate, nil); err != nil {
		t.Errorf("another seed: %v", err)
	}
}

func TestRunsThatOverlapDoNotTakeTurns(t *testing.T) {
	baseline, candidate := sides(3, 6000)
	candidate[1].Status.Summary.WindowStart.Time = candidate[1].Status.Summary.WindowStart.Add(-30 * time.Second)
	r, err := Runs(baseline, candidate, []v1alpha1.Metric{putP99})
	if err != nil || r.Comparisons[0].Reason != v1alpha1.ReasonNotConcurrent {
		t.Errorf("got %+v (%v), wanted NotConcurrent", r, err)
	}
}

// A run that never measured stays in its round.
func TestARunWithoutResultKeepsItsPlace(t *testing.T) {
	baseline, candidate := sides(4, 4000)
	for i, run := range slices.Concat(baseline, candidate) {
		run.Status.StartTime = &metav1.Time{Time: time.Date(2026, 1, 1, 0, 2*(i%4)+i/4, 0, 0, time.UTC)}
	}
	baseline[2].Status.Summary, candidate[2].Status.Summary = nil, nil
	r, err := Runs(baseline, candidate, []v1alpha1.Metric{putP99})
	if err != nil || r.Baseline.Runs[2] != "old-2" || r.Candidate.Runs[2] != "new-2" || r.Comparisons[0].Rounds != 3 || r.Verdict != v1alpha1.NotRegressed {
		t.Errorf("got %+v (%v), wanted the third round to be left out", r, err)
	}
}

// Failed requests are slower than all others, so a few of them decide what a high percentile says.
func TestFailuresCountInHighStatistics(t *testing.T) {
	for statistic, want := range map[spec.Statistic]v1alpha1.ComparisonVerdict{
		spec.StatisticP50: v1alpha1.NotRegressed, spec.StatisticP99: v1alpha1.NotRegressed, spec.StatisticP999: v1alpha1.NotCompared, spec.StatisticMax: v1alpha1.NotCompared,
	} {
		baseline, candidate := sides(3, 4000)
		for i, run := range slices.Concat(baseline, candidate) {
			o := &run.Status.Summary.Operations[0]
			o.Latency.P999Microseconds, o.Latency.MaxMicroseconds, o.Succeeded = 9000, 20_000, 100_000
			if i == 4 {
				o.Failed = 50
			}
		}
		m := putP99
		m.Statistic = statistic
		r, err := Runs(baseline, candidate, []v1alpha1.Metric{m})
		if err != nil || r.Verdict != want {
			t.Errorf("%s: got %+v (%v), wanted %s", statistic, r, err, want)
		}
	}
}

// Equal numbers are equal only as far as they are exact: 40 and 42 µs may be 40.4 and 41.6 µs.
func TestResolutionOfSmallNumbers(t *testing.T) {
	m := putP99
	m.Statistic, m.TolerancePercent = spec.StatisticP50, 4
	baseline, candidate := sides(5, 4000)
	for i := range 5 {
		baseline[i].Status.Summary.Operations[0].Latency.P50Microseconds = 40
		candidate[i].Status.Summary.Operations[0].Latency.P50Microseconds = 42
	}
	r, err := Runs(baseline, candidate, []v1alpha1.Metric{m})
	if c := r.Comparisons[0]; err != nil || c.Verdict != v1alpha1.NotCompared || *c.LowPerMillion >= *c.ChangePerMillion {
		t.Errorf("got %+v (%v), wanted Unknown and an interval", c, err)
	}
}

func TestVerdictOfAll(t *testing.T) {
	asked := v1alpha1.Comparison{Verdict: v1alpha1.NotCompared, Reason: v1alpha1.ReasonNotInformative}
	open := v1alpha1.Comparison{Verdict: v1alpha1.NotCompared, Reason: v1alpha1.ReasonNoisy}
	good, bad := v1alpha1.Comparison{Verdict: v1alpha1.NotRegressed}, v1alpha1.Comparison{Verdict: v1alpha1.Regressed}
	for name, tc := range map[string]struct {
		all  []v1alpha1.Comparison
		want v1alpha1.ComparisonVerdict
	}{
		"none":                     {nil, v1alpha1.NotCompared},
		"good":                     {[]v1alpha1.Comparison{good, good}, v1alpha1.NotRegressed},
		"one is worse":             {[]v1alpha1.Comparison{good, open, bad}, v1alpha1.Regressed},
		"one is open":              {[]v1alpha1.Comparison{open, good}, v1alpha1.NotCompared},
		"what was asked for":       {[]v1alpha1.Comparison{asked, good}, v1alpha1.NotRegressed},
		"only what was asked for":  {[]v1alpha1.Comparison{asked}, v1alpha1.NotCompared},
		"worse, beside what asked": {[]v1alpha1.Comparison{asked, bad}, v1alpha1.Regressed},
	} {
		if got := VerdictOf(tc.all); got != tc.want {
			t.Errorf("%s: got %s, wanted %s", name, got, tc.want)
		}
	}
}

func TestUsualMetrics(t *testing.T) {
	thin := finished("thin", 1, func(run *v1alpha1.EtcdBenchmark) {
		run.Status.Summary.Operations[0].Latency.Thin = []spec.Statistic{spec.StatisticP99}
		run.Status.Summary.Operations[0].Latency.P90Microseconds = 2000
	})
	p90 := putP99
	p90.Statistic = spec.StatisticP90
	for name, tc := range map[string]struct {
		runs []*v1alpha1.EtcdBenchmark
		want []v1alpha1.Metric
	}{
		"a closed loop":        {[]*v1alpha1.EtcdBenchmark{finished("a", 0)}, []v1alpha1.Metric{throughput, putP99}},
		"an open loop":         {[]*v1alpha1.EtcdBenchmark{finished("a", 0, atRate)}, []v1alpha1.Metric{putP99}},
		"a thin tail in a run": {[]*v1alpha1.EtcdBenchmark{finished("a", 0, func(run *v1alpha1.EtcdBenchmark) { run.Status.Summary.Operations[0].Latency.P90Microseconds = 1 }), thin}, []v1alpha1.Metric{throughput, p90}},
		"nothing valid":        {[]*v1alpha1.EtcdBenchmark{finished("a", 0, clientBound)}, []v1alpha1.Metric{throughput}},
	} {
		if diff := cmp.Diff(tc.want, UsualMetrics(tc.runs), cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
