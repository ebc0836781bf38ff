package render

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
	"github.com/etcdbench/etcd-benchmark-operator/internal/runtest"
)

// answered is an interval in which requests succeeded.
func answered(n uint64, longest time.Duration) results.Point {
	return results.Point{Succeeded: n, Longest: longest, Latency: longest}
}

// courseTable draws a run with this course, of this length.
func courseTable(t *testing.T, course *results.Course, length time.Duration, change ...func(*v1alpha1.EtcdBenchmark)) string {
	t.Helper()
	run := finished([]*results.Snapshot{runtest.Measured(0, 10)})
	run.Status.Summary.DurationMicroseconds = length.Microseconds()
	for _, c := range change {
		c(run)
	}
	var out strings.Builder
	if err := WriteTable(&out, run, course); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func wantText(t *testing.T, table string, wanted ...string) {
	t.Helper()
	for _, want := range wanted {
		if !strings.Contains(table, want) {
			t.Errorf("the table lacks %q:\n%s", want, table)
		}
	}
}

// The course shows a slow moment at its time, and no false one at the end.
func TestTheTableShowsTheCourse(t *testing.T) {
	course := &results.Course{Timeline: results.Timeline{Interval: 100 * time.Millisecond}}
	for i := range 101 {
		p := answered(100, 2*time.Millisecond)
		if i == 40 || i == 41 {
			p = answered(1, 200*time.Millisecond)
		}
		if i == 100 {
			p.Succeeded = 3
		}
		course.Timeline.Points = append(course.Timeline.Points, p)
	}
	stall := strings.Repeat("█", 20) + "▁" + strings.Repeat("█", 29)
	peak := strings.Repeat("▁", 20) + "█" + strings.Repeat("▁", 29)
	wantText(t, courseTable(t, course, 10_050*time.Millisecond), "one bar = 0.2s, from 0", stall+"    10/s  1,000/s", peak+"     2ms    200ms")
}

// An interval without a success has no latency, and shows its failures. One in which requests waited in vain is a stall.
func TestTheCourseShowsWhereNothingSucceeded(t *testing.T) {
	course := &results.Course{Timeline: results.Timeline{Interval: 800 * time.Millisecond, Points: []results.Point{
		answered(880, 2*time.Millisecond), {}, {Failed: 40}, {Opened: 7}, answered(880, 4*time.Millisecond),
	}}}
	text := strings.Join(strings.Fields(courseTable(t, course, 4*time.Second)), " ")
	wantText(t, text, "throughput █▁▁×█ 0/s 1,100/s", "failures ▁▁█×▁ 0/s 50/s", "longest latency ▅··×█ 2ms 4ms",
		"×: requests were waiting, but none ended in this interval. ·: too few requests in this interval to show this value.")
}

// Percentiles over time come from the heatmap; a thin one is not drawn.
func TestTheCourseShowsPercentilesAndTheirDistribution(t *testing.T) {
	var c results.Course
	for i := range 40 {
		for n := range 2000 {
			at, latency := time.Duration(i)*100*time.Millisecond+time.Millisecond, 1500*time.Microsecond
			if i >= 20 && n%20 == 0 {
				latency = 100 * time.Millisecond
			}
			if i == 30 && n > 50 {
				break
			}
			c.Timeline.Record(at, latency, true)
			c.Heatmap.Record(at, latency)
		}
	}
	table := courseTable(t, &c, 4*time.Second)
	text := strings.Join(strings.Fields(table), " ")
	wantText(t, text,
		"p50 latency "+strings.Repeat("█", 40),
		"p99 latency "+strings.Repeat("▁", 20)+strings.Repeat("█", 10)+"·"+strings.Repeat("█", 9),
		"62.5ms–125ms "+strings.Repeat("▒", 20)+" 1,903",
		"977µs–1.95ms "+strings.Repeat("█", 40),
		"░ up to 1 % of its requests")
}

// record records as many requests of this latency in each interval of 100 ms.
func record(c *results.Course, intervals, each int, latency func(interval int) time.Duration) {
	for i := range intervals {
		for range each {
			at := time.Duration(i) * 100 * time.Millisecond
			c.Timeline.Record(at, latency(i), true)
			c.Heatmap.Record(at, latency(i))
		}
	}
}

// The lowest band has everything that is shorter than its upper end.
func TestTheLowestBandBeginsAtZero(t *testing.T) {
	var c results.Course
	record(&c, 30, 100, func(int) time.Duration { return 50 * time.Nanosecond })
	wantText(t, strings.Join(strings.Fields(courseTable(t, &c, 3*time.Second)), " "), " 0ns–954ns "+strings.Repeat("█", 30)+" 3,000")
}

// Latencies over many decades share at most ten lines, and no request is missing.
func TestBandsAreFew(t *testing.T) {
	var c results.Course
	record(&c, 30, 100, func(i int) time.Duration { return time.Nanosecond << (i + 5) })
	table := courseTable(t, &c, 3*time.Second)
	_, bands, _ := strings.Cut(table, "REQUESTS\n")
	lines := strings.Split(bands, "\n")
	lines = lines[:slices.IndexFunc(lines, func(l string) bool { return !strings.Contains(l, "–") })]
	if cells := strings.Count(strings.Join(lines, ""), "█"); len(lines) > maxBands || cells != 30 {
		t.Errorf("%d lines with %d requests:\n%s", len(lines), cells, table)
	}
}

// A run that only adds keys shows how latency grew with their number.
func TestTheTableShowsLatencyByKeys(t *testing.T) {
	var c results.Course
	for i := range 80 {
		for range 100 {
			c.Heatmap.Record(time.Duration(i)*100*time.Millisecond, time.Duration(1+i/10)*time.Millisecond)
			c.Timeline.Record(time.Duration(i)*100*time.Millisecond, time.Duration(1+i/10)*time.Millisecond, true)
		}
	}
	over := func(keys int64) func(*v1alpha1.EtcdBenchmark) {
		return func(run *v1alpha1.EtcdBenchmark) { run.Spec.Workload.Put.Keys.Count = keys }
	}
	text := strings.Join(strings.Fields(courseTable(t, &c, 8*time.Second, over(8000))), " ")
	wantText(t, text, "KEYS WRITTEN P50 P99 LONGEST 1–1,000 1ms 1ms 1ms 1,001–2,000 2ms 2ms 2ms", "7,001–8,000 8ms 8ms 8ms")
	if text := strings.Join(strings.Fields(courseTable(t, &c, 8*time.Second, over(5))), " "); strings.Contains(text, "KEYS WRITTEN P50") {
		t.Errorf("a run that writes keys again shows a latency by keys")
	}
}

func TestNothingToDraw(t *testing.T) {
	for name, tc := range map[string]struct {
		points []uint64
		window time.Duration
	}{
		"nothing": {nil, time.Second}, "no request": {make([]uint64, 30), 3 * time.Second}, "one": {[]uint64{500}, time.Second},
		"a short window": {[]uint64{500, 500, 500}, 150 * time.Millisecond}, "few requests": {[]uint64{60, 60, 60}, time.Second},
	} {
		if d := IntervalsOf(courseWith(tc.points...), tc.window); len(d.Points) != 0 {
			t.Errorf("%s: drawn as %+v", name, d)
		}
	}
}
