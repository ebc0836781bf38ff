package collector

import (
	"testing"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

func TestReadClock(t *testing.T) {
	asked := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	answered := asked.Add(100 * time.Millisecond)
	tests := map[string]struct{ shown, want time.Duration }{
		"the same":          {50 * time.Millisecond, 0},
		"as far as is sure": {100 * time.Millisecond, 0},
		"or the other way":  {0, 0},
		"ahead":             {time.Minute + 50*time.Millisecond, time.Minute - 50*time.Millisecond},
		"behind":            {-time.Minute + 50*time.Millisecond, -time.Minute + 50*time.Millisecond},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := readClock(asked.Add(tc.shown), asked, answered).Offset(); got != tc.want {
				t.Errorf("the offset is %v, wanted %v", got, tc.want)
			}
		})
	}
	if got := readClock(time.Time{}, asked, answered); got != nil {
		t.Errorf("got %+v of a pod that reported no time", got)
	}
}

// TestClocksAreComparedWithTheCollectorsClock: the offset is relative to the collector's clock.
func TestClocksAreComparedWithTheCollectorsClock(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	ahead := snapshot(3, results.StageReady)
	ahead.Clock = now.Add(10 * time.Second)
	c := serve(t, metrics(ahead))
	c.now = func() time.Time { return now }
	c.Watch(uid, key, []Pod{{Name: "p", Index: 3, IP: "198.18.0.1"}}, Phase{})
	c.scrape(t.Context(), c.runs[uid])
	if got := c.Results(uid)["p"].Clock; got == nil || got.Offset() != 10*time.Second {
		t.Errorf("the offset is %+v, wanted 10 s", got)
	}
}

func TestTheMostExactReadingStays(t *testing.T) {
	sure, unsure := &Clock{Ahead: 5, Uncertain: 1}, &Clock{Ahead: 9, Uncertain: 2}
	for name, tc := range map[string]struct{ old, newer, want *Clock }{
		"first": {nil, unsure, unsure}, "worse": {sure, unsure, sure}, "better": {unsure, sure, sure}, "none": {sure, nil, sure},
	} {
		if got := moreExact(tc.old, tc.newer); got != tc.want {
			t.Errorf("%s: got %+v, wanted %+v", name, got, tc.want)
		}
	}
}
