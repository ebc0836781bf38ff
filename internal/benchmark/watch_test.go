package benchmark

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// withEvents adds watchers that saw an event of each put after its latency, but
// for some that they missed.
func withEvents(missed int) func(*results.Snapshot) {
	return func(s *results.Snapshot) {
		event := &results.OperationResult{Errors: map[string]uint64{}}
		puts := int(s.Operations[results.OperationPut].Latency.Count())
		for i := range puts - missed {
			event.Latency.Record((time.Duration(i+1) * time.Millisecond).Nanoseconds())
		}
		for range missed {
			event.Failed.Record(time.Second.Nanoseconds())
			event.Errors[results.ErrorMissed]++
		}
		s.Operations[results.OperationWatchEvent] = event
		s.Watch = results.Watch{Watchers: 1, Expected: uint64(puts), Missed: uint64(missed), Duplicate: 2, Cancelled: 3, Resumed: 4, Replays: 9}
	}
}

func TestSummaryOfWatches(t *testing.T) {
	b := putRun()
	s := Summary(b, results.Summarize([]*results.Snapshot{measured(0, 100, withEvents(5)), measured(1, 100, withEvents(0))}))
	want := &v1alpha1.WatchSummary{
		Watchers: 2, ExpectedEvents: 200, MissedEvents: 5, DuplicateEvents: 4, CancelledWatchers: 6, ResumedWatchers: 8, Replays: 18,
	}
	if diff := cmp.Diff(want, s.Watch); diff != "" {
		t.Errorf("watch (-want +got):\n%s", diff)
	}
	if s.MeasuredRequests != 200 || s.FailedRequests != 0 {
		t.Errorf("%d requests were measured and %d failed, wanted the 200 puts alone", s.MeasuredRequests, s.FailedRequests)
	}
	if got := Pod(measured(0, 100, withEvents(5))).MeasuredRequests; got != 100 {
		t.Errorf("a pod measured %d requests, wanted 100", got)
	}
	if s := Summary(b, results.Summarize([]*results.Snapshot{measured(0, 1)})); s.Watch != nil {
		t.Errorf("a run without watchers has %+v", s.Watch)
	}
}

func TestAnObjectiveOfEventsRanksMissedOnesLast(t *testing.T) {
	for name, tc := range map[string]struct {
		missed int
		want   v1alpha1.ObjectiveResult
	}{
		"none missed":  {0, v1alpha1.ObjectiveMet},
		"some, beyond": {2, v1alpha1.ObjectiveMissed},
	} {
		t.Run(name, func(t *testing.T) {
			o := maxLatency(v1alpha1.StatisticP99, 100_000)
			o.Latency.Operation = v1alpha1.OperationWatchEvent
			got := finished([]*results.Snapshot{measured(0, 100, withEvents(tc.missed))}, withObjectives(o)).Status.Objectives
			if got[0].Result != tc.want {
				t.Errorf("got %+v, wanted %s", got[0], tc.want)
			}
		})
	}
}

// What follows from requests is none: it has latencies, and no rate that could be
// taken for one of requests.
func TestEventsHaveLatenciesAndNoRates(t *testing.T) {
	run := finished([]*results.Snapshot{measured(0, 1000, withEvents(5))}, func(b *v1alpha1.EtcdBenchmark) { b.Spec.Workload.Type = v1alpha1.WorkloadWatch })
	latency, rate := false, false
	for _, item := range readPerfdash(t, run).DataItems {
		if item.Labels["Operation"] == "WATCHEVENT" {
			rate = rate || item.Labels["Metric"] == "Throughput"
			latency = latency || item.Unit == "ms"
		}
	}
	if !latency || rate {
		t.Errorf("perfdash has a latency of events: %v, a throughput of them: %v; wanted the first alone", latency, rate)
	}
	_, lines := cells(t, run)
	if i := slices.IndexFunc(lines, func(l string) bool { return strings.HasPrefix(l, "WatchEvent latency ") }); i < 0 {
		t.Errorf("no latency of events in:\n%s", strings.Join(lines, "\n"))
	}
	if i := slices.IndexFunc(lines, func(l string) bool {
		return strings.HasPrefix(l, "WatchEvent 1") || strings.HasPrefix(l, "WatchEvent 9")
	}); i >= 0 {
		t.Errorf("events are among the requests: %s", lines[i])
	}
}

func TestTableOfWatches(t *testing.T) {
	_, lines := cells(t, finished([]*results.Snapshot{measured(0, 1000, withEvents(5))}))
	wantLine(t, lines, "WATCHERS EXPECTED EVENTS MISSED DUPLICATE CANCELLED RESUMED REPLAYS")
	wantLine(t, lines, "1 1,000 5 2 3 4 9")
}

func TestTableSaysWhatCarriesWatchersAlone(t *testing.T) {
	for name, tc := range map[string]struct {
		workload v1alpha1.Workload
		want     string
	}{
		"shared":  {v1alpha1.Workload{Type: v1alpha1.WorkloadWatch, Watch: &v1alpha1.WatchWorkload{}}, " connections, "},
		"of puts": {v1alpha1.Workload{Type: v1alpha1.WorkloadWatch, Watch: &v1alpha1.WatchWorkload{Connections: 4}}, " connections and 4 for watchers, "},
		"of gets": {v1alpha1.Workload{Type: v1alpha1.WorkloadWatchGet, WatchGet: &v1alpha1.WatchGetWorkload{Connections: 1000}}, " connections and 1,000 for watchers, "},
	} {
		t.Run(name, func(t *testing.T) {
			run := finished([]*results.Snapshot{measured(0, 1000)})
			run.Spec.Workload = tc.workload
			if text, _ := cells(t, run); !strings.Contains(text, tc.want) {
				t.Errorf("wanted %q in:\n%s", tc.want, text)
			}
		})
	}
}

// Events of puts that got no answer are in no latency, and could be later than
// any that is.
func TestEventsOfUnansweredPutsKeepObjectivesFromBeingMet(t *testing.T) {
	const limit = 2_000_000
	for name, tc := range map[string]struct {
		unanswered int
		statistic  v1alpha1.LatencyStatistic
		want       v1alpha1.ObjectiveResult
	}{
		"none":                 {0, v1alpha1.StatisticMax, v1alpha1.ObjectiveMet},
		"few of many":          {4, v1alpha1.StatisticP95, v1alpha1.ObjectiveMet},
		"more than a tail":     {60, v1alpha1.StatisticP95, v1alpha1.ObjectiveUnknown},
		"one, for the last":    {1, v1alpha1.StatisticMax, v1alpha1.ObjectiveUnknown},
		"one, for a mean":      {1, v1alpha1.StatisticMean, v1alpha1.ObjectiveUnknown},
		"one, for a spread":    {1, v1alpha1.StatisticStddev, v1alpha1.ObjectiveUnknown},
		"of puts, they failed": {60, v1alpha1.StatisticP50, v1alpha1.ObjectiveMet},
	} {
		t.Run(name, func(t *testing.T) {
			snap := measured(0, 1000, withEvents(0), func(s *results.Snapshot) {
				for range tc.unanswered {
					s.Operations[results.OperationPut].Failed.Record(time.Second.Nanoseconds())
				}
			})
			s := results.Summarize([]*results.Snapshot{snap})
			b := putRun()
			b.Spec.Objectives = []v1alpha1.Objective{{Name: "events", Type: v1alpha1.ObjectiveLatency, Latency: &v1alpha1.LatencyObjective{
				Operation: v1alpha1.Operation(results.OperationWatchEvent), Statistic: tc.statistic, MaxMicroseconds: limit,
			}}}
			got, _ := Judge(b, &s, v1alpha1.ReasonCompleted)
			if got[0].Result != tc.want {
				t.Errorf("wanted %s, got %+v", tc.want, got[0])
			}
		})
	}
}
