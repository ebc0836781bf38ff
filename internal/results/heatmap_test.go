package results

import (
	"math/rand/v2"
	"testing"
	"time"
)

// A heatmap is bounded and loses no request, for any duration and any split between pods.
func TestHeatmapMergeIsTheHeatmapOfAll(t *testing.T) {
	for seed := range uint64(100) {
		r := rand.New(rand.NewPCG(13, seed))
		span := ms << r.IntN(30)
		var all Heatmap
		var parts [3]Heatmap
		n := uint64(r.IntN(2000))
		for range n {
			offset, latency := time.Duration(r.Int64N(int64(span))), time.Duration(r.Int64N(1e10))
			all.Record(offset, latency)
			parts[r.IntN(3)].Record(offset, latency)
		}
		var merged Heatmap
		for i := range parts {
			merged.Merge(&parts[i])
		}
		if len(merged.Columns) != len(all.Columns) || merged.Interval != all.Interval || len(all.Columns) > MaxHeatmapColumns {
			t.Fatalf("seed %d: %d columns of %v and %d of %v", seed, len(merged.Columns), merged.Interval, len(all.Columns), all.Interval)
		}
		for i := range all.Columns {
			if got, want := merged.Columns[i], all.Columns[i]; got.Count() != want.Count() || got.Max() != want.Max() {
				t.Fatalf("seed %d: column %d has %d requests up to %v, wanted %d up to %v", seed, i, got.Count(), got.Max(), want.Count(), want.Max())
			}
		}
		folded := merged.Folded(16, 3*time.Second)
		var total uint64
		for i := range folded.Columns {
			total += folded.Columns[i].Count()
		}
		if total != n || len(folded.Columns) > 16 || len(folded.Columns) > 0 && folded.Interval < 3*time.Second {
			t.Fatalf("seed %d: %d requests in %d columns of %v, wanted %d", seed, total, len(folded.Columns), folded.Interval, n)
		}
		if err := merged.check(); err != nil {
			t.Fatal(err)
		}
	}
}

// However long intervals are to be, folding ends.
func TestFoldingEnds(t *testing.T) {
	var c Course
	c.Timeline.Record(time.Second, ms, true)
	c.Heatmap.Record(time.Second, ms)
	for _, atLeast := range []time.Duration{maxTimeline, 9_100_000_000 * time.Second, 1<<63 - 1} {
		if got := c.Folded(100, atLeast); Sum(got.Timeline.Points).Succeeded != 1 || got.Timeline.Interval < maxTimeline {
			t.Errorf("at least %v: %+v", atLeast, got.Timeline)
		}
	}
}

// The percentile of a column is exact to 5 %.
func TestAColumnHasPercentiles(t *testing.T) {
	var m Heatmap
	for i := range 1000 {
		m.Record(150*ms, time.Duration(i+1)*ms)
	}
	got, known := m.Columns[1].Quantile(0.5)
	if m.Columns[0].Count() != 0 || !known || got < 475*ms || got > 525*ms {
		t.Errorf("got %v, %v, wanted 500 ms in the second column", got, known)
	}
}

// A stall is an interval in which nothing ended although requests were outstanding. It stays one when intervals are
// merged, and emptiness stays emptiness.
func TestAStallIsNoEmptiness(t *testing.T) {
	for _, halvings := range []int{0, 1} {
		var line Timeline
		line.Record(50*ms, ms, true)
		line.Record(1250*ms, 1050*ms, true) // due at 200 ms
		line.Record(3050*ms, ms, true)
		for range halvings {
			line.halve()
		}
		outstanding := line.Outstanding()
		for i, p := range line.Points {
			from, to := time.Duration(i)*line.Interval, time.Duration(i+1)*line.Interval
			if want, got := from >= 200*ms && to <= 1200*ms, p.Succeeded+p.Failed == 0 && outstanding[i] > 0; got != want {
				t.Errorf("from %v to %v: got %+v, wanted a stall: %v", from, to, p, want)
			}
		}
	}
}

func TestRequestsWithoutAnAnswerAreOutstanding(t *testing.T) {
	var line Timeline
	line.Await(250*ms, 820*ms, 7)
	for i, got := range line.Outstanding() {
		if want := map[bool]uint64{true: 7}[i >= 2 && i < 8]; got != want {
			t.Errorf("interval %d has %d, wanted %d", i, got, want)
		}
	}
}
