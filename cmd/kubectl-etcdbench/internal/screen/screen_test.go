package screen

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/benchmark"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

func runAt(stage string, percent int32) *v1alpha1.EtcdBenchmark {
	run := &v1alpha1.EtcdBenchmark{}
	run.Name = "puts"
	run.Spec.Load.Pods = 3
	run.Status.Conditions = []metav1.Condition{{Type: v1alpha1.ConditionFinished, Reason: stage, Message: "Some message."}}
	run.Status.Progress = &v1alpha1.Progress{
		Percent: percent, Requests: int64(percent), ThroughputPerSecond: "48123", Operation: spec.OperationPut, P99Microseconds: 25_100, ReadyPods: 3,
	}
	return run
}

// fakeClock is a clock that a test sets.
type fakeClock struct{ at time.Time }

func (c *fakeClock) now() time.Time { return c.at }

func TestLine(t *testing.T) {
	cases := map[string]struct {
		run  *v1alpha1.EtcdBenchmark
		want []string
	}{
		"no status":  {&v1alpha1.EtcdBenchmark{}, []string{"Pending"}},
		"preparing":  {runAt(v1alpha1.StagePreparing, 0), []string{"Preparing", "Some message."}},
		"running":    {runAt(v1alpha1.StageRunning, 50), []string{"Running", "[############------------]", "50%", "48,123/s", "Put p99 25.1ms", "3/3 pods"}},
		"measuring":  {measuring(), []string{"p99 25.1ms", "(last 2s: p50 1.5ms, p99 30ms)"}},
		"preloading": {preloading(), []string{"Preparing", "writing what the load needs: 406,291 of 1,000,000, 32,915/s", "0:19 left"}},
		"deleting":   {deleting(), []string{"deleting its keys: 406,291 of 1,000,000, 32,915/s", "0:19 left"}},
		"draining":   {inPhase(results.StageDraining), []string{"Running", " 50%", "waiting for the last responses"}},
		"cleaning":   {inPhase(results.StageCleaning), []string{"Running", " 50%", "deleting its keys"}},
		"all done":   {runAt(v1alpha1.StageCollecting, 100), []string{"Collecting", "[########################]", "100%"}},
		"completed":  {finished(v1alpha1.ReasonCompleted), []string{"Completed", "[########################]", "100%", "48,123/s"}},
		"could not":  {runAt(v1alpha1.ReasonTLSFailed, 0), []string{"TLSFailed", "Some message."}},
		"over a bar": {runAt(v1alpha1.StageRunning, 130), []string{"[########################]"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := line(tc.run, benchmark.Percent(tc.run))
			for _, want := range tc.want {
				if !strings.Contains(got, want) {
					t.Errorf("wanted %q in %q", want, got)
				}
			}
		})
	}
}

func preloading() *v1alpha1.EtcdBenchmark {
	run := inPhase(results.StagePreloading)
	run.Status.Conditions[0].Reason = v1alpha1.StagePreparing
	run.Status.Progress.Work = &v1alpha1.WorkProgress{Done: 406_291, Total: 1_000_000, PerSecond: "32915"}
	run.Status.Progress.SecondsLeft = new(int64(19))
	return run
}

func deleting() *v1alpha1.EtcdBenchmark {
	run := preloading()
	run.Status.Conditions[0].Reason = v1alpha1.StageCollecting
	for i := range run.Status.Pods {
		run.Status.Pods[i].Stage = string(results.StageCleaning)
	}
	return run
}

func measuring() *v1alpha1.EtcdBenchmark {
	run := inPhase(results.StageMeasuring)
	run.Status.Progress.Recent = &v1alpha1.RecentProgress{DurationMicroseconds: 2_000_000, P50Microseconds: 1500, P99Microseconds: 30_000}
	return run
}

// inPhase is a run with one pod in that stage and one that is done.
func inPhase(stage results.Stage) *v1alpha1.EtcdBenchmark {
	run := runAt(v1alpha1.StageRunning, 50)
	run.Status.Pods = []v1alpha1.PodStatus{{Stage: string(results.StageDone)}, {Stage: string(stage)}}
	return run
}

// Status keeps the stage of a pod that was lost while it deleted keys.
func TestAFinishedRunShowsNoRemainingWork(t *testing.T) {
	run := finished(v1alpha1.ReasonCompleted)
	run.Status.Pods = []v1alpha1.PodStatus{{Stage: string(results.StageCleaning)}}
	if got := line(run, benchmark.Percent(run)); strings.Contains(got, "deleting") {
		t.Errorf("got %q", got)
	}
}

// finished is a run with a result and without progress.
func finished(reason string) *v1alpha1.EtcdBenchmark {
	run := runAt(reason, 9)
	run.Status.Progress = nil
	run.Status.Summary = &v1alpha1.Summary{ThroughputPerSecond: "48123"}
	run.Status.Conditions[0].Status = metav1.ConditionTrue
	return run
}

func TestAStoppedRunShowsItsShare(t *testing.T) {
	cases := map[string]spec.Load{
		"of the requests": {Requests: new(int64(1000))},
		"of the time":     {DurationSeconds: new(int32(200))},
		"of the stages":   {Rate: &spec.Rate{Stages: []spec.RateStage{{Seconds: 150}, {Seconds: 50}}}},
	}
	for name, load := range cases {
		t.Run(name, func(t *testing.T) {
			run := finished(v1alpha1.ReasonStopped)
			run.Spec.Load = load
			run.Status.Summary.MeasuredRequests, run.Status.Summary.DurationMicroseconds = 90, 18_000_000
			if got := line(run, benchmark.Percent(run)); !strings.Contains(got, "[##----------------------]   9%") || !strings.Contains(got, "48,123/s") {
				t.Errorf("wanted 9 %% and what was measured, got %q", got)
			}
		})
	}
}

// What was measured can be less than what looked done. The bar stays where it was, until another run is shown.
func TestTheBarNeverGoesBack(t *testing.T) {
	var out strings.Builder
	clock := &fakeClock{at: time.Unix(0, 0)}
	s := newScreen(&out, nil, clock.now)
	show := func(run *v1alpha1.EtcdBenchmark) string {
		clock.at = clock.at.Add(spacing)
		out.Reset()
		s.Show(run)
		return out.String()
	}
	show(runAt(v1alpha1.StageRunning, 50))
	for _, run := range []*v1alpha1.EtcdBenchmark{runAt(v1alpha1.StageCollecting, 40), finished(v1alpha1.ReasonStopped)} {
		if got := show(run); !strings.Contains(got, " 50%") {
			t.Errorf("wanted 50 %%, got %q", got)
		}
	}
	other := runAt(v1alpha1.StageRunning, 10)
	other.UID = "other"
	if got := show(other); !strings.Contains(got, " 10%") {
		t.Errorf("wanted 10 %%, got %q", got)
	}
}

// The result has the reason why the run ended.
func TestTheReasonIsShownOnce(t *testing.T) {
	run := runAt(v1alpha1.ReasonTLSFailed, 0)
	run.Status.Conditions[0].Status = metav1.ConditionTrue
	if got := line(run, benchmark.Percent(run)); got != "TLSFailed" {
		t.Errorf("wanted the reason alone, got %q", got)
	}
}

func TestWithoutTerminalLinesAreFew(t *testing.T) {
	var out strings.Builder
	clock := &fakeClock{at: time.Unix(0, 0)}
	s := newScreen(&out, nil, clock.now)
	for percent := range int32(100) {
		s.Show(runAt(v1alpha1.StageRunning, percent))
		clock.at = clock.at.Add(100 * time.Millisecond)
	}
	for range 100 {
		clock.at = clock.at.Add(time.Second)
		s.draw()
	}
	s.Show(runAt(v1alpha1.ReasonCompleted, 100))
	s.Close()
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	// 5 lines in 10 s of changes, the last change and its three repetitions in 100 s, and the end.
	if len(lines) != 10 {
		t.Fatalf("wanted 10 lines, got %d:\n%s", len(lines), out.String())
	}
	if !strings.Contains(lines[0], "  0%") || !strings.Contains(lines[5], " 99%") || !strings.Contains(lines[8], " 99%") || !strings.Contains(lines[9], "Completed") {
		t.Errorf("the first, the last or the final state is missing:\n%s", out.String())
	}
	if strings.ContainsAny(out.String(), "\r\x1b") {
		t.Errorf("control characters without a terminal: %q", out.String())
	}
}

func TestWithTerminalOneLineIsRedrawn(t *testing.T) {
	var out strings.Builder
	clock := &fakeClock{at: time.Unix(0, 0)}
	s := newScreen(&out, func() int { return 40 }, clock.now)
	s.Show(runAt(v1alpha1.StageRunning, 10))
	clock.at = clock.at.Add(75 * time.Second)
	s.Show(runAt(v1alpha1.StageRunning, 20))
	s.Notice("Something to know.")
	s.Close()
	drawn := strings.Split(out.String(), clearLine)
	if strings.Count(out.String(), "\n") != 1 || !strings.Contains(out.String(), "Something to know.\n") {
		t.Errorf("wanted only the notice to stay, got %q", out.String())
	}
	for _, d := range drawn {
		if n := len([]rune(d)); n > 39 {
			t.Errorf("a line of %d cells would wrap: %q", n, d)
		}
	}
	if !strings.HasPrefix(drawn[2], "1:15") || drawn[len(drawn)-1] != "" {
		t.Errorf("wanted the time in front and an empty line at the end, got %q", drawn)
	}
}
