package render

import (
	"strings"
	"testing"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/internal/benchmark"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
	"github.com/etcdbench/etcd-benchmark-operator/internal/runtest"
)

// The course shows a stall at its time, and no false stall at the end.
func TestTheTableShowsTheCourse(t *testing.T) {
	timeline := &benchmark.Timeline{IntervalSeconds: 0.1}
	for i := range 101 {
		p := benchmark.TimelinePoint{Succeeded: 100, MaxLatencyMicroseconds: 2000}
		if i == 40 || i == 41 {
			p = benchmark.TimelinePoint{Succeeded: 1, MaxLatencyMicroseconds: 200_000}
		}
		if i == 100 {
			p.Succeeded = 3
		}
		timeline.Points = append(timeline.Points, p)
	}
	run := finished([]*results.Snapshot{runtest.Measured(0, 10)})
	run.Status.Summary.DurationMicroseconds = 10_050_000
	var out strings.Builder
	if err := WriteTable(&out, run, timeline); err != nil {
		t.Fatal(err)
	}
	stall := strings.Repeat("█", 20) + "▁" + strings.Repeat("█", 29)
	peak := strings.Repeat("▁", 20) + "█" + strings.Repeat("▁", 29)
	for _, want := range []string{"each bar 0.2s", stall + "    10/s  1,000/s", peak + "     2ms    200ms"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the table lacks %q:\n%s", want, out.String())
		}
	}
}

// An interval without a success has no latency, and shows its failures.
func TestTheCourseShowsWhereNothingSucceeded(t *testing.T) {
	timeline := &benchmark.Timeline{IntervalSeconds: 1, Points: []benchmark.TimelinePoint{
		{Succeeded: 100, MaxLatencyMicroseconds: 2000}, {}, {Failed: 50}, {Succeeded: 100, MaxLatencyMicroseconds: 4000},
	}}
	run := finished([]*results.Snapshot{runtest.Measured(0, 10)})
	run.Status.Summary.DurationMicroseconds = 4_000_000
	var out strings.Builder
	if err := WriteTable(&out, run, timeline); err != nil {
		t.Fatal(err)
	}
	text := strings.Join(strings.Fields(out.String()), " ")
	for _, want := range []string{"throughput █▁▁█ 0/s 100/s", "failures ▁▁█▁ 0/s 50/s", "longest latency ▅··█ 2ms 4ms"} {
		if !strings.Contains(text, want) {
			t.Errorf("the table lacks %q:\n%s", want, out.String())
		}
	}
}

func TestNothingToDraw(t *testing.T) {
	for name, tc := range map[string]struct {
		points int
		window time.Duration
	}{"nothing": {0, time.Second}, "one": {1, time.Second}, "a short window": {3, 150 * time.Millisecond}} {
		timeline := &benchmark.Timeline{IntervalSeconds: 0.1, Points: make([]benchmark.TimelinePoint, tc.points)}
		if c := courseOf(timeline, tc.window); len(c.rates) != 0 {
			t.Errorf("%s: drawn as %+v", name, c)
		}
	}
}
