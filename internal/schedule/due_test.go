package schedule

import (
	"testing"
	"time"
)

func TestDue(t *testing.T) {
	for name, tc := range map[string]struct {
		expression, zone string
		last, now        string
		deadline         time.Duration
		start            string // empty: nothing is due
		missed           int
		next             string
	}{
		"before the first start": {expression: "0 * * * *", last: "2026-01-01T00:10:00Z", now: "2026-01-01T00:59:59Z",
			next: "2026-01-01T01:00:00Z"},
		"at the start": {expression: "0 * * * *", last: "2026-01-01T00:10:00Z", now: "2026-01-01T01:00:00Z",
			start: "2026-01-01T01:00:00Z", next: "2026-01-01T02:00:00Z"},
		"the start is done": {expression: "0 * * * *", last: "2026-01-01T01:00:00Z", now: "2026-01-01T01:00:05Z",
			next: "2026-01-01T02:00:00Z"},
		"a start that was recorded late is done": {expression: "0 * * * *", last: "2026-01-01T01:00:03Z", now: "2026-01-01T01:00:05Z",
			next: "2026-01-01T02:00:00Z"},
		"the latest of several": {expression: "0 * * * *", last: "2026-01-01T01:00:00Z", now: "2026-01-01T04:30:00Z",
			start: "2026-01-01T04:00:00Z", missed: 2, next: "2026-01-01T05:00:00Z"},
		"at the deadline": {expression: "0 * * * *", last: "2026-01-01T01:00:00Z", now: "2026-01-01T04:10:00Z", deadline: 10 * time.Minute,
			start: "2026-01-01T04:00:00Z", missed: 2, next: "2026-01-01T05:00:00Z"},
		"after the deadline": {expression: "0 * * * *", last: "2026-01-01T01:00:00Z", now: "2026-01-01T04:10:01Z", deadline: 10 * time.Minute,
			missed: 3, next: "2026-01-01T05:00:00Z"},
		"100 missed": {expression: "* * * * *", last: "2026-01-01T00:00:00Z", now: "2026-01-01T01:41:00Z",
			start: "2026-01-01T01:41:00Z", missed: 100, next: "2026-01-01T01:42:00Z"},
		"more than 100 missed": {expression: "* * * * *", last: "2026-01-01T00:00:00Z", now: "2026-01-03T00:00:30Z",
			start: "2026-01-03T00:00:00Z", missed: 100, next: "2026-01-03T00:01:00Z"},
		"more than 100 missed, after the deadline": {expression: "0 * * * *", last: "2026-01-01T00:00:00Z", now: "2026-02-01T00:30:00Z", deadline: time.Minute,
			missed: 100, next: "2026-02-01T01:00:00Z"},
		"last in year 1": {expression: "* * * * *", zone: "Europe/Berlin", last: "0001-01-01T00:00:00Z", now: "2026-01-03T00:00:30Z",
			start: "2026-01-03T00:00:00Z", missed: 100, next: "2026-01-03T00:01:00Z"},
		"a burst long ago": {expression: "* 0 1 1 *", last: "2020-06-01T00:00:00Z", now: "2026-12-31T00:00:00Z",
			start: "2026-01-01T00:59:00Z", missed: 100, next: "2027-01-01T00:00:00Z"},
		"the clock was set back": {expression: "0 * * * *", last: "2026-01-01T02:00:00Z", now: "2026-01-01T01:30:00Z",
			next: "2026-01-01T03:00:00Z"},
		"negative deadline is none": {expression: "0 * * * *", last: "2026-01-01T01:00:00Z", now: "2026-01-01T02:59:00Z", deadline: -1,
			start: "2026-01-01T02:00:00Z", next: "2026-01-01T03:00:00Z"},
		"start after a gap": {expression: "30 2 * * *", zone: "Europe/Berlin", last: "2026-03-28T02:30:00+01:00", now: "2026-03-29T03:05:00+02:00",
			start: "2026-03-29T03:00:00+02:00", next: "2026-03-30T02:30:00+02:00"},
		"the second 02:30": {expression: "30 2 * * *", zone: "Europe/Berlin", last: "2026-10-25T02:30:00+02:00", now: "2026-10-25T02:31:00+01:00",
			next: "2026-10-26T02:30:00+01:00"},
	} {
		t.Run(name, func(t *testing.T) {
			got := parse(t, tc.expression, tc.zone).Due(instant(t, tc.last), instant(t, tc.now), tc.deadline)
			if tc.start == "" && !got.Start.IsZero() || tc.start != "" && !got.Start.Equal(instant(t, tc.start)) {
				t.Errorf("got start %v, want %q", got.Start, tc.start)
			}
			if got.Missed != tc.missed {
				t.Errorf("got %d missed, want %d", got.Missed, tc.missed)
			}
			if !got.Next.Equal(instant(t, tc.next)) {
				t.Errorf("got next %v, want %s", got.Next, tc.next)
			}
		})
	}
}

// One decision after a downtime of 50 years takes about 0.2 ms. The bound is 5000 times that, for slow machines.
func TestDueIsFastAfterALongDowntime(t *testing.T) {
	last := time.Date(1976, 1, 1, 0, 0, 0, 0, time.UTC)
	now := time.Date(2026, 3, 29, 1, 0, 30, 0, time.UTC)
	for _, expression := range []string{"* * * * *", "* 0-23 * * *", "30 2 * * *", "0 */2 29 2 *", "0 0 29 2 *", "@yearly"} {
		begin := time.Now()
		due := parse(t, expression, "Europe/Berlin").Due(last, now, 0)
		if took := time.Since(begin); took > time.Second {
			t.Errorf("%s: took %s", expression, took)
		}
		if due.Start.IsZero() {
			t.Errorf("%s: nothing is due", expression)
		}
	}
}

func BenchmarkDueAfterALongDowntime(b *testing.B) {
	times, err := Parse("* * * * *", "Europe/Berlin")
	if err != nil {
		b.Fatal(err)
	}
	last := time.Date(1976, 1, 1, 0, 0, 0, 0, time.UTC)
	now := time.Date(2026, 3, 29, 1, 0, 30, 0, time.UTC)
	for b.Loop() {
		times.Due(last, now, 0)
	}
}
