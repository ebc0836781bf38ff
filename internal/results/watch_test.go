package results

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func randomWatch(r *rand.Rand) (w Watch) {
	for _, n := range w.counts() {
		*n = r.Uint64N(1 << 40)
	}
	w.Missed = r.Uint64N(w.Expected + 1)
	w.CompactedAfter = time.Duration(r.Int64N(int64(time.Hour)))
	return w
}

// watched is a pod whose puts have two events each, of which some were missed.
func watched(puts, missedEvents int) *Snapshot {
	s := pod(0, 10*time.Second, puts)
	s.Watch = Watch{Watchers: 2, Expected: uint64(2 * puts), Missed: uint64(missedEvents)}
	event := &OperationResult{Errors: map[string]uint64{}}
	for i := range 2 * puts {
		if i < missedEvents {
			event.Failed.Record(int64(time.Second))
			event.Errors[ErrorMissed]++
		} else {
			event.Latency.Record(int64(3 * time.Millisecond))
			event.CompletedInWindow++
		}
	}
	s.Operations[OperationWatchEvent] = event
	return s
}

// Events are no requests: who adds them to these would measure a throughput that
// grows with the number of watchers.
func TestEventsAreInNoTotalOverRequests(t *testing.T) {
	s := Summarize([]*Snapshot{watched(100, 5), watched(50, 0)})
	if s.Succeeded != 150 || s.Failed != 0 || s.Throughput != 15 {
		t.Errorf("%d requests succeeded and %d failed, %v each second; wanted 150, 0 and 15", s.Succeeded, s.Failed, s.Throughput)
	}
	event := s.Operations[1]
	if event.Operation != OperationWatchEvent || event.Succeeded != 295 || event.Failed != 5 || event.Throughput != 29.5 {
		t.Errorf("got the events %+v, wanted 295 delivered and 5 missed", event)
	}
	// The hundredth of the events that was missed is above every latency.
	if p99 := event.Judged.Values[StatisticP99]; !p99.Unbounded {
		t.Errorf("the 99th percentile is judged as %v, though more than that were missed", p99)
	}
	if want := (Watch{Watchers: 4, Expected: 300, Missed: 5}); s.Watch != want {
		t.Errorf("got %+v, wanted %+v", s.Watch, want)
	}
}

func TestTheSteadyRateLeavesEventsOut(t *testing.T) {
	s := watched(1000, 0)
	s.Window.Planned, s.Window.PlannedRequests = 0, 1000
	if got := Summarize([]*Snapshot{s}).SteadyThroughput; got != 100 {
		t.Errorf("got a steady rate of %v, wanted 100", got)
	}
}

func TestEachTroubleOfAWatchIsAWarning(t *testing.T) {
	tests := map[string]struct {
		watch Watch
		want  []string
	}{
		"none":      {Watch{Watchers: 1, Expected: 10}, nil},
		"missed":    {Watch{Expected: 10, Missed: 4}, []string{"missed 4 of 10"}},
		"duplicate": {Watch{Duplicate: 3}, []string{"3 events twice"}},
		"cancelled": {Watch{Cancelled: 2}, []string{"cancelled watchers 2 times; they were opened anew, and lost no event by that but"}},
		"resumed":   {Watch{Resumed: 7}, []string{"resumed 7 times"}},
		"compacted": {Watch{Replays: 7, CompactedAfter: 2500 * time.Millisecond}, []string{"since 2.5s after the start of the window"}},
		"replayed":  {Watch{Replays: 7}, nil},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := pod(0, time.Second, 10)
			s.Watch = tc.watch
			got := Summarize([]*Snapshot{s}).Warnings
			if len(got) != len(tc.want) {
				t.Fatalf("got the warnings %q, wanted %d", got, len(tc.want))
			}
			for i := range got {
				if !strings.Contains(got[i], tc.want[i]) {
					t.Errorf("got %q, wanted it to say %q", got[i], tc.want[i])
				}
			}
		})
	}
	if got := Summarize([]*Snapshot{watched(100, 5)}).Warnings; len(got) != 1 {
		t.Errorf("missed events gave the warnings %q, wanted one", got)
	}
}

func TestAHistoryIsGoneSinceTheFirstPodFoundItGone(t *testing.T) {
	pods := make([]*Snapshot, 4)
	for i, after := range []time.Duration{0, 5 * time.Second, 2 * time.Second, 0} {
		pods[i] = at(i, pod(0, 10*time.Second, 10))
		pods[i].Watch.CompactedAfter = after
	}
	if got := Summarize(pods).Watch.CompactedAfter; got != 2*time.Second {
		t.Errorf("gone since %v, wanted 2s", got)
	}
}

func TestWatchTravelsInATerminationMessage(t *testing.T) {
	want := watched(30_000, 7)
	want.Stage = StageDone
	got := terminated(t, want)
	if diff := cmp.Diff(want.Watch, got.Watch); diff != "" {
		t.Errorf("watch changed on its way (-want +got):\n%s", diff)
	}
}

func TestDecodeRefusesMoreMissedThanExpected(t *testing.T) {
	s := watched(10, 0)
	s.Watch.Missed = 21
	if got, err := Decode(s.Families()); err == nil {
		t.Errorf("decoded %+v", got.Watch)
	}
}
