package results

import (
	"fmt"
	"slices"
	"time"
)

const (
	// TimelineInterval is the interval length of a new timeline.
	TimelineInterval = 100 * time.Millisecond
	// MaxTimelinePoints bounds a timeline. When it would grow beyond that, the interval length is doubled.
	MaxTimelinePoints = 600
)

// Timeline counts measured requests by the time of their response, in intervals of equal length from the start of the
// pod's window. The zero Timeline is empty. It takes at most 34 KB.
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
	// Opened counts the measured requests that were due in the interval and still outstanding at its end. Closed counts
	// those that were due before the interval and not outstanding any more at its end. See Timeline.Outstanding.
	Opened, Closed uint64
	// Carried are the bytes on the connections of a burst.
	Carried Bodies
}

// Outstanding returns, for each interval, how many measured requests were due and unanswered at its end.
func (t *Timeline) Outstanding() []uint64 {
	out, now := make([]uint64, len(t.Points)), uint64(0)
	for i, p := range t.Points {
		// The counts of a pod are not trusted.
		now += min(p.Opened, MaxCount)
		now -= min(p.Closed, now)
		out[i] = now
	}
	return out
}

// Record counts a request that succeeded or failed at this offset from the window's start, after a latency.
func (t *Timeline) Record(offset, latency time.Duration, succeeded bool) {
	at := t.reach(offset)
	p := &t.Points[at]
	if succeeded {
		p.Succeeded++
		p.Latency = addDurations(p.Latency, latency)
		p.Longest = max(p.Longest, latency)
	} else {
		p.Failed++
	}
	t.await(at, offset-latency, 1)
}

// Await counts requests that were due at one offset and are outstanding at another one.
func (t *Timeline) Await(due, until time.Duration, requests uint64) {
	t.await(t.reach(until), due, requests)
}

// await counts requests that were due at an offset and are not outstanding any more at the end of an interval.
func (t *Timeline) await(until int, due time.Duration, requests uint64) {
	if due >= time.Duration(until)*t.Interval {
		return
	}
	if from := int(max(due, 0) / t.Interval); from < until {
		t.Points[from].Opened += requests
		t.Points[until].Closed += requests
	}
}

// Pause adds the pause of a client from one offset to another.
func (t *Timeline) Pause(from, to time.Duration) {
	for from = max(from, 0); from < to; {
		p := &t.Points[t.reach(from)]
		end := min(to, from.Truncate(t.Interval)+t.Interval)
		p.Paused = addDurations(p.Paused, end-from)
		from = end
	}
}

// Carry counts bytes on connections at an offset.
func (t *Timeline) Carry(offset time.Duration, bytes Bodies) {
	t.Points[t.reach(offset)].Carried.add(bytes)
}

// reach returns the index of the point of an offset, and creates the point if needed.
func (t *Timeline) reach(offset time.Duration) int {
	// Most requests end in the newest interval; finding that out takes less time than a division.
	if last := len(t.Points) - 1; isWithin(offset, last, t.Interval) {
		return last
	}
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
	return at
}

// isWithin reports whether an offset lies in an interval with this index.
func isWithin(offset time.Duration, index int, interval time.Duration) bool {
	start := time.Duration(index) * interval
	return start <= offset && offset < start+interval && index >= 0
}

// Merge adds the points of another timeline. It assumes that both windows started at the same time.
func (t *Timeline) Merge(other *Timeline) {
	if other.Interval == 0 {
		return
	}
	if t.Interval == 0 {
		t.Interval = other.Interval
	}
	for t.Interval < other.Interval {
		t.halve()
	}
	same := Timeline{other.Interval, slices.Clone(other.Points)}
	for same.Interval < t.Interval {
		same.halve()
	}
	for i, p := range same.Points {
		t.Points[t.reach(time.Duration(i)*same.Interval)].add(p)
	}
}

// Folded returns the timeline with at most this many points, each at least this long.
func (t *Timeline) Folded(points int, atLeast time.Duration) Timeline {
	folded := Timeline{}
	folded.Merge(t)
	for len(folded.Points) > max(points, 1) || len(folded.Points) > 0 && folded.Interval < min(atLeast, maxTimeline) {
		folded.halve()
	}
	return folded
}

// halve merges each pair of points into one.
func (t *Timeline) halve() {
	t.Interval *= 2
	t.Points = pairwise(t.Points, func(p, next *Point) {
		p.add(*next)
	})
}

// Sum adds up neighbouring points.
func Sum(points []Point) (sum Point) {
	for _, p := range points {
		sum.add(p)
	}
	return sum
}

func (p *Point) add(other Point) {
	p.Succeeded += other.Succeeded
	p.Failed += other.Failed
	p.Latency = addDurations(p.Latency, other.Latency)
	p.Longest = max(p.Longest, other.Longest)
	p.Paused = addDurations(p.Paused, other.Paused)
	p.Opened += other.Opened
	p.Closed += other.Closed
	p.Carried.add(other.Carried)
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

// check requires intervals that can be merged. It removes empty intervals at the end.
func (t *Timeline) check() error {
	for len(t.Points) > 0 && t.Points[len(t.Points)-1] == (Point{}) {
		t.Points = t.Points[:len(t.Points)-1]
	}
	if err := checkInterval(t.Interval, len(t.Points)); err != nil {
		return err
	}
	return t.checkCounts()
}

// checkInterval requires an interval length that is TimelineInterval doubled some times; only such intervals can be
// merged.
func checkInterval(found time.Duration, intervals int) error {
	length := TimelineInterval
	for length < found && length < 2*maxTimeline {
		length *= 2
	}
	if found != length && (found != 0 || intervals > 0) {
		return fmt.Errorf("wanted intervals of %v, doubled any number of times, found %v", TimelineInterval, found)
	}
	if last := intervals - 1; last > 0 && found > maxTimeline/time.Duration(last) || found > 2*maxTimeline {
		return fmt.Errorf("wanted intervals within %v, found %d of %v", maxTimeline, intervals, found)
	}
	return nil
}

// checkCounts bounds the sum of all points, because points are added up.
func (t *Timeline) checkCounts() error {
	var total uint64
	for _, p := range t.Points {
		total += p.Succeeded + p.Failed
		if p.Opened > MaxCount || p.Closed > MaxCount {
			return fmt.Errorf("wanted at most %d outstanding requests, found %d", uint64(MaxCount), max(p.Opened, p.Closed))
		}
	}
	if total > MaxCount {
		return fmt.Errorf("wanted at most %d requests over time, found %d", uint64(MaxCount), total)
	}
	return nil
}
