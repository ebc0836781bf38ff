package schedule

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"
)

var zones = []string{"", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Kolkata",
	"America/Sao_Paulo", "Pacific/Apia", "Africa/Casablanca", "Asia/Kathmandu"}

func random() *rand.Rand { return rand.New(rand.NewPCG(1, 2)) }

// rule is a random expression that the tests can match on their own.
type rule struct {
	minutes, hours, days, weekdays field
}

// field is a list or a step over a star. All its values match if it is "*".
type field struct {
	text   string
	values map[int]bool
}

func (f field) matches(value int) bool { return f.text == "*" || f.values[value] }

func randomField(r *rand.Rand, low, high int) field {
	f := field{values: map[int]bool{}}
	switch r.IntN(3) {
	case 0:
		f.text = "*"
	case 1:
		step := 2 + r.IntN(high/2)
		f.text = fmt.Sprintf("*/%d", step)
		for v := low; v <= high; v += step {
			f.values[v] = true
		}
	default:
		for range 1 + r.IntN(4) {
			v := low + r.IntN(high-low+1)
			if f.text != "" {
				f.text += ","
			}
			f.text += fmt.Sprint(v)
			f.values[v] = true
		}
	}
	return f
}

func randomRule(r *rand.Rand) rule {
	out := rule{randomField(r, 0, 59), randomField(r, 0, 23), field{text: "*"}, field{text: "*"}}
	if r.IntN(3) == 0 {
		out.days = randomField(r, 1, 31)
	}
	if r.IntN(3) == 0 {
		out.weekdays = randomField(r, 0, 6)
	}
	return out
}

func (r rule) expression() string {
	return fmt.Sprintf("%s %s %s * %s", r.minutes.text, r.hours.text, r.days.text, r.weekdays.text)
}

func (r rule) fixedHours() bool { return r.hours.text[0] != '*' }

func (r rule) matches(clock time.Time) bool {
	day, weekday := r.days.matches(clock.Day()), r.weekdays.matches(int(clock.Weekday()))
	dayMatches := day && weekday
	if r.days.text != "*" && r.weekdays.text != "*" {
		dayMatches = day || weekday
	}
	return dayMatches && r.minutes.matches(clock.Minute()) && r.hours.matches(clock.Hour())
}

// slowStarts walks every minute from a time to another and looks at the clock.
func (r rule) slowStarts(from, to time.Time, zone *time.Location) (out []time.Time) {
	clock := func(at time.Time) time.Time {
		l := at.In(zone)
		return time.Date(l.Year(), l.Month(), l.Day(), l.Hour(), l.Minute(), 0, 0, time.UTC)
	}
	// The clock of two days before is the highest that it has shown until then: no zone has two changes within a day.
	highest := clock(from.Add(-48 * time.Hour))
	for at := from.Add(-48 * time.Hour); !at.After(to); at = at.Add(time.Minute) {
		starts, now := false, clock(at)
		if !r.fixedHours() {
			starts = r.matches(now)
		}
		for ; highest.Before(now); highest = highest.Add(time.Minute) {
			starts = starts || r.fixedHours() && r.matches(highest.Add(time.Minute))
		}
		if starts && at.After(from) {
			out = append(out, at)
		}
	}
	return out
}

// changes are times when the clock of a zone changes, and some other days.
func changes(zone *time.Location) []time.Time {
	out := []time.Time{
		time.Date(2011, 12, 30, 10, 0, 0, 0, time.UTC), // Pacific/Apia has no such day.
		time.Date(2026, 7, 1, 0, 0, 0, 0, time.UTC),
		time.Date(2096, 12, 31, 12, 0, 0, 0, time.UTC),
	}
	for _, year := range []int{2018, 2019, 2026, 2027, 2060} {
		for at := time.Date(year, 1, 1, 0, 0, 0, 0, time.UTC); at.Year() == year; at = at.Add(time.Hour) {
			_, before := at.In(zone).Zone()
			_, after := at.Add(time.Hour).In(zone).Zone()
			if before != after {
				out = append(out, at)
			}
		}
	}
	return out
}

func TestNextAgreesWithAWalk(t *testing.T) {
	r := random()
	for _, name := range zones {
		zone, err := time.LoadLocation(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, change := range changes(zone) {
			for range 4 {
				rule := randomRule(r)
				from, to := change.Add(-24*time.Hour), change.Add(48*time.Hour)
				want := rule.slowStarts(from, to, zone)
				times := parse(t, rule.expression(), name)
				at := from
				for _, w := range want {
					if at = times.Next(at); !at.Equal(w) {
						t.Fatalf("%s in %q: got %v, want %v", rule.expression(), name, at, w.In(zone))
					}
				}
				if at = times.Next(at); !at.After(to) {
					t.Fatalf("%s in %q: got %v, want no start", rule.expression(), name, at)
				}
			}
		}
	}
}

func TestNextIncreases(t *testing.T) {
	r := random()
	for _, name := range zones {
		for range 4 {
			rule := randomRule(r)
			times := parse(t, rule.expression(), name)
			seen := map[string]bool{}
			at := time.Date(2017+r.IntN(10), 1, 1, r.IntN(24), r.IntN(60), r.IntN(60), 0, time.UTC)
			for end, n := at.AddDate(6, 0, 0), 0; at.Before(end); n++ {
				next := times.Next(at)
				if !next.After(at) {
					t.Fatalf("%s in %q: after %v comes %v", rule.expression(), name, at, next)
				}
				minute := next.Format("2006-01-02 15:04")
				if rule.fixedHours() && seen[minute] {
					t.Fatalf("%s in %q: %s starts twice", rule.expression(), name, minute)
				}
				seen[minute] = true
				if at = next; n%200 == 199 {
					// Frequent schedules would have millions of starts.
					at = at.Add(time.Duration(r.IntN(100*24)) * time.Hour)
				}
			}
		}
	}
}

// slowDue walks all starts.
func slowDue(t Times, last, now time.Time, deadline time.Duration) (out Due) {
	out.Missed = -1
	var latest time.Time
	for at := t.Next(last); !at.After(now); at = t.Next(at) {
		latest = at
		out.Missed++
	}
	if latest.IsZero() || deadline > 0 && now.Sub(latest) > deadline {
		out.Missed++
	} else {
		out.Start = latest
	}
	out.Missed = min(out.Missed, 100)
	out.Next = t.Next(now)
	return out
}

func TestDueAgreesWithAWalk(t *testing.T) {
	r := random()
	for _, name := range zones {
		zone, err := time.LoadLocation(name)
		if err != nil {
			t.Fatal(err)
		}
		around := changes(zone)
		for range 60 {
			rule := randomRule(r)
			times := parse(t, rule.expression(), name)
			now := around[r.IntN(len(around))].Add(time.Duration(r.IntN(2*86400)-86400) * time.Second)
			if r.IntN(4) == 0 {
				now = times.Next(now)
			}
			last := now.Add(-time.Duration(r.IntN(3*86400)) * time.Second)
			deadline := time.Duration(r.IntN(2)*r.IntN(4*3600)) * time.Second

			got, want := times.Due(last, now, deadline), slowDue(times, last, now, deadline)
			if got != want {
				t.Fatalf("%s in %q, last %v, now %v, deadline %s:\ngot  %+v\nwant %+v",
					rule.expression(), name, last, now, deadline, got, want)
			}
			if got.Start.After(now) || !got.Start.IsZero() && deadline > 0 && now.Sub(got.Start) > deadline {
				t.Fatalf("%s in %q: got start %v at %v with deadline %s", rule.expression(), name, got.Start, now, deadline)
			}
		}
	}
}
