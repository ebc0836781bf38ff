package benchmark

import (
	"slices"
	"testing"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
	"github.com/etcdbench/etcd-benchmark-operator/internal/runtest"
)

func forSeconds(seconds int32) func(*v1alpha1.EtcdBenchmark) {
	return func(b *v1alpha1.EtcdBenchmark) {
		b.Spec.Load.Requests, b.Spec.Load.DurationSeconds = nil, &seconds
	}
}

// inWindow puts the pod into a window of 4 s, this long after its start.
func inWindow(passed time.Duration) func(*results.Snapshot) {
	return func(s *results.Snapshot) {
		s.Stage = results.StageMeasuring
		s.Window.End = time.Time{}
		s.Window.Planned, s.Window.PlannedRequests = 4*time.Second, 0
		s.Window.LastResponse = s.Window.Start.Add(passed)
	}
}

// atStage sets the pod's stage.
func atStage(stage results.Stage) func(*results.Snapshot) {
	return func(s *results.Snapshot) { s.Stage = stage }
}

// endedAfter ends the window before its last response.
func endedAfter(length time.Duration) func(*results.Snapshot) {
	return func(s *results.Snapshot) { s.Window.End = s.Window.Start.Add(length) }
}

func progressOf(run *v1alpha1.EtcdBenchmark, snaps []*results.Snapshot) *v1alpha1.Progress {
	return Progress(run, results.Summarize(snaps), snaps)
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
		"nothing known":                      {runtest.Puts(), []*results.Snapshot{nil, nil}, 0, 0},
		"one pod is ready":                   {runtest.Puts(), []*results.Snapshot{runtest.Measured(0, 0, unmeasured, atStage(results.StageReady)), runtest.Measured(1, 0, unmeasured, atStage(results.StagePreloading))}, 0, 1},
		"requests bound the run":             {runtest.Puts(), []*results.Snapshot{runtest.Measured(0, 100, atStage(results.StageMeasuring)), runtest.Measured(1, 150, atStage(results.StageMeasuring))}, 25, 2},
		"time bounds the run":                {runtest.Puts(forSeconds(4)), []*results.Snapshot{runtest.Measured(0, 10, inWindow(2*time.Second)), runtest.Measured(1, 10, inWindow(time.Second))}, 25, 2},
		"time bounds the run, one not begun": {runtest.Puts(forSeconds(4)), []*results.Snapshot{runtest.Measured(0, 10, inWindow(time.Second)), runtest.Measured(1, 0, unmeasured, atStage(results.StageWarmingUp))}, 0, 2},
		"time is up":                         {runtest.Puts(forSeconds(4)), []*results.Snapshot{runtest.Measured(0, 10), runtest.Measured(1, 10, atStage(results.StageDraining))}, 100, 2},
		"stopped while answers are late":     {runtest.Puts(forSeconds(4)), []*results.Snapshot{runtest.Measured(0, 10, inWindow(3*time.Second), endedAfter(time.Second), stopped, atStage(results.StageDraining))}, 25, 1},
		"stopped before time was up":         {runtest.Puts(forSeconds(4)), []*results.Snapshot{runtest.Measured(0, 10, inWindow(time.Second), early), runtest.Measured(1, 10, inWindow(2*time.Second), early)}, 25, 2},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := progressOf(tc.run, tc.snaps)
			if got.Percent != tc.wantPercent || got.ReadyPods != tc.wantReady {
				t.Errorf("wanted %d %% and %d ready pods, got %+v", tc.wantPercent, tc.wantReady, got)
			}
		})
	}
}

// The end of a window can turn out to be earlier than it looked.
func TestTheShareThatIsDoneNeverFalls(t *testing.T) {
	run := runtest.Puts(forSeconds(4))
	for _, tc := range []struct {
		change []func(*results.Snapshot)
		want   int32
	}{
		{[]func(*results.Snapshot){inWindow(time.Second)}, 25},
		{[]func(*results.Snapshot){inWindow(3 * time.Second)}, 75},
		{[]func(*results.Snapshot){inWindow(3 * time.Second), endedAfter(2 * time.Second), func(s *results.Snapshot) { s.Stopped = true }, atStage(results.StageDraining)}, 75},
	} {
		run.Status.Progress = progressOf(run, []*results.Snapshot{runtest.Measured(0, 10, tc.change...)})
		if got := run.Status.Progress.Percent; got != tc.want {
			t.Errorf("wanted %d %%, got %d", tc.want, got)
		}
	}
}

func TestPod(t *testing.T) {
	snap := runtest.Measured(3, 5, runtest.Failing(2, "Unavailable", time.Millisecond), runtest.CutOff(1, time.Second))
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

func TestProgressHasWhatStartedAndEnded(t *testing.T) {
	snap := runtest.Measured(0, 100, atStage(results.StageMeasuring), runtest.Failing(3, "Unavailable", time.Millisecond))
	snap.Started = 110
	got := progressOf(runtest.Puts(), []*results.Snapshot{snap, nil})
	if got.StartedRequests != 110 || got.Requests != 103 || got.FailedRequests != 3 {
		t.Errorf("wanted 110 started, 103 ended and 3 failed requests, got %+v", got)
	}
	ascending := []int64{1, got.P50Microseconds, got.P90Microseconds, got.P99Microseconds, got.P999Microseconds, got.MaxMicroseconds}
	if !slices.IsSorted(ascending) || got.P50Microseconds == got.P90Microseconds || got.MaxMicroseconds != 100_000 {
		t.Errorf("wanted percentiles up to 100 ms, got %v", ascending)
	}
}

// mixed adds reads with a higher median and a lower tail than the puts, and events that are slower than both.
func mixed(s *results.Snapshot) {
	read := &results.OperationResult{Errors: map[string]uint64{}}
	event := &results.OperationResult{Errors: map[string]uint64{}}
	for range 100 {
		read.Latency.Record((70 * time.Millisecond).Nanoseconds())
		event.Latency.Record(time.Hour.Nanoseconds())
	}
	s.Operations[spec.OperationRange], s.Operations[spec.OperationWatchEvent] = read, event
}

func TestProgressHasThePercentilesOfOneKindOfRequest(t *testing.T) {
	s := runtest.Measured(0, 100, mixed, runtest.CutOff(1, time.Second), atStage(results.StageMeasuring))
	got := progressOf(runtest.Puts(), []*results.Snapshot{s, nil})
	if got.Operation != spec.OperationPut {
		t.Errorf("the percentiles are of %q, wanted those of the puts, which have the highest of all", got.Operation)
	}
	if p50 := time.Duration(got.P50Microseconds) * time.Microsecond; p50 > 60*time.Millisecond || got.MaxMicroseconds != 1_000_000 {
		t.Errorf("wanted a median of 51 ms and a maximum of 1 s, got %v and %d µs", p50, got.MaxMicroseconds)
	}
	if want := []spec.Statistic{spec.StatisticMax, spec.StatisticP999}; !slices.Equal(got.AtLeast, want) {
		t.Errorf("lower bounds are %v, wanted %v", got.AtLeast, want)
	}
}

func TestPhaseIsThatOfTheLastPod(t *testing.T) {
	for want, stages := range map[results.Stage][]string{
		"":                      {"", "unknown stage"},
		results.StageMeasuring:  {string(results.StageDone), "", string(results.StageMeasuring)},
		results.StageConnecting: {string(results.StageConnecting), string(results.StageReady)},
		results.StageDone:       {string(results.StageDone)},
	} {
		run := runtest.Puts()
		for _, s := range stages {
			run.Status.Pods = append(run.Status.Pods, v1alpha1.PodStatus{Stage: s})
		}
		if got := Phase(run); got != want {
			t.Errorf("%v: wanted %q, got %q", stages, want, got)
		}
	}
}
