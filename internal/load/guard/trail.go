package guard

import "time"

// point is a reading of two counters.
type point struct {
	at time.Time
	// count of events, and the sum over them.
	count, sum float64
}

// trail holds readings of counters for as long as a rule looks back.
type trail struct{ points []point }

// add takes the newest reading. It returns the increases since the latest reading that is at least back old; false if
// there is none. If a counter fell, it was reset, and earlier readings are dropped.
func (t *trail) add(p point, back time.Duration) (count, sum float64, ok bool) {
	if n := len(t.points); n > 0 && (p.count < t.points[n-1].count || p.sum < t.points[n-1].sum) {
		t.points = nil
	}
	t.points = append(t.points, p)
	since := p.at.Add(-back)
	for len(t.points) > 1 && !t.points[1].at.After(since) {
		t.points = t.points[1:]
	}
	first := t.points[0]
	return p.count - first.count, p.sum - first.sum, !first.at.After(since)
}
