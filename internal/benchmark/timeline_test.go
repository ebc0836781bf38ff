package benchmark

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

func TestReportSaysWhatCameWhen(t *testing.T) {
	snapshot := measured(0, 3)
	snapshot.Timeline.Record(0, time.Millisecond, true)
	snapshot.Timeline.Record(50*time.Millisecond, 4*time.Millisecond, true)
	snapshot.Timeline.Record(250*time.Millisecond, 0, false)
	data, err := Report(putRun(), results.Merge([]*results.Snapshot{snapshot, nil}), results.Summarize([]*results.Snapshot{snapshot, nil}))
	if err != nil {
		t.Fatal(err)
	}
	got, err := ReportTimeline(data)
	if err != nil {
		t.Fatal(err)
	}
	want := &Timeline{IntervalSeconds: 0.1, Points: []TimelinePoint{
		{Succeeded: 2, MeanLatencyMicroseconds: 2500, MaxLatencyMicroseconds: 4000}, {}, {Failed: 1},
	}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("timeline (-want +got):\n%s", diff)
	}
}

func TestReportTimelineRefuses(t *testing.T) {
	for name, data := range map[string]string{"no report": "x", "no length": `{"timeline": {"points": [{"succeeded": 1}]}}`} {
		if got, err := ReportTimeline([]byte(data)); err == nil {
			t.Errorf("%s: read %+v", name, got)
		}
	}
}

// The course shows a stall where it was, and no false one at the end.
func TestTheTableShowsTheCourse(t *testing.T) {
	timeline := &Timeline{IntervalSeconds: 0.1}
	for i := range 101 {
		p := TimelinePoint{Succeeded: 100, MaxLatencyMicroseconds: 2000}
		if i == 40 || i == 41 {
			p = TimelinePoint{Succeeded: 1, MaxLatencyMicroseconds: 200_000}
		}
		if i == 100 {
			p.Succeeded = 3
		}
		timeline.Points = append(timeline.Points, p)
	}
	run := finished([]*results.Snapshot{measured(0, 10)})
	run.Status.Summary.DurationMicroseconds = 10_050_000
	var out strings.Builder
	if err := WriteTable(&out, run, timeline); err != nil {
		t.Fatal(err)
	}
	stall := strings.Repeat("█", 20) + "▁" + strings.Repeat("█", 29)
	peak := strings.Repeat("▁", 20) + "█" + strings.Repeat("▁", 29)
	for _, want := range []string{"each 0.2s", stall + "    10/s  1,000/s", peak + "     2ms    200ms"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the table lacks %q:\n%s", want, out.String())
		}
	}
}

// An interval in which nothing succeeded has no latency, least of all the lowest,
// and what failed in it shows.
func TestTheCourseShowsWhereNothingSucceeded(t *testing.T) {
	timeline := &Timeline{IntervalSeconds: 1, Points: []TimelinePoint{
		{Succeeded: 100, MaxLatencyMicroseconds: 2000}, {}, {Failed: 50}, {Succeeded: 100, MaxLatencyMicroseconds: 4000},
	}}
	run := finished([]*results.Snapshot{measured(0, 10)})
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
		timeline := &Timeline{IntervalSeconds: 0.1, Points: make([]TimelinePoint, tc.points)}
		if c := courseOf(timeline, tc.window); len(c.rates) != 0 {
			t.Errorf("%s: drawn as %+v", name, c)
		}
	}
}
