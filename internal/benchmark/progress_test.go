package benchmark

import (
	"slices"
	"testing"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

func forSeconds(seconds int32) func(*v1alpha1.EtcdBenchmark) {
	return func(b *v1alpha1.EtcdBenchmark) {
		b.Spec.Load.Requests, b.Spec.Load.DurationSeconds = nil, &seconds
	}
}

// inWindow has the pod measure a window of 4 s, of which this much has passed.
func inWindow(passed time.Duration) func(*results.Snapshot) {
	return func(s *results.Snapshot) {
		s.Stage = results.StageMeasuring
		s.Window.End = time.Time{}
		s.Window.Planned, s.Window.PlannedRequests = 4*time.Second, 0
		s.Window.LastResponse = s.Window.Start.Add(passed)
	}
}

// endedAfter has the window end before its last response.
func endedAfter(length time.Duration) func(*results.Snapshot) {
	return func(s *results.Snapshot) { s.Window.End = s.Window.Start.Add(length) }
}

func TestProgress(t *testing.T) {
	stopped := func(s *results.Snapshot) { s.Stopped = true }
	early := func(s *results.Snapshot) { s.Stage, s.Stopped = results.StageDone, true }
	unmeasured := func(s *results.Snapshot) { s.Window = results.Window{} }
	cases := map[string]struct {
		run         *v1alpha1.EtcdBenchmark
		snaps       []*results.Snapshot
		wantPercent int32
		wantReady   int32
	}{
		"nothing known":                      {putRun(), []*results.Snapshot{nil, nil}, 0, 0},
		"one pod is ready":                   {putRun(), []*results.Snapshot{measured(0, 0, unmeasured, atStage(results.StageReady)), measured(1, 0, unmeasured, atStage(results.StagePreloading))}, 0, 1},
		"requests bound the run":             {putRun(), []*results.Snapshot{measured(0, 100, atStage(results.StageMeasuring)), measured(1, 150, atStage(results.StageMeasuring))}, 25, 2},
		"time bounds the run":                {putRun(forSeconds(4)), []*results.Snapshot{measured(0, 10, inWindow(2*time.Second)), measured(1, 10, inWindow(time.Second))}, 25, 2},
		"time bounds the run, one not begun": {putRun(forSeconds(4)), []*results.Snapshot{measured(0, 10, inWindow(time.Second)), measured(1, 0, unmeasured, atStage(results.StageWarmingUp))}, 0, 2},
		"time is up":                         {putRun(forSeconds(4)), []*results.Snapshot{measured(0, 10), measured(1, 10, atStage(results.StageDraining))}, 100, 2},
		"stopped while answers are late":     {putRun(forSeconds(4)), []*results.Snapshot{measured(0, 10, inWindow(3*time.Second), endedAfter(time.Second), stopped, atStage(results.StageDraining))}, 25, 1},
		"stopped before time was up":         {putRun(forSeconds(4)), []*results.Snapshot{measured(0, 10, inWindow(time.Second), early), measured(1, 10, inWindow(2*time.Second), early)}, 25, 2},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := Progress(tc.run, tc.snaps)
			if got.Percent != tc.wantPercent || got.ReadyPods != tc.wantReady {
				t.Errorf("wanted %d %% and %d ready pods, got %+v", tc.wantPercent, tc.wantReady, got)
			}
		})
	}
}

func TestPod(t *testing.T) {
	snap := measured(3, 5, failing(2, "Unavailable", time.Millisecond), cutOff(1, time.Second))
	snap.Window.Skew = 1500 * time.Microsecond
	snap.Failure = &results.Failure{Reason: results.FailurePodFailed, Message: string(make([]rune, 5000))}
	got := Pod(snap)
	if got.Index != 3 || got.MeasuredRequests != 8 || got.StartSkewMicroseconds != 1500 || !got.KeysDeleted || got.Stage != "Done" {
		t.Errorf("got %+v", got)
	}
	if n := len([]rune(got.Message)); n > 1024 {
		t.Errorf("wanted a message of at most 1024 characters, got %d", n)
	}
}

func TestDisplay(t *testing.T) {
	summary := Summary(putRun(), results.Summarize([]*results.Snapshot{measured(0, 100), measured(1, 100, cutOff(20, time.Minute))}))
	done := []v1alpha1.PodStatus{{Index: 0, Stage: "Done"}, {Index: 1, Stage: "Done", Partial: true}}
	cases := map[string]struct {
		status v1alpha1.EtcdBenchmarkStatus
		want   *v1alpha1.Display
	}{
		"nothing yet":      {v1alpha1.EtcdBenchmarkStatus{}, nil},
		"pods are started": {v1alpha1.EtcdBenchmarkStatus{Progress: &v1alpha1.Progress{ReadyPods: 1}}, &v1alpha1.Display{Pods: "1/2"}},
		"while it runs": {
			v1alpha1.EtcdBenchmarkStatus{Progress: &v1alpha1.Progress{ReadyPods: 2, Requests: 9, ThroughputPerSecond: 48123, P99Microseconds: 25_100}},
			&v1alpha1.Display{Pods: "2/2", Throughput: "48,123/s", P99: "25.1ms", Errors: "0"},
		},
		"while all fail": {
			v1alpha1.EtcdBenchmarkStatus{Progress: &v1alpha1.Progress{ReadyPods: 2, Requests: 9, FailedRequests: 9}},
			&v1alpha1.Display{Pods: "2/2", Throughput: "0/s", Errors: "9"},
		},
		"while it ends": {
			v1alpha1.EtcdBenchmarkStatus{Progress: &v1alpha1.Progress{
				ReadyPods: 2, Requests: 9, ThroughputPerSecond: 48123, P99Microseconds: 25_100, AtLeast: []v1alpha1.LatencyStatistic{v1alpha1.StatisticP99},
			}},
			&v1alpha1.Display{Pods: "2/2", Throughput: "48,123/s", P99: "≥25.1ms", Errors: "0"},
		},
		"with a result": {
			v1alpha1.EtcdBenchmarkStatus{Summary: summary, Pods: done},
			&v1alpha1.Display{Pods: "1/2", Throughput: "200/s", P99: "≥60s", Errors: "0"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			b := putRun()
			b.Status = tc.status
			got := Display(b)
			if (got == nil) != (tc.want == nil) || got != nil && *got != *tc.want {
				t.Errorf("wanted %+v, got %+v", tc.want, got)
			}
		})
	}
}

func TestProgressHasWhatStartedAndEnded(t *testing.T) {
	snap := measured(0, 100, atStage(results.StageMeasuring), failing(3, "Unavailable", time.Millisecond))
	snap.Started = 110
	got := Progress(putRun(), []*results.Snapshot{snap, nil})
	if got.StartedRequests != 110 || got.Requests != 103 || got.FailedRequests != 3 {
		t.Errorf("wanted 110 started, 103 ended and 3 failed requests, got %+v", got)
	}
	ascending := []int64{1, got.P50Microseconds, got.P90Microseconds, got.P99Microseconds, got.P999Microseconds, got.MaxMicroseconds}
	if !slices.IsSorted(ascending) || got.P50Microseconds == got.P90Microseconds || got.MaxMicroseconds != 100_000 {
		t.Errorf("wanted percentiles up to 100 ms, got %v", ascending)
	}
}

// mixed adds reads that are slower than the puts at the middle and faster at the
// tail, and events that are slower than both.
func mixed(s *results.Snapshot) {
	read := &results.OperationResult{Errors: map[string]uint64{}}
	event := &results.OperationResult{Errors: map[string]uint64{}}
	for range 100 {
		read.Latency.Record((70 * time.Millisecond).Nanoseconds())
		event.Latency.Record(time.Hour.Nanoseconds())
	}
	s.Operations[results.OperationRange], s.Operations[results.OperationWatchEvent] = read, event
}

func TestProgressHasThePercentilesOfOneKindOfRequest(t *testing.T) {
	s := measured(0, 100, mixed, cutOff(1, time.Second), atStage(results.StageMeasuring))
	got := Progress(putRun(), []*results.Snapshot{s, nil})
	if got.Operation != v1alpha1.OperationPut {
		t.Errorf("the percentiles are of %q, wanted those of the puts, which have the highest of all", got.Operation)
	}
	if p50 := time.Duration(got.P50Microseconds) * time.Microsecond; p50 > 60*time.Millisecond || got.MaxMicroseconds != 1_000_000 {
		t.Errorf("wanted a median of 51 ms and a maximum of 1 s, got %v and %d µs", p50, got.MaxMicroseconds)
	}
	if want := []v1alpha1.LatencyStatistic{v1alpha1.StatisticMax, v1alpha1.StatisticP999}; !slices.Equal(got.AtLeast, want) {
		t.Errorf("lower bounds are %v, wanted %v", got.AtLeast, want)
	}
}

func TestDisplayShowsNoEvents(t *testing.T) {
	b := putRun()
	b.Status.Summary = Summary(b, results.Summarize([]*results.Snapshot{measured(0, 100, mixed)}))
	if got := Display(b).P99; got != "98.8ms" {
		t.Errorf("p99 is %s, wanted that of the puts", got)
	}
}

func TestPhaseIsThatOfTheLastPod(t *testing.T) {
	for want, stages := range map[results.Stage][]string{
		"":                      {"", "unheard of"},
		results.StageMeasuring:  {string(results.StageDone), "", string(results.StageMeasuring)},
		results.StageConnecting: {string(results.StageConnecting), string(results.StageReady)},
		results.StageDone:       {string(results.StageDone)},
	} {
		run := putRun()
		for _, s := range stages {
			run.Status.Pods = append(run.Status.Pods, v1alpha1.PodStatus{Stage: s})
		}
		if got := Phase(run); got != want {
			t.Errorf("%v: wanted %q, got %q", stages, want, got)
		}
	}
}
