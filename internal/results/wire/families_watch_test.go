package wire

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

func randomWatch(r *rand.Rand) results.Watch {
	n := func() uint64 { return r.Uint64N(1 << 40) }
	w := results.Watch{Watchers: n(), Expected: n(), Missed: n(), Duplicate: n(), Cancelled: n(), Resumed: n(), Replays: n()}
	w.Missed = r.Uint64N(w.Expected + 1)
	w.CompactedAfter = time.Duration(r.Int64N(int64(time.Hour)))
	return w
}

func TestWatchTravelsInATerminationMessage(t *testing.T) {
	want := finalSnapshot(0, 30_000, spec.OperationPut, spec.OperationWatchEvent)
	want.Watch = results.Watch{Watchers: 2, Expected: 60_000, Missed: 7}
	got := terminated(t, want)
	if diff := cmp.Diff(want.Watch, got.Watch); diff != "" {
		t.Errorf("watch changed on its way (-want +got):\n%s", diff)
	}
}

func TestDecodeRefusesMoreMissedThanExpected(t *testing.T) {
	s := finalSnapshot(0, 10, spec.OperationPut)
	s.Watch = results.Watch{Watchers: 2, Expected: 20, Missed: 21}
	if got, err := Decode(withTimeline(s)); err == nil {
		t.Errorf("decoded %+v", got.Watch)
	}
}
