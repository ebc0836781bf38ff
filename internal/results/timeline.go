package results

import (
	"fmt"
	"time"
)

const (
	// TimelineInterval is the interval length of a new timeline.
	TimelineInterval = 100 * time.Millisecond
	// MaxTimelinePoints bounds a timeline. When it would grow beyond that, the interval length is doubled.
	MaxTimelinePoints = 600
)

// Timeline counts measured requests by the time of their response, in intervals of equal length from the start of the
// pod's window. The zero Timeline is empty. It takes at most 20 KB.
type Timeline struct {
	// Interval is the length of each point: 100 ms, doubled as often as needed; 0 while there is no point.
	Interval time.Duration
	Points   []Point
}

// Point holds the results of one interval.
type Point struct {
	Succeeded, Failed uint64
	// Latency is the sum over the successful requests, Longest the longest latency.
	Latency, Longest time.Duration
	// Paused is how long clients paused after requests that failed at once, added up.
	Paused time.Duration
}

// Record counts a request that succeeded or failed at this offset from the window's start.
func (t *Timeline) Record(offset, latency time.Duration, succeeded bool) {
	p := t.point(offset)
	if !succeeded {
		p.Failed++
		return
	}
	p.Succeeded++
	p.Latency = addDurations(p.Latency, latency)
	p.Longest = max(p.Longest, latency)
}

// Pause adds the pause of a client from one offset to another.
func (t *Timeline) Pause(from, to time.Duration) {
	for from = max(from, 0); from < to; {
		p := t.point(from)
		end := min(to, from.Truncate(t.Interval)+t.Interval)
		p.Paused = addDurations(p.Paused, end-from)
		from = end
	}
}

// point returns the point of an offset, creating it if needed.
func (t *Timeline) point(offset time.Duration) *Point {
	if t.Interval == 0 {
		t.Interval, t.Points = TimelineInterval, make([]Point, 0, MaxTimelinePoints)
	}
	at := int(max(offset, 0) / t.Interval)
	for at >= MaxTimelinePoints {
		t.halve()
		at /= 2
	}
	for len(t.Points) <= at {
		t.Points = append(t.Points, Point{})
	}
	return &t.Points[at]
}

// Merge adds the points of another timeline. It assumes that both windows started at the same time.
func (t *Timeline) Merge(other *Timeline) {
	if other.Interval == 0 {
		return
	}
	if t.Interval == 0 {
		t.Interval = other.Interval
	}
	widest := max(t.Interval, other.Interval)
	for t.Interval < widest {
		t.halve()
	}
	for i, p := range other.Points {
		offset := time.Duration(i) * other.Interval
		t.point(offset).add(p)
	}
}

// Folded returns the timeline with at most this many points.
func (t *Timeline) Folded(points int) Timeline {
	folded := Timeline{}
	folded.Merge(t)
	for len(folded.Points) > max(points, 1) {
		folded.halve()
	}
	return folded
}

// halve merges each pair of points into one.
func (t *Timeline) halve() {
	t.Interval *= 2
	half := (len(t.Points) + 1) / 2
	for i := range half {
		sum := t.Points[2*i]
		if 2*i+1 < len(t.Points) {
			sum.add(t.Points[2*i+1])
		}
		t.Points[i] = sum
	}
	t.Points = t.Points[:half]
}

func (p *Point) add(other Point) {
	p.Succeeded += other.Succeeded
	p.Failed += other.Failed
	p.Latency = addDurations(p.Latency, other.Latency)
	p.Longest = max(p.Longest, other.Longest)
	p.Paused = addDurations(p.Paused, other.Paused)
}

// succeededBefore returns the number of successes before this offset. Within an interval it assumes an even rate.
func (t *Timeline) succeededBefore(offset time.Duration) float64 {
	var n float64
	for i, p := range t.Points {
		share := float64(offset-time.Duration(i)*t.Interval) / float64(t.Interval)
		if share <= 0 {
			break
		}
		n += min(share, 1) * float64(p.Succeeded)
	}
	return n
}

// maxTimeline is the latest start of the last interval (36 years), so that doubling intervals cannot overflow.
const maxTimeline = 1 << 60 * time.Nanosecond

// check requires an interval length that is TimelineInterval doubled some times; only such timelines can be merged. It
// removes empty intervals at the end.
func (t *Timeline) check() error {
	length := TimelineInterval
	for length < t.Interval && length < 2*maxTimeline {
		length *= 2
	}
	if t.Interval != length && (t.Interval != 0 || len(t.Points) > 0) {
		return fmt.Errorf("wanted intervals of %v, doubled any number of times, found %v", TimelineInterval, t.Interval)
	}
	for len(t.Points) > 0 && t.Points[len(t.Points)-1] == (Point{}) {
		t.Points = t.Points[:len(t.Points)-1]
	}
	if last := len(t.Points) - 1; last > 0 && t.Interval > maxTimeline/time.Duration(last) || t.Interval > 2*maxTimeline {
		return fmt.Errorf("wanted intervals within %v, found %d of %v", maxTimeline, len(t.Points), t.Interval)
	}
	return t.checkCounts()
}

// checkCounts bounds the sum of all points, because points are added up.
func (t *Timeline) checkCounts() error {
	var total uint64
	for _, p := range t.Points {
		total += p.Succeeded + p.Failed
	}
	if total > MaxCount {
		return fmt.Errorf("wanted at most %d requests over time, found %d", uint64(MaxCount), total)
	}
	return nil
}
