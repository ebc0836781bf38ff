package results

import "time"

// timing is derived from the windows of all pods.
type timing struct {
	requestBound bool
	// end of the last window; the last response while a window is open.
	end             time.Time
	length, longest time.Duration
	// planned is the longest one that was planned.
	planned time.Duration
	// startSkew is the distance between the first and the last start.
	startSkew time.Duration
	// steady and tail are set only for runs bound by requests: the rate while all pods had work, and the time after
	// that.
	steady float64
	tail   time.Duration
}

func newTiming(snapshots []*Snapshot) timing {
	var t timing
	var started []*Snapshot
	for _, s := range snapshots {
		if s == nil {
			continue
		}
		t.planned = max(t.planned, s.Window.Planned)
		t.requestBound = t.requestBound || s.Window.PlannedRequests > 0
		if !s.Window.Start.IsZero() && s.Window.end().After(s.Window.Start) {
			started = append(started, s)
		}
	}
	t.startSkew = startSkew(snapshots)
	if len(started) > 0 {
		t.measure(started)
	}
	return t
}

// end of the window; the last response while it is open. The window of a run bound by requests always ends with the
// last response.
func (w Window) end() time.Time {
	if w.End.IsZero() || w.PlannedRequests > 0 {
		return w.LastResponse
	}
	return w.End
}

// measure computes the values for which a window must have started.
func (t *timing) measure(started []*Snapshot) {
	first := started[0].Window
	start, lastStart, firstEnd := first.Start, first.Start, first.end()
	for _, s := range started {
		w := s.Window
		own := w.end().Sub(w.Start)
		t.longest = max(t.longest, own)
		start, lastStart = earlier(start, w.Start), later(lastStart, w.Start)
		firstEnd, t.end = earlier(firstEnd, w.end()), later(t.end, w.end())
	}
	t.length = t.longest
	if t.requestBound {
		t.length, t.tail = t.end.Sub(start), t.end.Sub(firstEnd)
		t.steady = steady(started, lastStart, firstEnd)
	}
}

// steady is the rate between two times, 0 if from is not before to.
func steady(started []*Snapshot, from, to time.Time) float64 {
	length := to.Sub(from)
	if length <= 0 {
		return 0
	}
	var succeeded float64
	for _, s := range started {
		succeeded += s.succeededBefore(to) - s.succeededBefore(from)
	}
	return succeeded / length.Seconds()
}

// succeededBefore returns the number of successes before at. Without a timeline it assumes an even rate.
func (s *Snapshot) succeededBefore(at time.Time) float64 {
	all, offset, own := float64(s.succeeded()), at.Sub(s.Window.Start), s.Window.end().Sub(s.Window.Start)
	switch {
	case offset <= 0:
		return 0
	case offset >= own:
		return all
	case s.Timeline.Interval > 0:
		return s.Timeline.succeededBefore(offset)
	}
	return all * offset.Seconds() / own.Seconds()
}

func (s *Snapshot) succeeded() (n uint64) {
	for operation, r := range s.Operations {
		if !operation.IsEvent() && !operation.IsPart() {
			n += r.Latency.Count()
		}
	}
	return n
}

func startSkew(snapshots []*Snapshot) time.Duration {
	var first, last time.Time
	for _, s := range snapshots {
		if s != nil && !s.Window.Start.IsZero() {
			at := s.Window.StartAt.Add(s.Window.Skew)
			first, last = earlier(first, at), later(last, at)
		}
	}
	return last.Sub(first)
}
