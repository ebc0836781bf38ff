package guard

import "time"

// point is what two counters showed.
type point struct {
	at time.Time
	// count of things, and a sum over them.
	count, sum float64
}

// trail remembers counters for as long as a rule looks back.
type trail struct{ points []point }

// add takes the newest point and returns what the counters rose by since the
// youngest point that is at least that long ago; false while there is none.
// Counters that fell began anew, with what came before them.
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
