package lines

import (
	"math"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/benchmark"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// line is a state of a run. Counts and percentiles are those of the measured window so far.
type line struct {
	Time time.Time `json:"time"`
	// Run is namespace/name.
	Run string `json:"run"`
	// State is the reason of the condition Finished. Stage is the earliest stage of any client pod.
	State   string        `json:"state"`
	Stage   results.Stage `json:"stage,omitempty"`
	Percent int32         `json:"percent"`

	// Started requests were sent. Completed requests ended; Failed of them failed. All three are absent until a pod
	// reports. Censored requests were unanswered at the end. Late requests were sent late enough to distort the
	// latency.
	Started   *int64 `json:"started,omitempty"`
	Completed *int64 `json:"completed,omitempty"`
	Failed    *int64 `json:"failed,omitempty"`
	Censored  int64  `json:"censored,omitempty"`
	Late      *int64 `json:"late,omitempty"`

	// ThroughputPerSecond is absent before the measured window.
	ThroughputPerSecond *float64 `json:"throughputPerSecond,omitempty"`
	// IntervalThroughputPerSecond is the rate between the numbers of the previous line and those of this line. It is
	// absent unless both are of the measured window and this line has newer numbers.
	IntervalThroughputPerSecond *float64 `json:"intervalThroughputPerSecond,omitempty"`

	// Operation is the slowest kind of request; the fields below are its latency. An unknown percentile is absent.
	// AtLeast has the percentiles that are lower bounds.
	Operation spec.Operation `json:"operation,omitempty"`

	P50Microseconds  int64 `json:"p50Microseconds,omitempty"`
	P90Microseconds  int64 `json:"p90Microseconds,omitempty"`
	P99Microseconds  int64 `json:"p99Microseconds,omitempty"`
	P999Microseconds int64 `json:"p999Microseconds,omitempty"`
	MaxMicroseconds  int64 `json:"maxMicroseconds,omitempty"`

	AtLeast []spec.Statistic `json:"atLeast,omitempty"`

	// Work is the preload or the deletion. SecondsLeft is an estimate for the stage.
	Work        *v1alpha1.WorkProgress `json:"work,omitempty"`
	SecondsLeft *int64                 `json:"secondsLeft,omitempty"`

	// Recent has the successes of Operation between the two newest updates of the numbers.
	Recent *v1alpha1.RecentProgress `json:"recent,omitempty"`

	// Final: the run has finished. Partial: its measurement is incomplete or missing.
	Final   bool              `json:"final,omitempty"`
	Partial bool              `json:"partial,omitempty"`
	Summary *v1alpha1.Summary `json:"summary,omitempty"`

	// since is the time at which the numbers last changed.
	since time.Time
}

// lineOf is the line of a run at a time, without the fields that depend on the previous line.
func lineOf(run *v1alpha1.EtcdBenchmark, now time.Time) line {
	l := line{
		Time: now.UTC().Truncate(time.Millisecond), Run: run.Namespace + "/" + run.Name,
		State: v1alpha1.StagePending, Stage: benchmark.Phase(run),
		Percent: benchmark.Percent(run), Partial: benchmark.IsPartial(run),
	}
	if c := meta.FindStatusCondition(run.Status.Conditions, v1alpha1.ConditionFinished); c != nil {
		l.State, l.Final = c.Reason, c.Status == metav1.ConditionTrue
	}
	switch {
	case run.Status.Summary != nil:
		l.setSummary(run.Status.Summary)
	case run.Status.Progress != nil:
		l.setProgress(run.Status.Progress)
	}
	if p := run.Status.Progress; p != nil {
		l.Recent, l.Work, l.SecondsLeft = p.Recent, p.Work, p.SecondsLeft
	}
	return l
}

func (l *line) setProgress(p *v1alpha1.Progress) {
	l.Started, l.Completed, l.Failed = &p.StartedRequests, &p.Requests, &p.FailedRequests
	if p.StartedRequests > 0 {
		l.ThroughputPerSecond = new(p.ThroughputPerSecond.Float64())
	}
	l.setLatency(p)
}

func (l *line) setLatency(p *v1alpha1.Progress) {
	l.Operation, l.AtLeast = p.Operation, p.AtLeast
	l.P50Microseconds, l.P90Microseconds = p.P50Microseconds, p.P90Microseconds
	l.P99Microseconds, l.P999Microseconds = p.P99Microseconds, p.P999Microseconds
	l.MaxMicroseconds = p.MaxMicroseconds
}

func (l *line) setSummary(s *v1alpha1.Summary) {
	l.Summary = s
	l.Started, l.Failed, l.Censored = &s.StartedRequests, &s.FailedRequests, s.CensoredRequests
	l.Late = s.LateRequests
	l.Completed = new(s.MeasuredRequests - s.CensoredRequests)
	l.ThroughputPerSecond = new(s.ThroughputPerSecond.Float64())
	l.setLatency(benchmark.LatencyOf(s))
}

// updateTime is the shortest time in which two updates of the numbers of a run must have come.
const updateTime = 5 * time.Second

// date sets the time at which the numbers last changed. A state that is shown again has the numbers of before. If they
// have not changed in the time of two updates, no request has succeeded since, and the rate is 0.
func (l *line) date(before line) {
	same := l.Stage == before.Stage && equal(l.Started, before.Started) && l.succeeded() == before.succeeded()
	if l.since = l.Time; same && l.Time.Sub(before.since) < l.twoUpdates() {
		l.since = before.since
	}
}

// twoUpdates is updateTime, or longer if the operator, busy with many runs, has updated this one less often.
func (l *line) twoUpdates() time.Duration {
	if l.Recent == nil {
		return updateTime
	}
	return max(updateTime, 2*time.Duration(l.Recent.DurationMicroseconds)*time.Microsecond)
}

func equal(a, b *int64) bool { return a == b || a != nil && b != nil && *a == *b }

// follow sets the fields that depend on the previous line.
func (l *line) follow(before line) {
	const measuring = results.StageMeasuring
	elapsed := l.since.Sub(before.since).Seconds()
	if l.Stage != measuring || before.Stage != measuring || elapsed <= 0 {
		return
	}
	rate := float64(max(l.succeeded()-before.succeeded(), 0)) / elapsed
	l.IntervalThroughputPerSecond = new(math.Floor(1000*rate) / 1000)
}

// succeeded is the number of requests that succeeded, 0 if it is unknown.
func (l *line) succeeded() int64 {
	if l.Completed == nil {
		return 0
	}
	return *l.Completed - *l.Failed
}
