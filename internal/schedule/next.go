package schedule

import "time"

// Clock times are kept as a time.Time in UTC that shows what the clock in the zone shows.

// maxPeriods bounds the search of Next. A zone has up to about four periods per year.
const maxPeriods = 400

// Next returns the first start after the given time, in the schedule's time zone. It is the zero time only if there is
// none, which cannot happen after Parse.
func (t Times) Next(after time.Time) time.Time {
	switch {
	case t.spec == nil:
		return time.Time{}
	case t.fixedHours:
		return t.nextFixed(after)
	}
	return t.nextShown(after)
}

// nextFixed tries clock times in their order. Their starts have the same order, so the first one after the given time
// is the next. If the clock was put back a moment ago, the first clock times have started before.
func (t Times) nextFixed(after time.Time) time.Time {
	clock := clockAt(after, periodAt(after, t.zone))
	for {
		clock = t.nextClock(clock)
		if clock.IsZero() {
			return time.Time{}
		}
		if start := t.reached(clock); start.After(after) {
			return start
		}
	}
}

// reached returns the first instant when the clock shows the given time or a later one.
func (t Times) reached(clock time.Time) time.Time {
	// No zone is 24 hours away from UTC, so the clock has not shown that time yet.
	from := clock.Add(-24 * time.Hour)
	for {
		p := periodAt(from, t.zone)
		start := clock.Add(-p.offset)
		if start.Before(from) {
			// The clock jumped over the time.
			start = from
		}
		if p.contains(start) {
			return start.In(t.zone)
		}
		from = p.end
	}
}

// nextShown finds the first instant when the clock shows a time of the schedule, one period after the other.
func (t Times) nextShown(after time.Time) time.Time {
	p := periodAt(after, t.zone)
	from := clockAt(after, p)
	for range maxPeriods {
		clock := t.nextClock(from)
		if clock.IsZero() {
			return time.Time{}
		}
		if start := clock.Add(-p.offset); p.contains(start) {
			return start.In(t.zone)
		}
		at := p.end
		p = periodAt(at, t.zone)
		// The first instant of a period can be a start.
		from = clockAt(at, p).Add(-time.Nanosecond)
	}
	return time.Time{}
}

// nextClock returns the first clock time of the schedule after the given one; zero if there is none within 11 years.
// Two 29 February can be 8 years apart, and cron gives up at the end of the fifth year.
func (t Times) nextClock(clock time.Time) time.Time {
	if next := t.spec.Next(clock); !next.IsZero() {
		return next
	}
	return t.spec.Next(time.Date(clock.Year()+6, time.January, 1, 0, 0, 0, -1, time.UTC))
}

// period is a time during which the offset of a zone from UTC is constant.
type period struct {
	offset time.Duration
	// end is the first instant after the period; zero if the offset does not change any more.
	end time.Time
}

func (p period) contains(at time.Time) bool {
	return p.end.IsZero() || at.Before(p.end)
}

// periodAt returns the period that begins at or before the given time and contains it. It can end before the offset
// changes: another period with the same offset follows.
func periodAt(at time.Time, zone *time.Location) period {
	local := at.In(zone)
	_, seconds := local.Zone()
	_, end := local.ZoneBounds()
	if !end.IsZero() && !end.After(at) {
		// ZoneBounds takes each future year as 365 days: on 31 December of a leap year its end is 00:00 UTC of that day.
		end = at.UTC().Truncate(24 * time.Hour).Add(24 * time.Hour)
	}
	return period{offset: time.Duration(seconds) * time.Second, end: end}
}

func clockAt(at time.Time, p period) time.Time {
	return at.UTC().Add(p.offset)
}
