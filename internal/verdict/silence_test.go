package verdict

import (
	"strings"
	"testing"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
	"github.com/etcdbench/etcd-benchmark-operator/internal/runtest"
)

// over makes a timeline with a success in each second, but not in the silent ones. The first response after them took
// this long.
func over(silentFrom, silentTo int, failed uint64, longest time.Duration) func(*results.Snapshot) {
	return func(s *results.Snapshot) {
		for second := range 30 {
			at := time.Duration(second) * time.Second
			switch {
			case second < silentFrom || second > silentTo:
				s.Timeline.Record(at, time.Millisecond, true)
			case second == silentTo:
				s.Timeline.Record(at, longest, true)
			default:
				for range failed {
					s.Timeline.Record(at, time.Second, false)
				}
			}
		}
	}
}

// receiving adds bytes that a burst receives in each second.
func receiving(change func(*results.Snapshot)) func(*results.Snapshot) {
	return func(s *results.Snapshot) {
		change(s)
		for second := range 30 {
			s.Timeline.Carry(time.Duration(second)*time.Second, results.Bodies{Received: 1})
		}
	}
}

func TestALongSilenceIsAWarning(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(*results.Snapshot)
		want   bool
	}{
		"requests hang":          {over(5, 17, 0, 12*time.Second), true},
		"requests fail":          {over(5, 17, 1, time.Millisecond), true},
		"a short one":            {over(5, 14, 1, 9*time.Second), false},
		"no request was due":     {over(5, 17, 0, time.Millisecond), false},
		"it lasts until the end": {over(5, 40, 1, 0), false},
		"none":                   {over(40, 41, 0, 0), false},
		"a burst receives bytes": {receiving(over(5, 17, 0, 12*time.Second)), false},
	} {
		t.Run(name, func(t *testing.T) {
			all := Warnings(runtest.Puts(), results.Summarize([]*results.Snapshot{runtest.Measured(0, 100, tc.change)}))
			if got := strings.Contains(strings.Join(all, "\n"), "no request succeeded for"); got != tc.want {
				t.Errorf("got the warnings %q, wanted one about silence: %v", all, tc.want)
			}
		})
	}
}

// With 500 requests in flight, 10 ms of each are 5 s, but no request took longer than 1 s.
func TestNoRequestIsDelayedForLongerThanItTook(t *testing.T) {
	s := runtest.Measured(0, 1000, func(s *results.Snapshot) {
		s.Process = idle(with(results.ProcessThreadDelaySeconds, 1000*0.010))
	})
	all := strings.Join(Warnings(runtest.Puts(), results.Summarize([]*results.Snapshot{s})), "\n")
	if !strings.Contains(all, "may have been delayed by up to 1s ") {
		t.Errorf("found %s", all)
	}
}

// 100 requests of 50 ms in a second have five in flight.
func TestADelayOfAllRequestsInFlightIsAWarning(t *testing.T) {
	for each, want := range map[time.Duration]bool{400 * time.Microsecond: false, 2 * time.Millisecond: true} {
		delayed := func(s *results.Snapshot) {
			s.Process = idle(with(results.ProcessThreadDelaySeconds, 100*each.Seconds()))
		}
		all := Warnings(runtest.Puts(), results.Summarize([]*results.Snapshot{runtest.Measured(0, 100, delayed)}))
		if got := strings.Contains(strings.Join(all, "\n"), "requests in flight"); got != want {
			t.Errorf("%v per request: got the warnings %q, wanted one about the delay: %v", each, all, want)
		}
	}
}
