package schedule

import (
	"testing"
	"time"
)

func TestNext(t *testing.T) {
	for name, tc := range map[string]struct {
		expression, zone, after string
		want                    []string
	}{
		"strictly after": {"0 12 * * *", "", "2026-01-01T12:00:00Z",
			[]string{"2026-01-02T12:00:00Z"}},
		"a moment before": {"0 12 * * *", "", "2026-01-01T11:59:59.999999999Z",
			[]string{"2026-01-01T12:00:00Z"}},
		"after in another zone": {"0 12 * * *", "Asia/Kolkata", "2026-01-01T01:30:00-05:00",
			[]string{"2026-01-02T06:30:00Z"}},
		"half-hour offset": {"0 0 * * *", "Asia/Kolkata", "2026-01-01T00:00:00Z",
			[]string{"2026-01-01T18:30:00Z", "2026-01-02T18:30:00Z"}},
		"hourly with half-hour offset": {"@hourly", "Asia/Kolkata", "2026-01-01T00:00:00Z",
			[]string{"2026-01-01T00:30:00Z", "2026-01-01T01:30:00Z"}},
		"leap day": {"0 0 29 2 *", "", "2024-02-29T00:00:00Z",
			[]string{"2028-02-29T00:00:00Z", "2032-02-29T00:00:00Z"}},
		"no leap day in 2100": {"0 0 29 2 *", "Europe/Berlin", "2096-02-29T00:00:00Z",
			[]string{"2104-02-28T23:00:00Z"}},
		"no leap day in 2100, in a step of hours": {"0 */12 29 2 *", "Europe/Berlin", "2096-03-01T00:00:00Z",
			[]string{"2104-02-28T23:00:00Z", "2104-02-29T11:00:00Z", "2108-02-28T23:00:00Z"}},
		"month ends": {"0 0 31 * *", "", "2026-01-01T00:00:00Z",
			[]string{"2026-01-31T00:00:00Z", "2026-03-31T00:00:00Z", "2026-05-31T00:00:00Z", "2026-07-31T00:00:00Z"}},
		"names": {"0 9 * * MON-FRI", "", "2026-01-01T09:00:00Z",
			[]string{"2026-01-02T09:00:00Z", "2026-01-05T09:00:00Z"}},
		"both days are a union": {"0 0 13 * FRI", "", "2026-01-09T00:00:00Z",
			[]string{"2026-01-13T00:00:00Z", "2026-01-16T00:00:00Z"}},
		"a step of days is a restriction": {"0 0 */10 * FRI", "", "2026-01-01T00:00:00Z",
			[]string{"2026-01-02T00:00:00Z", "2026-01-09T00:00:00Z", "2026-01-11T00:00:00Z"}},
		"yearly": {"@yearly", "Europe/Berlin", "2026-06-01T00:00:00Z",
			[]string{"2026-12-31T23:00:00Z"}},
		// Go's ZoneBounds returns an end in the past on that day.
		"31 December of a leap year": {"0 * * * *", "Europe/Berlin", "2096-12-31T22:30:00Z",
			[]string{"2096-12-31T23:00:00Z", "2097-01-01T00:00:00Z"}},
		"31 December of a leap year, fixed": {"0 23 31 12 *", "America/New_York", "2096-12-31T00:00:00Z",
			[]string{"2097-01-01T04:00:00Z", "2098-01-01T04:00:00Z"}},

		"Berlin, 02:30 does not exist": {"30 2 * * *", "Europe/Berlin", "2026-03-28T12:00:00Z",
			[]string{"2026-03-29T03:00:00+02:00", "2026-03-30T02:30:00+02:00"}},
		"Berlin, 02:00 does not exist": {"0 2 * * *", "Europe/Berlin", "2026-03-28T12:00:00Z",
			[]string{"2026-03-29T03:00:00+02:00", "2026-03-30T02:00:00+02:00"}},
		"Berlin, two times in the gap": {"0,30 2 * * *", "Europe/Berlin", "2026-03-28T12:00:00Z",
			[]string{"2026-03-29T03:00:00+02:00", "2026-03-30T02:00:00+02:00"}},
		"Berlin, gap and its end": {"30 2,3 * * *", "Europe/Berlin", "2026-03-28T12:00:00Z",
			[]string{"2026-03-29T03:00:00+02:00", "2026-03-29T03:30:00+02:00", "2026-03-30T02:30:00+02:00"}},
		"Berlin, every minute of a fixed hour in the gap": {"* 2 * * *", "Europe/Berlin", "2026-03-28T12:00:00Z",
			[]string{"2026-03-29T03:00:00+02:00", "2026-03-30T02:00:00+02:00", "2026-03-30T02:01:00+02:00"}},
		"Berlin, only that day": {"30 2 29 3 *", "Europe/Berlin", "2026-01-01T00:00:00Z",
			[]string{"2026-03-29T03:00:00+02:00", "2027-03-29T02:30:00+02:00"}},
		"Berlin, quarters at the gap": {"*/15 * * * *", "Europe/Berlin", "2026-03-29T01:30:00+01:00",
			[]string{"2026-03-29T01:45:00+01:00", "2026-03-29T03:00:00+02:00", "2026-03-29T03:15:00+02:00"}},
		"Berlin, second hours at the gap": {"0 */2 * * *", "Europe/Berlin", "2026-03-28T22:00:00+01:00",
			[]string{"2026-03-29T00:00:00+01:00", "2026-03-29T04:00:00+02:00"}},
		"Berlin, 02:30 occurs twice": {"30 2 * * *", "Europe/Berlin", "2026-10-24T12:00:00Z",
			[]string{"2026-10-25T02:30:00+02:00", "2026-10-26T02:30:00+01:00"}},
		"Berlin, from the second 02:10": {"30 2 * * *", "Europe/Berlin", "2026-10-25T02:10:00+01:00",
			[]string{"2026-10-26T02:30:00+01:00"}},
		"Berlin, 03:00 after the doubled hour": {"0 2,3 * * *", "Europe/Berlin", "2026-10-24T12:00:00Z",
			[]string{"2026-10-25T02:00:00+02:00", "2026-10-25T03:00:00+01:00", "2026-10-26T02:00:00+01:00"}},
		"Berlin, half hours in the doubled hour": {"*/30 * * * *", "Europe/Berlin", "2026-10-25T01:30:00+02:00",
			[]string{"2026-10-25T02:00:00+02:00", "2026-10-25T02:30:00+02:00", "2026-10-25T02:00:00+01:00",
				"2026-10-25T02:30:00+01:00", "2026-10-25T03:00:00+01:00"}},
		"Berlin, second hours and the doubled hour": {"0 */2 * * *", "Europe/Berlin", "2026-10-25T00:00:00+02:00",
			[]string{"2026-10-25T02:00:00+02:00", "2026-10-25T02:00:00+01:00", "2026-10-25T04:00:00+01:00"}},
		"Berlin, explicit hours and the doubled hour": {"0 0-23/2 * * *", "Europe/Berlin", "2026-10-25T00:00:00+02:00",
			[]string{"2026-10-25T02:00:00+02:00", "2026-10-25T04:00:00+01:00"}},

		"New York, gap": {"30 2 * * *", "America/New_York", "2026-03-07T12:00:00Z",
			[]string{"2026-03-08T03:00:00-04:00", "2026-03-09T02:30:00-04:00"}},
		"New York, doubled": {"30 1 * * *", "America/New_York", "2026-10-31T12:00:00Z",
			[]string{"2026-11-01T01:30:00-04:00", "2026-11-02T01:30:00-05:00"}},
		"Lord Howe, gap of half an hour": {"15 2 * * *", "Australia/Lord_Howe", "2026-10-03T00:00:00Z",
			[]string{"2026-10-04T02:30:00+11:00", "2026-10-05T02:15:00+11:00"}},
		"Lord Howe, every half hour at the gap": {"*/30 * * * *", "Australia/Lord_Howe", "2026-10-04T01:30:00+10:30",
			[]string{"2026-10-04T02:30:00+11:00", "2026-10-04T03:00:00+11:00"}},
		"Lord Howe, doubled half hour": {"45 1 * * *", "Australia/Lord_Howe", "2026-04-04T00:00:00Z",
			[]string{"2026-04-05T01:45:00+11:00", "2026-04-06T01:45:00+10:30"}},
		"Lord Howe, quarters in the doubled half hour": {"*/15 * * * *", "Australia/Lord_Howe", "2026-04-05T01:30:00+11:00",
			[]string{"2026-04-05T01:45:00+11:00", "2026-04-05T01:30:00+10:30", "2026-04-05T01:45:00+10:30",
				"2026-04-05T02:00:00+10:30"}},
		"Sao Paulo, no midnight": {"0 0 * * *", "America/Sao_Paulo", "2018-11-03T12:00:00Z",
			[]string{"2018-11-04T01:00:00-02:00", "2018-11-05T00:00:00-02:00"}},
		"Sao Paulo, daily": {"@daily", "America/Sao_Paulo", "2018-11-03T12:00:00Z",
			[]string{"2018-11-04T01:00:00-02:00", "2018-11-05T00:00:00-02:00"}},
		"Sao Paulo, a Sunday without midnight": {"0 0 * * SUN", "America/Sao_Paulo", "2018-11-03T12:00:00Z",
			[]string{"2018-11-04T01:00:00-02:00", "2018-11-11T00:00:00-02:00"}},
		"Sao Paulo, hourly": {"@hourly", "America/Sao_Paulo", "2018-11-03T23:00:00-03:00",
			[]string{"2018-11-04T01:00:00-02:00", "2018-11-04T02:00:00-02:00"}},
		"Sao Paulo, doubled hour before midnight": {"30 23 * * *", "America/Sao_Paulo", "2019-02-16T12:00:00Z",
			[]string{"2019-02-16T23:30:00-02:00", "2019-02-17T23:30:00-03:00"}},
		"Apia, a day that does not exist": {"0 12 30 12 *", "Pacific/Apia", "2011-12-01T00:00:00Z",
			[]string{"2011-12-31T00:00:00+14:00", "2012-12-30T12:00:00+14:00"}},
	} {
		t.Run(name, func(t *testing.T) {
			times := parse(t, tc.expression, tc.zone)
			at := instant(t, tc.after)
			for i, want := range tc.want {
				at = times.Next(at)
				if !at.Equal(instant(t, want)) {
					t.Fatalf("start %d: got %s, want %s", i, at.Format(time.RFC3339), want)
				}
				if at.Location() != times.zone {
					t.Errorf("start %d: got zone %v, want %v", i, at.Location(), times.zone)
				}
			}
		})
	}
}

func TestZeroValueHasNoStarts(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	if got := (Times{}).Next(now); !got.IsZero() {
		t.Errorf("got next %v, want none", got)
	}
	if got := (Times{}).Due(time.Time{}, now, 0); got != (Due{}) {
		t.Errorf("got %+v, want nothing due", got)
	}
}
