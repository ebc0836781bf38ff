package results

import (
	"fmt"
	"time"
)

const (
	// TimelineInterval is the length of a new timeline's intervals.
	TimelineInterval = 100 * time.Millisecond
	// MaxTimelinePoints bounds a timeline: one that would grow beyond it gets
	// intervals of twice the length.
	MaxTimelinePoints = 600
)

// Timeline says what came when: measured requests, by when their response was
// read, in intervals of equal length from the start of the pod's window. The
// zero Timeline is empty. It takes 20 KB at most.
type Timeline struct {
	// Interval is the length of each point, 0 while there is none: 100 ms, or
	// that doubled as often as was needed.
	Interval time.Duration
	Points   []Point
}

// Point is what came in one interval.
type Point struct {
	Succeeded, Failed uint64
	// Latency is the sum over the successful requests, Longest the greatest.
	Latency, Longest time.Duration
}

// Record counts a request that was answered, or failed, this long after the
// window's start.
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

// point returns the point that an offset falls into, and makes room for it.
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

// Merge adds the points of another timeline, whose window is taken to have
// started at the same time.
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

// Folded returns the timeline in at most so many points.
func (t *Timeline) Folded(points int) Timeline {
	folded := Timeline{}
	folded.Merge(t)
	for len(folded.Points) > max(points, 1) {
		folded.halve()
	}
	return folded
}

// halve makes one point of two.
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
}

// succeededBefore is how many successes came before this offset. Those of the
// interval that it lies in are taken to have come evenly.
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

// maxTimeline is when the last interval of a timeline may begin, in 36 years: so
// it does not overflow, however often its intervals are doubled.
const maxTimeline = 1 << 60 * time.Nanosecond

// check: two timelines can be merged only if one's intervals are the other's,
// doubled. It leaves out intervals at the end in which nothing came.
func (t *Timeline) check() error {
	length := TimelineInterval
	for length < t.Interval && length < 2*maxTimeline {
		length *= 2
	}
	if t.Interval != length && (t.Interval != 0 || len(t.Points) > 0) {
		return fmt.Errorf("wanted intervals of %v, or that doubled some times, found %v", TimelineInterval, t.Interval)
	}
	for len(t.Points) > 0 && t.Points[len(t.Points)-1] == (Point{}) {
		t.Points = t.Points[:len(t.Points)-1]
	}
	if last := len(t.Points) - 1; last > 0 && t.Interval > maxTimeline/time.Duration(last) || t.Interval > 2*maxTimeline {
		return fmt.Errorf("wanted intervals within %v, found %d of %v", maxTimeline, len(t.Points), t.Interval)
	}
	return t.checkCounts()
}

// checkCounts: points are added up.
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
