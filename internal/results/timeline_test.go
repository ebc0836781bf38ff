package results

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

const ms = time.Millisecond

func TestTimelineCountsByInterval(t *testing.T) {
	var got Timeline
	got.Record(0, 5*ms, true)
	got.Record(99*ms, 7*ms, true)
	got.Record(100*ms, 2*ms, true)
	got.Record(399*ms, ms, false)
	got.Record(-ms, ms, true)
	want := Timeline{Interval: 100 * ms, Points: []Point{
		{Succeeded: 3, Latency: 13 * ms, Longest: 7 * ms, Opened: 1}, {Succeeded: 1, Latency: 2 * ms, Longest: 2 * ms, Closed: 1}, {}, {Failed: 1},
	}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("timeline (-want +got):\n%s", diff)
	}
}

// A timeline is bounded and loses no counts, for any duration and any split.
func TestTimelineMergeIsTheTimelineOfAll(t *testing.T) {
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(12, seed))
		span := ms << r.IntN(30)
		var all Timeline
		var parts [3]Timeline
		for range r.IntN(2000) {
			offset, latency, ok := time.Duration(r.Int64N(int64(span))), time.Duration(r.Int64N(1e9)), r.IntN(5) > 0
			all.Record(offset, latency, ok)
			parts[r.IntN(3)].Record(offset, latency, ok)
		}
		var merged Timeline
		for i := range parts {
			merged.Merge(&parts[i])
		}
		if diff := cmp.Diff(all, merged, sameButOpened); diff != "" {
			t.Fatalf("seed %d: merge (-of all +of parts):\n%s", seed, diff)
		}
		if diff := cmp.Diff(all.Outstanding(), merged.Outstanding(), cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("seed %d: outstanding (-of all +of parts):\n%s", seed, diff)
		}
		if len(merged.Points) > MaxTimelinePoints {
			t.Fatalf("seed %d: %d points", seed, len(merged.Points))
		}
		if folded := merged.Folded(16, 0); len(folded.Points) > 16 || total(folded) != total(all) {
			t.Fatalf("seed %d: folded to %d points with %+v, wanted at most 16 with %+v", seed, len(folded.Points), total(folded), total(all))
		}
	}
}

// sameButOpened: a request that is short compared with an interval opens and closes in it after intervals were merged.
var sameButOpened = cmpopts.IgnoreFields(Point{}, "Opened", "Closed")

func total(t Timeline) (sum Point) {
	for _, p := range t.Points {
		sum.add(p)
	}
	sum.Opened, sum.Closed = 0, 0
	return sum
}

func TestFoldedLeavesTheOriginal(t *testing.T) {
	var timeline Timeline
	for i := range 100 {
		timeline.Record(time.Duration(i)*100*ms, ms, true)
	}
	before := timeline.Folded(MaxTimelinePoints, 0)
	timeline.Folded(3, 0)
	if diff := cmp.Diff(before, timeline); diff != "" {
		t.Error(diff)
	}
}

func TestSucceededBefore(t *testing.T) {
	timeline := Timeline{Interval: 200 * ms, Points: []Point{{Succeeded: 10}, {Succeeded: 20, Failed: 5}, {Succeeded: 4}}}
	for offset, want := range map[time.Duration]float64{-1: 0, 0: 0, 100 * ms: 5, 200 * ms: 10, 350 * ms: 25, 400 * ms: 30, time.Hour: 34} {
		if got := timeline.succeededBefore(offset); got != want {
			t.Errorf("before %v: got %v, wanted %v", offset, got, want)
		}
	}
}

func TestTimelineAllocatesOnce(t *testing.T) {
	var timeline Timeline
	timeline.Record(0, 1, true)
	offset := time.Duration(0)
	if n := testing.AllocsPerRun(10_000, func() {
		offset += 70 * ms
		timeline.Record(offset, 1, true)
	}); n != 0 {
		t.Errorf("%v allocations per request", n)
	}
}
