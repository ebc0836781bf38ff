package verdict

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
	"github.com/etcdbench/etcd-benchmark-operator/internal/runtest"
)

// openLoop makes b send at a rate.
func openLoop(b *v1alpha1.EtcdBenchmark) {
	b.Spec.Load.Requests, b.Spec.Load.DurationSeconds = nil, new(int32(1))
	b.Spec.Load.Rate = &spec.Rate{PerSecond: 1000}
}

// arrivals sets what became of arrivals that were not sent as scheduled.
func arrivals(a results.Arrivals) func(*results.Snapshot) {
	return func(s *results.Snapshot) {
		s.Arrivals, s.Window.Planned, s.Window.PlannedRequests = a, time.Second, 0
	}
}

// lately makes all requests late by this much: it is part of their latency and not of their service time.
func lately(by time.Duration) func(*results.Snapshot) {
	return func(s *results.Snapshot) {
		put := s.Operations[spec.OperationPut]
		puts := int(put.Latency.Count())
		put.Latency = results.Histogram{}
		for i := range puts {
			put.Latency.Record(int64(time.Duration(i+1)*time.Millisecond + by))
			put.Lateness.Record(int64(by))
		}
	}
}

// The rule of docs/verdict.md: what a limited client leaves of each objective. The puts take 1 ms to 1,000 ms.
func TestObjectivesAreJudgedByBounds(t *testing.T) {
	const (
		met, missed, unsure = v1alpha1.ObjectiveMet, v1alpha1.ObjectiveMissed, v1alpha1.ObjectiveUnknown
		puts                = 1000
	)
	throttled, all := runtest.Throttled(0.25), arrivals(results.Arrivals{})
	skipping := arrivals(results.Arrivals{Skipped: 6})
	long := lately(300 * time.Millisecond)
	fsync := runtest.MaxFsync(v1alpha1.MemberStatisticMean, 1)
	within := runtest.MaxFsync(v1alpha1.MemberStatisticMean, 1_000_000)
	flushed := runtest.Told(runtest.Flushed(50))
	stddev := func(micros int64) v1alpha1.Objective { return runtest.MaxLatency(spec.StatisticStddev, micros) }
	rate := v1alpha1.Objective{Name: "rate", Type: spec.ObjectiveAchievedRate, AchievedRate: &v1alpha1.AchievedRateObjective{MinPercent: 100}}
	type changes = []func(*results.Snapshot)
	for name, tc := range map[string]struct {
		objective v1alpha1.Objective
		open      bool
		changes   changes
		want      v1alpha1.ObjectiveResult
	}{
		"open loop, percentile met":               {runtest.MaxLatency(spec.StatisticP99, 2_000_000), true, changes{throttled, all}, met},
		"open loop, mean met":                     {runtest.MaxLatency(spec.StatisticMean, 2_000_000), true, changes{throttled, all}, met},
		"open loop, maximum met":                  {runtest.MaxLatency(spec.StatisticMax, 2_000_000), true, changes{throttled, all}, met},
		"open loop that skipped, met":             {runtest.MaxLatency(spec.StatisticP99, 2_000_000), true, changes{throttled, skipping}, unsure},
		"open loop, missed":                       {runtest.MaxLatency(spec.StatisticP99, 500_000), true, changes{throttled, all}, unsure},
		"open loop, late, missed without that":    {runtest.MaxLatency(spec.StatisticP99, 900_000), true, changes{all, long}, missed},
		"open loop, late, missed by that":         {runtest.MaxLatency(spec.StatisticP99, 1_100_000), true, changes{all, long}, unsure},
		"open loop, late, missed, in bursts":      {runtest.MaxLatency(spec.StatisticP99, 900_000), true, changes{arrivals(results.Arrivals{Bunched: 11}), long}, unsure},
		"open loop, late, missed, and throttled":  {runtest.MaxLatency(spec.StatisticP99, 900_000), true, changes{throttled, all, long}, unsure},
		"open loop, late, thin":                   {runtest.MaxLatency(spec.StatisticP999, 1_000_001), true, changes{all, long}, unsure},
		"open loop, late, skipped ones waited":    {runtest.MaxLatency(spec.StatisticP99, 1_100_000), true, changes{arrivals(results.Arrivals{Skipped: 4}), long, runtest.CutOff(20, time.Minute)}, unsure},
		"achieved rate, late, target too slow":    {rate, true, changes{arrivals(results.Arrivals{Lacking: 500}), long, runtest.Failing(1, "Unavailable", time.Millisecond)}, missed},
		"closed loop, mean met":                   {runtest.MaxLatency(spec.StatisticMean, 2_000_000), false, changes{throttled}, met},
		"closed loop, mean missed":                {runtest.MaxLatency(spec.StatisticMean, 1), false, changes{throttled}, unsure},
		"closed loop, percentile met":             {runtest.MaxLatency(spec.StatisticP99, 2_000_000), false, changes{throttled}, unsure},
		"closed loop, maximum missed":             {runtest.MaxLatency(spec.StatisticMax, 1), false, changes{throttled}, unsure},
		"standard deviation surely met":           {stddev(600_000), true, changes{throttled, all}, met},
		"standard deviation perhaps met":          {stddev(400_000), true, changes{throttled, all}, unsure},
		"standard deviation, not delivered":       {stddev(600_000), true, changes{throttled, skipping}, unsure},
		"standard deviation missed":               {stddev(1), true, changes{throttled, all}, unsure},
		"standard deviation met, only late":       {stddev(2_000_000), true, changes{all, long}, met},
		"standard deviation missed, only late":    {stddev(1), true, changes{all, long}, missed},
		"standard deviation missed, in bursts":    {stddev(1), true, changes{arrivals(results.Arrivals{Bunched: 11}), long}, unsure},
		"standard deviation, late, closed loop":   {stddev(2_000_000), false, changes{long}, unsure},
		"throughput met":                          {runtest.MinThroughput(1), false, changes{throttled}, met},
		"throughput missed":                       {runtest.MinThroughput(1_000_000), false, changes{throttled}, unsure},
		"achieved rate met":                       {rate, true, changes{throttled, all}, met},
		"achieved rate missed":                    {rate, true, changes{throttled, all, runtest.Failing(1, "Unavailable", time.Millisecond)}, unsure},
		"errors met":                              {runtest.MaxErrors(0), true, changes{throttled, all}, met},
		"errors met in a closed loop":             {runtest.MaxErrors(0), false, changes{throttled}, unsure},
		"errors missed":                           {runtest.MaxErrors(0), false, changes{throttled, runtest.Failing(1, "Unavailable", time.Millisecond)}, missed},
		"errors missed by the client's time-outs": {runtest.MaxErrors(0), false, changes{throttled, runtest.Failing(1, "DeadlineExceeded", time.Second)}, unsure},
		"member met":                              {within, true, changes{throttled, all, flushed}, met},
		"member missed":                           {fsync, true, changes{throttled, all, flushed}, missed},
		"member met in a closed loop":             {within, false, changes{throttled, flushed}, unsure},
		"member missed while arrivals were left":  {fsync, true, changes{throttled, skipping, flushed}, unsure},
		"without a cause, met":                    {runtest.MaxLatency(spec.StatisticP99, 2_000_000), false, changes{runtest.Throttled(0)}, met},
		"without a cause, missed":                 {runtest.MaxLatency(spec.StatisticP99, 1), false, changes{runtest.Throttled(0)}, missed},
	} {
		t.Run(name, func(t *testing.T) {
			s := results.Summarize([]*results.Snapshot{runtest.Measured(0, puts, tc.changes...)})
			b := runtest.Puts(runtest.Objectives(tc.objective))
			if tc.open {
				openLoop(b)
			}
			got, passed := Judge(b, &s, v1alpha1.ReasonCompleted)
			if got[0].Result != tc.want {
				t.Fatalf("got %+v, wanted %s", got[0], tc.want)
			}
			if tc.want == unsure && (got[0].Reason != v1alpha1.ReasonClientBound || passed.Reason != v1alpha1.ReasonClientBound || passed.Status != metav1.ConditionUnknown) {
				t.Errorf("got %+v and %+v, wanted the reason %s", got[0], passed, v1alpha1.ReasonClientBound)
			}
		})
	}
}

// A percentile with fewer than ten requests above it.
func TestThinTails(t *testing.T) {
	const met, missed, unsure = v1alpha1.ObjectiveMet, v1alpha1.ObjectiveMissed, v1alpha1.ObjectiveUnknown
	for name, tc := range map[string]struct {
		puts      int
		statistic spec.Statistic
		micros    int64
		change    func(*results.Snapshot)
		want      v1alpha1.ObjectiveResult
	}{
		"P99 with ten above, met":            {1_000, spec.StatisticP99, 995_000, nil, met},
		"P99 with ten above, missed":         {1_000, spec.StatisticP99, 980_000, nil, missed},
		"P99 with nine above, between":       {999, spec.StatisticP99, 995_000, nil, unsure},
		"P99, all within, enough":            {299, spec.StatisticP99, 299_000, nil, met},
		"P99, all within, too few":           {298, spec.StatisticP99, 299_000, nil, unsure},
		"P99, one not within":                {299, spec.StatisticP99, 298_500, nil, unsure},
		"P99, a lower percentile misses":     {299, spec.StatisticP99, 200_000, nil, missed},
		"P99, one failed":                    {299, spec.StatisticP99, 299_000, runtest.Failing(1, "Unavailable", time.Millisecond), unsure},
		"P99, one unanswered":                {299, spec.StatisticP99, 299_000, runtest.CutOff(1, time.Millisecond), unsure},
		"P99.9, all within, enough":          {2_995, spec.StatisticP999, 3_050_000, nil, met},
		"P99.9, all within, too few":         {2_994, spec.StatisticP999, 3_050_000, nil, unsure},
		"P50 of five":                        {5, spec.StatisticP50, 5_000, nil, met},
		"P50 of four":                        {4, spec.StatisticP50, 5_000, nil, unsure},
		"the maximum is never thin":          {1, spec.StatisticMax, 1_000, nil, met},
		"P99, few, a lower one is thin, too": {20, spec.StatisticP99, 1, nil, missed},
		"P99, few, all others are thin":      {19, spec.StatisticP99, 1, nil, unsure},
	} {
		t.Run(name, func(t *testing.T) {
			var changes []func(*results.Snapshot)
			if tc.change != nil {
				changes = append(changes, tc.change)
			}
			s := results.Summarize([]*results.Snapshot{runtest.Measured(0, tc.puts, changes...)})
			got, passed := Judge(runtest.Puts(runtest.Objectives(runtest.MaxLatency(tc.statistic, tc.micros))), &s, v1alpha1.ReasonCompleted)
			if got[0].Result != tc.want {
				t.Fatalf("got %+v, wanted %s", got[0], tc.want)
			}
			if tc.want == unsure && (got[0].Reason != v1alpha1.ReasonTailTooThin || passed.Reason != v1alpha1.ReasonTailTooThin) {
				t.Errorf("got %+v and %+v, wanted the reason %s", got[0], passed, v1alpha1.ReasonTailTooThin)
			}
		})
	}
}

// The value of a thin percentile is unreliable: the verdict has the bound that decided, or says what is lacking.
func TestTheBoundsOfThinTails(t *testing.T) {
	for name, tc := range map[string]struct {
		puts      int
		micros    int64
		got, text string
	}{
		"met by the slowest":           {299, 299_000, "≤299ms", ""},
		"missed by a lower one":        {299, 200_000, "≥285ms", ""},
		"too few":                      {298, 299_000, "", "299 are enough only if all are within 299ms; the slowest: 298ms"},
		"enough, but not all within":   {300, 299_500, "", "299 are enough only if all are within 299.5ms; the slowest: 300ms"},
		"reliable, and no bound of it": {1_000, 995_000, "992ms", ""},
	} {
		s := results.Summarize([]*results.Snapshot{runtest.Measured(0, tc.puts)})
		got, _ := Judge(runtest.Puts(runtest.Objectives(runtest.MaxLatency(spec.StatisticP99, tc.micros))), &s, v1alpha1.ReasonCompleted)
		if got[0].Got != tc.got || !strings.Contains(got[0].Message, tc.text) {
			t.Errorf("%s: got %+v, wanted %q and %q", name, got[0], tc.got, tc.text)
		}
	}
}

// waiting makes some of the puts wait this long for a free client.
func waiting(n int, wait time.Duration) func(*results.Snapshot) {
	return func(s *results.Snapshot) {
		put := s.Operations[spec.OperationPut]
		for range put.Latency.Count() {
			put.Lateness.Record(0)
		}
		for range n {
			put.Backlog.Record(int64(wait))
		}
	}
}

// 100 puts of 50.5 ms on average in a second keep six clients busy.
func TestSaturation(t *testing.T) {
	lacking := func(n uint64) func(*results.Snapshot) { return arrivals(results.Arrivals{Lacking: n}) }
	free := runtest.Throttled(0)
	for name, tc := range map[string]struct {
		clients int32
		changes []func(*results.Snapshot)
		// advice is part of the advice; empty if the run is not saturated.
		advice string
	}{
		"as many as clients wait at the end":  {5, []func(*results.Snapshot){free, lacking(5)}, ""},
		"more than clients wait at the end":   {5, []func(*results.Snapshot){free, lacking(6)}, "spec.load.clients: 9"},
		"more clients than were busy":         {10, []func(*results.Snapshot){free, lacking(11)}, "fewer than the run has"},
		"the median waits longer than served": {5, []func(*results.Snapshot){free, lacking(0), waiting(60, 60*time.Millisecond)}, "spec.load.clients: 9"},
		"fewer than half wait":                {5, []func(*results.Snapshot){free, lacking(0), waiting(49, 60*time.Millisecond)}, ""},
		"the median waits less":               {5, []func(*results.Snapshot){free, lacking(0), waiting(60, 40*time.Millisecond)}, ""},
		"a throttled client":                  {5, []func(*results.Snapshot){runtest.Throttled(0.25), lacking(100)}, ""},
		"a client that is only late":          {5, []func(*results.Snapshot){free, lacking(100), lately(time.Second)}, "spec.load.clients: 9"},
	} {
		t.Run(name, func(t *testing.T) {
			b := runtest.Puts(openLoop, func(b *v1alpha1.EtcdBenchmark) { b.Spec.Load.Clients = tc.clients })
			s := results.Summarize([]*results.Snapshot{runtest.Measured(0, 100, tc.changes...)})
			switch got := Saturation(b, s, Clients(b, s)); {
			case (got != nil) != (tc.advice != ""):
				t.Errorf("got %+v, wanted the advice %q", got, tc.advice)
			case got != nil && (got.BusyClients != 6 || !strings.Contains(got.Change, tc.advice)):
				t.Errorf("got %+v, wanted six busy clients and the advice %q", got, tc.advice)
			}
		})
	}
}

// The service time of a lock is its acquisition. The client is busy until it has released it.
func TestSaturationOfLocks(t *testing.T) {
	b := runtest.Puts(openLoop, func(b *v1alpha1.EtcdBenchmark) { b.Spec.Load.Clients = 5 })
	held := func(held time.Duration) func(*results.Snapshot) {
		return func(s *results.Snapshot) { s.Arrivals = results.Arrivals{Lacking: 6, Busy: 100 * held} }
	}
	s := results.Summarize([]*results.Snapshot{runtest.Measured(0, 100, runtest.Throttled(0), arrivals(results.Arrivals{}), held(200*time.Millisecond))})
	if got := Saturation(b, s, Clients(b, s)); got == nil || got.BusyClients != 20 || !strings.Contains(got.Change, "spec.load.clients: 30") {
		t.Errorf("got %+v, wanted 100/s × 200 ms = 20 busy clients", got)
	}
}

// A part of the histograms did not fit into the termination message.
func TestAnUnknownServiceTimeJudgesNothing(t *testing.T) {
	lost := withoutBuckets(t, "etcdbench_request_service_duration_seconds", runtest.Measured(0, 100, runtest.Throttled(0), lately(time.Millisecond), waiting(60, time.Millisecond)))
	s := results.Summarize([]*results.Snapshot{lost})
	b := runtest.Puts(openLoop)
	v := Clients(b, s)
	if v.Verdict != v1alpha1.ValidityUnknown || Saturation(b, s, v) != nil {
		t.Errorf("got %+v and %+v, wanted neither to be known", v, Saturation(b, s, v))
	}
}

func TestAClosedLoopIsNeverSaturated(t *testing.T) {
	s := results.Summarize([]*results.Snapshot{runtest.Measured(0, 100, arrivals(results.Arrivals{Lacking: 1000}))})
	if got := Saturation(runtest.Puts(), s, Clients(runtest.Puts(), s)); got != nil {
		t.Errorf("got %+v", got)
	}
}
