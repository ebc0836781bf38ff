package schedule

import "time"

// MaxMissed is the most that Due.Missed counts. A long downtime must neither take long to count nor stop a schedule:
// https://github.com/kubernetes/kubernetes/issues/42649.
const MaxMissed = 100

// Due says which start is due at a time.
type Due struct {
	// Start is the latest start that has come and is not older than the deadline; zero if nothing is due.
	Start time.Time
	// Missed is how many starts since the last one were skipped, because a later one is due or because the deadline
	// passed. At MaxMissed there can be more.
	Missed int
	// Next is the first start that is still to come.
	Next time.Time
}

// Due decides which start is due. last is the last start, or the creation of the object, or a later change of its
// schedule. Starts up to last are done. A start that is older than the deadline is skipped; 0 is no deadline.
func (t Times) Due(last, now time.Time, deadline time.Duration) Due {
	due := Due{Next: t.Next(later(last, now))}
	latest := t.latest(last, now)
	if latest.IsZero() {
		return due
	}
	due.Missed = t.countBefore(latest, last)
	if deadline > 0 && now.Sub(latest) > deadline {
		due.Missed = min(due.Missed+1, MaxMissed)
		return due
	}
	due.Start = latest
	return due
}

// latest returns the latest start after last and not after now; zero if there is none. It halves the time in which a
// later start can be: 50 years take about 30 steps.
func (t Times) latest(last, now time.Time) time.Time {
	start := t.Next(last)
	if start.IsZero() || start.After(now) {
		return time.Time{}
	}
	// Invariant: no start is after end and not after now. Starts are on whole seconds.
	for end := now; end.Sub(start) >= time.Second; {
		middle := start.Add(end.Sub(start) / 2)
		next := t.Next(middle)
		if next.IsZero() || next.After(now) {
			end = middle
		} else {
			start = next
		}
	}
	return start
}

// countBefore counts the starts after last and before end, up to MaxMissed.
func (t Times) countBefore(end, last time.Time) (n int) {
	for start := t.Next(last); n < MaxMissed && start.Before(end); start = t.Next(start) {
		n++
	}
	return n
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
