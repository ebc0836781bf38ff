package results

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
)

// pod is a final snapshot of a client pod with a window from start to end and n successes.
func pod(start, end time.Duration, n int) *Snapshot {
	s := &Snapshot{
		RunUID: "a", Transport: spec.TransportClient, Stage: StageDone,
		Window: Window{
			StartAt: testStart, Skew: start, Start: testStart.Add(start), End: testStart.Add(end),
			LastResponse: testStart.Add(end), Planned: end - start,
		},
		Operations: map[spec.Operation]*OperationResult{spec.OperationPut: {CompletedInWindow: uint64(n)}},
	}
	for range n {
		s.Operations[spec.OperationPut].Latency.Record(int64(time.Millisecond))
	}
	return s
}

// requestBound is a pod whose window ends with its last response, independent of its recorded end.
func requestBound(start, last time.Duration, n int) *Snapshot {
	s := pod(start, last, n)
	s.Window.Planned, s.Window.PlannedRequests = 0, uint64(n)
	s.Window.End = s.Window.End.Add(time.Second)
	return s
}

func TestTiming(t *testing.T) {
	const s, ms = time.Second, time.Millisecond
	late := pod(0, 10*s, 1000)
	late.Operations[spec.OperationPut].CompletedInWindow = 900
	open := pod(0, 4*s, 400)
	open.Stage, open.Window.End = StageMeasuring, time.Time{}
	setBack := pod(5*s, 1*s, 100)
	slowed := requestBound(0, 10*s, 1000)
	for i := range 1000 {
		slowed.Timeline.Record(map[bool]time.Duration{true: 4 * s, false: 9 * s}[i < 800], ms, true)
	}
	ready := &Snapshot{RunUID: "a", Transport: spec.TransportClient, Stage: StageReady}

	type timings struct {
		Throughput, Steady      float64
		Length, Tail, StartSkew time.Duration
		Succeeded               uint64
	}
	tests := map[string]struct {
		pods []*Snapshot
		want timings
	}{
		"no pods":       {nil, timings{}},
		"not yet begun": {[]*Snapshot{ready, nil}, timings{}},
		"one pod":       {[]*Snapshot{pod(0, 10*s, 1000)}, timings{Throughput: 100, Length: 10 * s, Succeeded: 1000}},
		"skew adds no length": {
			[]*Snapshot{pod(0, 10*s, 1000), pod(400*ms, 10400*ms, 500)},
			timings{Throughput: 150, Length: 10 * s, StartSkew: 400 * ms, Succeeded: 1500},
		},
		"what came after the window does not count": {
			[]*Snapshot{late}, timings{Throughput: 90, Length: 10 * s, Succeeded: 1000},
		},
		"a lost pod never flatters": {
			[]*Snapshot{pod(0, 10*s, 1000), open, nil}, timings{Throughput: 140, Length: 10 * s, Succeeded: 1400},
		},
		"so far": {[]*Snapshot{open}, timings{Throughput: 100, Length: 4 * s, Succeeded: 400}},
		"bound by requests": {
			[]*Snapshot{requestBound(0, 10*s, 1000), requestBound(0, 5*s, 1000)},
			timings{Throughput: 200, Steady: 300, Length: 10 * s, Tail: 5 * s, Succeeded: 2000},
		},
		"bound by requests from the first start": {
			[]*Snapshot{requestBound(2*s, 10*s, 800), requestBound(0, 10*s, 1000)},
			timings{Throughput: 180, Steady: 200, Length: 10 * s, StartSkew: 2 * s, Succeeded: 1800},
		},
		"the rate while both had work": {
			[]*Snapshot{slowed, requestBound(0, 5*s, 1200)},
			timings{Throughput: 220, Steady: 400, Length: 10 * s, Tail: 5 * s, Succeeded: 2200},
		},
		"no time at which both had work": {
			[]*Snapshot{requestBound(0, 2*s, 100), requestBound(3*s, 5*s, 100)},
			timings{Throughput: 40, Length: 5 * s, Tail: 3 * s, StartSkew: 3 * s, Succeeded: 200},
		},
		"a clock that was set back makes no tail": {
			[]*Snapshot{requestBound(0, 10*s, 1000), requestBound(5*s, 1*s, 100)},
			timings{Throughput: 110, Steady: 100, Length: 10 * s, StartSkew: 5 * s, Succeeded: 1100},
		},
		"a clock that was set back": {[]*Snapshot{setBack}, timings{Succeeded: 100}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got := Summarize(tc.pods)
			if diff := cmp.Diff(tc.want, timings{
				got.Throughput, got.SteadyThroughput, got.Length, got.Tail, got.StartSkew, got.Succeeded,
			}); diff != "" {
				t.Errorf("timings (-want +got):\n%s", diff)
			}
			if got.Pods != len(tc.pods) {
				t.Errorf("summary of %d pods, wanted %d", got.Pods, len(tc.pods))
			}
		})
	}
}

// Each request counts once, and in the same percentiles, independent of the pod that sent it.
func TestSummaryDoesNotDependOnTheNumberOfPods(t *testing.T) {
	var want *Summary
	for _, pods := range []int{1, 2, 5} {
		all := make([]*Snapshot, pods)
		for i := range all {
			all[i] = pod(0, 10*time.Second, 0)
		}
		r := rand.New(rand.NewPCG(11, 11))
		for i := range 100_000 {
			put := all[i%pods].Operations[spec.OperationPut]
			put.Latency.Record(int64(1e6 + 1e7*r.ExpFloat64()))
			put.CompletedInWindow++
		}
		got := Summarize(all)
		got.Pods, got.Processes, got.Merged = 0, nil, nil
		if want == nil {
			want = &got
		}
		if diff := cmp.Diff(*want, got); diff != "" {
			t.Errorf("summary of %d pods (-of one +got):\n%s", pods, diff)
		}
	}
	if p99 := want.Operations[0].Latency.Values[spec.StatisticP99].Duration; want.Succeeded != 100_000 || p99 < 46*time.Millisecond || p99 > 48*time.Millisecond {
		t.Errorf("%d requests with a p99 of %v, wanted 100,000 around 47 ms", want.Succeeded, p99)
	}
}

func TestPartial(t *testing.T) {
	running, failed, bare := pod(0, time.Second, 1), pod(0, time.Second, 1), pod(0, time.Second, 1)
	running.Stage = StageDraining
	cleaning := pod(0, time.Second, 1)
	cleaning.Stage = StageCleaning
	failed.Failure = &Failure{Reason: FailurePodFailed}
	bare.Omitted = []string{OmittedOperations}
	whole := pod(0, time.Second, 1)
	tests := map[string]struct {
		pods []*Snapshot
		want bool
	}{
		"no pods":           {nil, true},
		"all":               {[]*Snapshot{whole, whole}, false},
		"one is missing":    {[]*Snapshot{whole, nil}, true},
		"one still drains":  {[]*Snapshot{whole, running}, true},
		"one deletes keys":  {[]*Snapshot{whole, cleaning}, false},
		"one failed":        {[]*Snapshot{whole, failed}, true},
		"one has no counts": {[]*Snapshot{whole, bare}, true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := Summarize(tc.pods).Partial; got != tc.want {
				t.Errorf("got %v, wanted %v", got, tc.want)
			}
		})
	}
}

func TestDistributions(t *testing.T) {
	s := pod(0, time.Second, 98)
	put := s.Operations[spec.OperationPut]
	put.Censored, put.Failed = recorded(2e9), recorded(5e6)
	put.Service = recorded(7e5)
	put.Lateness = recorded(1, 2, 3)
	put.Lateness.DropBuckets()
	put.Errors = map[string]uint64{"Unavailable": 1}

	got := Summarize([]*Snapshot{s}).Operations[0]
	values := map[string]Value{
		"median": got.Latency.Values[spec.StatisticP50], "p99": got.Latency.Values[spec.StatisticP99], "p99.9": got.Latency.Values[spec.StatisticP999],
		"judged p99": got.Judged.Values[spec.StatisticP99], "judged p99.9": got.Judged.Values[spec.StatisticP999],
		"service": got.Service.Values[spec.StatisticP999], "lateness": got.Lateness.Values[spec.StatisticMean],
	}
	want := map[string]Value{
		"median": {Duration: time.Millisecond}, "p99": {Duration: 2 * time.Second, AtLeast: true}, "p99.9": {Duration: 2 * time.Second, AtLeast: true},
		"judged p99": {Duration: 2 * time.Second, AtLeast: true}, "judged p99.9": {Unbounded: true},
		"service": {Duration: 7e5}, "lateness": {Duration: 2},
	}
	if diff := cmp.Diff(want, values, within028, cmpopts.IgnoreFields(Value{}, "Lowest", "Highest")); diff != "" {
		t.Errorf("values (-want +got):\n%s", diff)
	}
	if _, known := got.Lateness.Values[spec.StatisticP50]; known {
		t.Error("lateness has a median without buckets")
	}
	counts := []uint64{got.Succeeded, got.Failed, got.Censored, got.Latency.Count, got.Judged.Count, got.Errors["Unavailable"]}
	if diff := cmp.Diff([]uint64{98, 1, 1, 99, 100, 1}, counts); diff != "" {
		t.Errorf("counts (-want +got):\n%s", diff)
	}
}

// within028 compares durations with the allowed error of a percentile from buckets.
var within028 = cmp.Comparer(func(a, b time.Duration) bool {
	return math.Abs(float64(a-b)) <= 0.0028*float64(max(a, b))
})
