package render

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// courseWith is a course with so many requests in each 100 ms.
func courseWith(ended ...uint64) *results.Course {
	c := &results.Course{Timeline: results.Timeline{Interval: results.TimelineInterval}}
	c.Heatmap.Interval = results.TimelineInterval
	for _, n := range ended {
		c.Timeline.Points = append(c.Timeline.Points, answered(n, time.Millisecond))
		var column results.Histogram
		for range n {
			column.Record(int64(time.Millisecond))
		}
		c.Heatmap.Columns = append(c.Heatmap.Columns, column)
	}
	c.Heatmap = c.Heatmap.Folded(results.MaxHeatmapColumns, 0)
	return c
}

func steady(intervals int, each uint64) []uint64 { return slices.Repeat([]uint64{each}, intervals) }

// Intervals are as short as 60 in the window and their requests allow: 1,000 for a p99, or 100 for a p90 if there would be
// fewer than 20 intervals with a p99.
func TestIntervalsHaveEnoughRequests(t *testing.T) {
	ramp := steady(600, 0)
	for i := range ramp {
		ramp[i] = uint64(i)
	}
	for name, tc := range map[string]struct {
		ended  []uint64
		length time.Duration
		number int
		tail   spec.Statistic
	}{
		"a second of many requests":       {steady(10, 5000), 100 * time.Millisecond, 10, spec.StatisticP99},
		"60 intervals at most":            {steady(100, 5000), 200 * time.Millisecond, 50, spec.StatisticP99},
		"a minute, stored in 0.4 s":       {steady(600, 5000), 1200 * time.Millisecond, 50, spec.StatisticP99},
		"1,000 requests each":             {steady(100, 350), 300 * time.Millisecond, 33, spec.StatisticP99},
		"exactly 20 intervals with a p99": {steady(100, 200), 500 * time.Millisecond, 20, spec.StatisticP99},
		"one request less for a p99":      {steady(100, 199), 200 * time.Millisecond, 50, spec.StatisticP90},
		"100 requests each":               {steady(100, 30), 400 * time.Millisecond, 25, spec.StatisticP90},
		"4 per second for a minute":       {slices.Repeat([]uint64{1, 1, 0, 0, 0}, 120), 30 * time.Second, 2, spec.StatisticP90},
		"too few requests":                {steady(119, 1), 0, 0, ""},
		"the omitted end is short":        {steady(149, 3), 3700 * time.Millisecond, 4, spec.StatisticP90},
		"a stall":                         {slices.Concat(steady(300, 2000), steady(20, 0), steady(280, 2000)), 1200 * time.Millisecond, 50, spec.StatisticP99},
		"a target that is lost":           {slices.Concat(steady(200, 2000), slices.Repeat([]uint64{0, 0, 0, 0, 1}, 80)), 1200 * time.Millisecond, 50, spec.StatisticP99},
		"a ramp from 0":                   {ramp, 1200 * time.Millisecond, 50, spec.StatisticP99},
	} {
		t.Run(name, func(t *testing.T) {
			d := IntervalsOf(courseWith(tc.ended...), time.Duration(len(tc.ended))*results.TimelineInterval)
			if len(d.Points) != tc.number || tc.number > 0 && d.Length != tc.length || d.Tail != tc.tail {
				t.Errorf("found %d intervals of %s with a %s, wanted %d of %s with a %s", len(d.Points), d.Length, d.Tail, tc.number, tc.length, tc.tail)
			}
		})
	}
}

// Whatever the course is: nearly all requests are in intervals with enough of them for the highest percentile, and shorter
// intervals would not have enough. Values that are drawn are not thin.
func TestIntervalsOfAnyCourse(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		ended := make([]uint64, 2+random.IntN(590))
		for i, rate := range ended {
			rate = uint64(math.Exp(6 * random.Float64()))
			ended[i] = uint64(random.Int64N(int64(rate) + 1))
		}
		d := IntervalsOf(courseWith(ended...), time.Duration(len(ended))*results.TimelineInterval)
		if len(d.Points) == 0 {
			if points := courseWith(ended...).Timeline.Points; isFilled(points, len(points)/2, 100) {
				t.Fatalf("nothing is drawn of %v", ended)
			}
			continue
		}
		each := map[spec.Statistic]uint64{spec.StatisticP99: 1000, spec.StatisticP90: 100}[d.Tail]
		var all, enough uint64
		for i, p := range d.Points {
			all += p.Succeeded
			if p.Succeeded >= each {
				enough += p.Succeeded
			}
			if known := !math.IsNaN(d.Percentile(i, d.Tail)); known != (p.Succeeded >= each) {
				t.Fatalf("an interval of %d requests has a %s: %v", p.Succeeded, d.Tail, known)
			}
		}
		if float64(enough) < 0.95*float64(all) || len(d.Points) > 60 {
			t.Fatalf("%d of %d requests are in intervals with %d, there are %d intervals of %v", enough, all, each, len(d.Points), ended)
		}
	}
}

// With its end, which is shorter than an interval, the window has all requests and is as long as the run. A point that is only
// partly in the window counts if no response came after it.
func TestIntervalsWithTheirRest(t *testing.T) {
	for name, tc := range map[string]struct {
		ended  []uint64
		window time.Duration
		last   time.Duration
		want   uint64
	}{
		"33 intervals and a point":     {steady(100, 350), 10 * time.Second, 100 * time.Millisecond, 35_000},
		"no rest":                      {steady(100, 1000), 10 * time.Second, 200 * time.Millisecond, 100_000},
		"the last point is partly in":  {steady(100, 1000), 9950 * time.Millisecond, 150 * time.Millisecond, 100_000},
		"responses came after the end": {steady(102, 1000), 9950 * time.Millisecond, 100 * time.Millisecond, 99_000},
	} {
		d := IntervalsOf(courseWith(tc.ended...), tc.window)
		all, last := d.WithRest()
		var requests, latencies uint64
		for i, p := range all.Points {
			requests, latencies = requests+p.Succeeded, latencies+all.Columns[i].Count()
		}
		if requests != tc.want || latencies != tc.want || last != tc.last || len(all.Stalled) != len(all.Points) {
			t.Errorf("%s: found %d requests, %d latencies and a last interval of %s", name, requests, latencies, last)
		}
		if len(d.Points) > 0 && (len(all.Points) != len(d.Points)+1) != (name == "no rest") {
			t.Errorf("%s: found %d intervals, and %d with the rest", name, len(d.Points), len(all.Points))
		}
	}
}

// An interval in which requests wait and none ends is a stall, but not if a burst receives bytes in it.
func TestABurstThatReceivesBytesDoesNotStall(t *testing.T) {
	for received, want := range map[uint64]bool{0: true, 1: false} {
		c := courseWith(steady(60, 1000)...)
		c.Timeline.Record(6500*time.Millisecond, 500*time.Millisecond, true)
		for at := 6 * time.Second; at < 6500*time.Millisecond; at += results.TimelineInterval {
			c.Timeline.Carry(at, results.Bodies{Received: received})
		}
		d, _ := IntervalsOf(c, 6600*time.Millisecond).WithRest()
		if got := slices.Contains(d.Stalled, true); got != want {
			t.Errorf("%d bytes: stalled: %v, wanted %v", received, d.Stalled, want)
		}
	}
}
