package report

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/cmd/kubectl-etcdbench/internal/plots"
	"github.com/etcdbench/etcd-benchmark-operator/internal/benchmark"
	"github.com/etcdbench/etcd-benchmark-operator/internal/render"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// What a reader looks for is first, and what decides whether it can be used comes next: before the facts and all sections.
func TestThePageBeginsWithTheAnswer(t *testing.T) {
	run := measured(t, "writes", time.Millisecond)
	run.Object.Status.Summary.Warnings = []string{"The clock jumped."}
	run.Object.Status.Summary.Validity = &v1alpha1.Validity{Verdict: v1alpha1.ValidityClientBound, Reasons: []v1alpha1.ValidityReason{{Cause: v1alpha1.CauseDelayed, Message: "It used all processors.", Change: "Give it more."}}}
	page := pageOf(t, OfRun(run.Object, run.Report))
	at := 0
	for _, want := range []string{"<h1", ">Throughput<", ">p50<", ">p99<", ">Failed<", "All objectives were met", "MET", "A limit", "It used all processors.", "Give it more.", "The clock jumped.", `class="facts"`, `id="numbers"`} {
		next := strings.Index(page[at:], want)
		if next < 0 {
			t.Fatalf("wanted %q after %q", want, page[max(at-80, 0):at])
		}
		at += next
	}
	for name, d := range map[string]*Document{"suite": compared(t, 3, 1.5), "search": searched(t), "schedule": OfSchedule(nightly(3))} {
		if p := d.Page(); len(p.Tiles) == 0 || slices.ContainsFunc(p.Tiles, func(tile Tile) bool { return tile.Value == "" }) {
			t.Errorf("%s: found the tiles %+v", name, p.Tiles)
		}
	}
	if tiles := searched(t).Page().Tiles; tiles[0].Value == "–" || tiles[1].Value == "–" {
		t.Errorf("a search that has found a rate: found the tiles %+v", tiles)
	}
}

// Several runs begin with one table of all of them, which says of each what it is worth.
func TestSeveralRunsBeginWithTheirNumbers(t *testing.T) {
	p := documents(t)["several runs"].Page()
	rows := p.Lead[0].Rows
	if len(rows) != 3 || rows[1][0] != "first" || rows[2][0] != "second" || rows[1][len(rows[1])-2] != "All objectives were met" || p.Client.Words != "0 of 2" && p.Client.Words != "2 of 2" {
		t.Errorf("found %q and %+v", rows, p.Client)
	}
	if page := pageOf(t, documents(t)["several runs"]); strings.Index(page, "<table") > strings.Index(page, `class="judged"`) {
		t.Error("the table comes after the verdict")
	}
}

// steady is a course with so many requests of these latencies in each interval of 100 ms.
func steady(intervals, each int, latency func(interval, request int) time.Duration) *results.Course {
	c := &results.Course{}
	for i := range intervals {
		for k := range each {
			at, took := time.Duration(i)*100*time.Millisecond+time.Duration(k), latency(i, k)
			c.Timeline.Record(at, took, true)
			c.Heatmap.Record(at, took)
		}
	}
	return c
}

// The trend of a median is the median of the requests of several intervals. p99 and the longest have no trend, so that a peak
// stays as high as it was.
func TestTrendsSmoothNoTail(t *testing.T) {
	run := measured(t, "writes", time.Millisecond).Object
	run.Status.Summary.DurationMicroseconds = 6_050_000
	course := steady(61, 2000, func(i, k int) time.Duration {
		switch {
		case i == 30:
			return time.Second
		case k%2 == 0:
			return time.Millisecond
		}
		return 4 * time.Millisecond
	})
	drawn, _ := coursePlots("", run, courseOf(run, benchmark.Detail{Course: course}))
	rate, latency := drawn[0].Picture.(plots.OverTime), drawn[1].Picture.(plots.OverTime)
	if n := len(rate.Lines[0].Values); len(rate.Lines[0].Trend) != n || len(latency.Lines[0].Trend) != n {
		t.Fatal("throughput and p50 have no trend")
	}
	if got := slices.Max(latency.Lines[0].Trend); got > 5000 {
		t.Errorf("the trend of p50 follows one interval: found %g µs", got)
	}
	for _, l := range latency.Lines[1:] {
		if l.Trend != nil || slices.Max(l.Values) < 990_000 {
			t.Errorf("%s: found a trend of %d values and the highest value %g", l.Label, len(l.Trend), slices.Max(l.Values))
		}
	}
	// 60 intervals of 100 ms, and one of 50 ms with as many requests.
	if heat := drawn[2].Picture.(plots.Heatmap); heat.Last < 0.049 || heat.Last > 0.051 || len(heat.Bands[0].Counts) != 61 {
		t.Errorf("the heatmap has %d intervals, the last of %g s", len(heat.Bands[0].Counts), heat.Last)
	}
	if got := rate.Lines[0].Values[60]; got < 39_000 || got > 41_000 {
		t.Errorf("the last interval has %g requests per second", got)
	}
	if about := rate.Info().Description; !strings.Contains(about, "succeeded 20,000/s to 20,000/s") {
		t.Errorf("the shorter interval counts for the highest value: %s", about)
	}
}

// A short run has plots with at least three points, and sentences instead of the others.
func TestShortRunsHaveNoEmptyPlots(t *testing.T) {
	run := measured(t, "writes", time.Millisecond).Object
	run.Status.Summary.DurationMicroseconds = 1_000_000
	course := steady(2, 2000, func(int, int) time.Duration { return time.Millisecond })
	course.Samples = map[string]*results.Samples{"aa01": {At: []time.Duration{0, time.Second}, Values: map[results.Figure][]float64{results.FigurePendingNow: {0, 3}}}}
	d := benchmark.Detail{Course: course}
	drawn, lacks := coursePlots("", run, courseOf(run, d))
	if len(drawn) > 0 || len(lacks) != 1 {
		t.Errorf("two intervals: found %d plots and %+v", len(drawn), lacks)
	}
	drawn, lacks = memberPlots("", run, d)
	if len(drawn) > 0 || len(lacks) != 1 || lacks[0].Text != "Read too few times for a plot: pending proposals." {
		t.Errorf("two samples: found %d plots and %+v", len(drawn), lacks)
	}
}

// Members have a column each, so that one look compares them.
func TestMembersSideBySide(t *testing.T) {
	got := sideBySide([]render.Block{
		{Rows: [][]string{{"MEMBER", "WAL FSYNC", "P99"}, {"a", "1ms", "2ms"}, {"b", "3ms", "4ms"}}},
		{Rows: [][]string{{"MEMBER", "CPU"}, {"b", "0.5"}}}, {Text: "A sentence."},
	})
	want := [][]string{{"", "a", "b"}, {"WAL FSYNC", "1ms", "3ms"}, {"WAL FSYNC P99", "2ms", "4ms"}, {"CPU", "", "0.5"}}
	if len(got) != 2 || got[1].Text != "A sentence." {
		t.Fatalf("found %+v", got)
	}
	if diff := cmp.Diff(want, got[0].Rows); diff != "" {
		t.Errorf("-wanted +found:\n%s", diff)
	}
}

// In a closed loop, latency and service time are one line.
func TestOneLineOfAClosedLoop(t *testing.T) {
	run := measured(t, "writes", time.Millisecond)
	lines := func() int { return len(spectra("", run.Object, run.detail())[0].Picture.(plots.Spectrum).Lines) }
	if got := lines(); got != 1 {
		t.Errorf("closed loop: found %d lines", got)
	}
	run.Object.Spec.Load.Rate = &spec.Rate{PerSecond: 100}
	if got := lines(); got != 2 {
		t.Errorf("at a rate: found %d lines", got)
	}
}
