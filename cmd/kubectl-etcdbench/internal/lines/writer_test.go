package lines

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// clockedWriter is a writer with a clock that the test sets.
type clockedWriter struct {
	*Writer
	out strings.Builder
	at  time.Time
}

func newClockedWriter(interval time.Duration) *clockedWriter {
	w := &clockedWriter{at: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}
	w.Writer = New(&w.out, interval)
	w.now = func() time.Time { return w.at }
	return w
}

// after moves the clock and shows a run.
func (w *clockedWriter) after(d time.Duration, run *v1alpha1.EtcdBenchmark) {
	w.at = w.at.Add(d)
	w.Show(run)
}

func (w *clockedWriter) lines(t *testing.T) []line {
	t.Helper()
	var out []line
	for text := range strings.Lines(w.out.String()) {
		var l line
		if err := json.Unmarshal([]byte(text), &l); err != nil {
			t.Fatalf("%v in the line %s", err, text)
		}
		out = append(out, l)
	}
	return out
}

func state(reason string, phase results.Stage, change func(*v1alpha1.EtcdBenchmarkStatus)) *v1alpha1.EtcdBenchmark {
	run := &v1alpha1.EtcdBenchmark{ObjectMeta: metav1.ObjectMeta{Namespace: "etcd", Name: "puts"}}
	run.Status.Conditions = []metav1.Condition{{Type: v1alpha1.ConditionFinished, Status: metav1.ConditionFalse, Reason: reason}}
	run.Status.Pods = []v1alpha1.PodStatus{{Stage: string(phase)}}
	if change != nil {
		change(&run.Status)
	}
	return run
}

func measuring(requests, failed int64) *v1alpha1.EtcdBenchmark {
	return state(v1alpha1.StageRunning, results.StageMeasuring, func(s *v1alpha1.EtcdBenchmarkStatus) {
		s.Progress = &v1alpha1.Progress{Requests: requests, StartedRequests: requests + 5, FailedRequests: failed, P99Microseconds: 99, Recent: &v1alpha1.RecentProgress{DurationMicroseconds: 500_000, P99Microseconds: 77}}
	})
}

func TestLinesComeInIntervalsAndWithChanges(t *testing.T) {
	w := newClockedWriter(time.Second)
	w.after(0, state(v1alpha1.StagePreparing, results.StageConnecting, nil))
	w.after(100*time.Millisecond, state(v1alpha1.StagePreparing, results.StageConnecting, nil))
	w.after(100*time.Millisecond, state(v1alpha1.StageRunning, results.StageWarmingUp, nil))
	w.after(100*time.Millisecond, measuring(100, 0))
	w.after(500*time.Millisecond, measuring(500, 0))
	w.after(500*time.Millisecond, measuring(1100, 10))
	var got []string
	for _, l := range w.lines(t) {
		got = append(got, l.State+" "+string(l.Stage))
	}
	want := []string{"Preparing Connecting", "Running WarmingUp", "Running Measuring", "Running Measuring"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatalf("lines (-want +got):\n%s", diff)
	}
	last := w.lines(t)[3]
	if last.Run != "etcd/puts" || *last.Started != 1105 || *last.Completed != 1100 || *last.Failed != 10 || last.P99Microseconds != 99 {
		t.Errorf("wanted the numbers so far, got %+v", last)
	}
	if last.Recent == nil || last.Recent.P99Microseconds != 77 {
		t.Errorf("wanted the newest requests beside those so far, got %+v", last.Recent)
	}
	if rate := last.IntervalThroughputPerSecond; rate == nil || *rate != 990 {
		t.Errorf("wanted 990 successes in the second since the line before, got %+v", last)
	}
	if first := w.lines(t)[2]; first.IntervalThroughputPerSecond != nil {
		t.Errorf("the interval before the window has a rate: %+v", first)
	}
}

// A state can be shown again with the same numbers, because a watch ended or another field changed. That is no new
// measurement.
func TestARateNeedsNewNumbers(t *testing.T) {
	w := newClockedWriter(time.Second)
	w.after(0, state(v1alpha1.StageRunning, results.StageWarmingUp, func(s *v1alpha1.EtcdBenchmarkStatus) { s.Progress = &v1alpha1.Progress{} }))
	w.after(time.Second, measuring(0, 0))
	w.after(time.Second, measuring(1_000, 0))
	w.after(time.Second, measuring(1_000, 0))
	w.after(900*time.Millisecond, measuring(3_900, 0))
	w.after(200*time.Millisecond, measuring(3_900, 0))
	w.after(900*time.Millisecond, measuring(4_900, 0))
	w.after(updateTime, measuring(4_900, 0))
	var got []float64
	for _, l := range w.lines(t) {
		if l.IntervalThroughputPerSecond == nil {
			got = append(got, -1)
			continue
		}
		got = append(got, *l.IntervalThroughputPerSecond)
	}
	// 2,900 in 1.9 s, 1,000 in the next 1.1 s, then none.
	if diff := cmp.Diff([]float64{-1, -1, 1_000, -1, 1_526.315, 909.09, 0}, got); diff != "" {
		t.Errorf("rates, -1 for an absent rate (-want +got):\n%s", diff)
	}
}

// An operator with many runs updates each one less often.
func TestARareUpdateIsNoStandstill(t *testing.T) {
	rare := func(requests int64) *v1alpha1.EtcdBenchmark {
		run := measuring(requests, 0)
		run.Status.Progress.Recent.DurationMicroseconds = (2 * updateTime).Microseconds()
		return run
	}
	w := newClockedWriter(time.Second)
	w.after(0, rare(1_000))
	w.after(2*updateTime, rare(11_000))
	w.after(updateTime+time.Second, rare(11_000))
	w.after(updateTime-time.Second, rare(21_000))
	w.after(4*updateTime, rare(21_000))
	var got []float64
	for _, l := range w.lines(t) {
		if rate := l.IntervalThroughputPerSecond; rate != nil {
			got = append(got, *rate)
		}
	}
	if diff := cmp.Diff([]float64{1_000, 1_000, 0}, got); diff != "" {
		t.Errorf("rates (-want +got):\n%s", diff)
	}
}

// A state that is a little early or late neither delays a line nor shifts the lines after it.
func TestLinesKeepTheirInterval(t *testing.T) {
	w := newClockedWriter(time.Second)
	begin, last := w.at, 0
	for _, at := range []int{0, 501, 1000, 1501, 1999, 2499, 3001, 3500, 3999, 4600, 5100, 5500, 5998} {
		w.after(time.Duration(at-last)*time.Millisecond, measuring(int64(at), 0))
		last = at
	}
	var got []int64
	for _, l := range w.lines(t) {
		got = append(got, l.Time.Sub(begin).Milliseconds())
	}
	if diff := cmp.Diff([]int64{0, 1000, 1999, 3001, 3999, 5100, 5998}, got); diff != "" {
		t.Errorf("times of lines, in ms (-want +got):\n%s", diff)
	}
}

func TestTheLastLineHasTheResult(t *testing.T) {
	for reason, wantPercent := range map[string]int32{v1alpha1.ReasonCompleted: 100, v1alpha1.ReasonStopped: 25} {
		partial := reason == v1alpha1.ReasonStopped
		w := newClockedWriter(time.Hour)
		w.after(0, measuring(100, 0))
		end := state(reason, results.StageDone, func(s *v1alpha1.EtcdBenchmarkStatus) {
			s.Conditions[0].Status = metav1.ConditionTrue
			s.Summary = &v1alpha1.Summary{
				Partial: partial, ThroughputPerSecond: "0.0166", MeasuredRequests: 210, StartedRequests: 205, CensoredRequests: 10, LateRequests: new(int64(7)), FailedRequests: 3,
				Operations: []v1alpha1.OperationSummary{
					{Operation: spec.OperationPut, Latency: &v1alpha1.LatencySummary{P99Microseconds: 7, MaxMicroseconds: 70}},
					{Operation: spec.OperationRange, Latency: &v1alpha1.LatencySummary{
						P99Microseconds: 9, MaxMicroseconds: 50, AtLeast: []spec.Statistic{spec.StatisticMax, spec.StatisticP95},
					}},
					{Operation: spec.OperationWatchEvent, Latency: &v1alpha1.LatencySummary{P99Microseconds: 99, MaxMicroseconds: 99}},
				},
			}
		})
		end.Spec.Load.Requests = new(int64(840))
		w.after(0, end)
		w.after(time.Hour, end)
		lines := w.lines(t)
		if len(lines) != 2 {
			t.Fatalf("wanted one line more, found %d lines", len(lines))
		}
		got := lines[1]
		if !got.Final || got.Partial != partial || got.Percent != wantPercent || *got.Started != 205 || *got.Completed != 200 || got.Censored != 10 || *got.Late != 7 {
			t.Errorf("wanted the result of a run that is over, got %+v", got)
		}
		if *got.ThroughputPerSecond != 0.0166 {
			t.Errorf("wanted 0.0166 requests per second, got %v", *got.ThroughputPerSecond)
		}
		if got.P99Microseconds != 9 || got.MaxMicroseconds != 50 || got.Summary == nil || len(got.Summary.Operations) != 3 {
			t.Errorf("wanted the percentiles of the slowest kind of request, and all of the summary, got %+v", got)
		}
		if got.Operation != spec.OperationRange || !slices.Equal(got.AtLeast, []spec.Statistic{spec.StatisticMax}) {
			t.Errorf("wanted the maximum of the reads as a lower bound, got that of %s and %v", got.Operation, got.AtLeast)
		}
	}
}

// A zero would look like a measured number.
func TestALineOmitsUnknownNumbers(t *testing.T) {
	noPod, beforeTheWindow := state(v1alpha1.StagePreparing, "", nil), measuring(0, 0)
	beforeTheWindow.Status.Progress = &v1alpha1.Progress{}
	unmeasured := state(v1alpha1.ReasonStopped, results.StageDone, func(s *v1alpha1.EtcdBenchmarkStatus) { s.Conditions[0].Status = metav1.ConditionTrue })
	counts, percentiles := []string{"started", "completed", "failed"}, []string{"throughputPerSecond", "p50Microseconds", "p999Microseconds", "maxMicroseconds"}
	cases := map[string]struct {
		run     *v1alpha1.EtcdBenchmark
		absent  []string
		present []string
	}{
		"no pod has reported": {noPod, append(counts, percentiles...), []string{"percent"}},
		"before the window":   {beforeTheWindow, percentiles, counts},
		"nothing measured":    {unmeasured, append(counts, percentiles...), []string{"final", "partial", "percent"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := newClockedWriter(0)
			w.Show(tc.run)
			var got map[string]any
			if err := json.Unmarshal([]byte(w.out.String()), &got); err != nil {
				t.Fatal(err)
			}
			for _, field := range tc.absent {
				if value, ok := got[field]; ok {
					t.Errorf("%s is %v, wanted it to be absent", field, value)
				}
			}
			for _, field := range tc.present {
				if _, ok := got[field]; !ok {
					t.Errorf("%s is absent in %v", field, got)
				}
			}
		})
	}
}

// full fails every write.
type full struct{ writes int }

func (f *full) Write([]byte) (int, error) {
	f.writes++
	return 0, errors.New("no space left")
}

func TestNothingIsWrittenAfterAnError(t *testing.T) {
	out := &full{}
	w := New(out, 0)
	w.Show(measuring(1, 0))
	w.Show(measuring(2, 0))
	if out.writes != 1 || w.Err() == nil {
		t.Errorf("wanted one write and its error, found %d writes and %v", out.writes, w.Err())
	}
}
