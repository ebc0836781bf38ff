package render

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// Intervals are a course in intervals of equal length, all within the window. The table in the terminal and the page
// show the same intervals, so their lowest and highest values agree.
type Intervals struct {
	Length time.Duration
	Points []results.Point
	// Columns have the latencies of each interval; there are none if they are not known.
	Columns []results.Histogram
	// Stalled are the intervals in which requests were waiting and none ended. In a burst, no byte was received either.
	Stalled []bool
	// Tail is the highest percentile for which the intervals have enough requests.
	Tail spec.Statistic
	// rest is the end of the window, which is shorter than an interval. It has no length if the intervals are the window.
	rest *Intervals
}

// WithRest also has the end of the window, which is shorter than the other intervals, and its length. A value of so short a
// time is not one of the lowest and highest.
func (d Intervals) WithRest() (all Intervals, last time.Duration) {
	if d.rest == nil {
		return d, d.Length
	}
	d.Points, d.Stalled = append(slices.Clone(d.Points), d.rest.Points...), append(slices.Clone(d.Stalled), d.rest.Stalled...)
	d.Columns = append(slices.Clone(d.Columns), d.rest.Columns...)
	return d, d.rest.Length
}

const (
	// maxIntervals is as many bars as fit in TableWidth.
	maxIntervals = 60
	// filled is the share of the requests that must be in intervals with enough of them. The rest may be in intervals with
	// few: stalls, and the begin of a ramp.
	filled = 0.95
	// forP99 and forP90 are how many requests an interval needs, so that results.MinBeyond of them take longer.
	forP99, forP90 = 100 * results.MinBeyond, 10 * results.MinBeyond
	// fewestWithP99 is how many intervals must be left if they are lengthened for a p99.
	fewestWithP99 = 20
)

// IntervalsOf folds a course into the shortest intervals of which nearly each has enough requests for a p99, or for a p90
// if too few intervals with a p99 would be left. The end of the window that is no whole interval is apart, see WithRest. It
// returns no intervals if there are not two with enough requests.
func IntervalsOf(c *results.Course, window time.Duration) Intervals {
	same := c.Folded(results.MaxTimelinePoints, 0)
	if same.Timeline.Interval == 0 {
		return Intervals{}
	}
	whole := min(len(same.Timeline.Points), int(window/same.Timeline.Interval))
	points := same.Timeline.Points[:whole]
	width := cmp.Or(widthFor(points, forP99, fewestWithP99), widthFor(points, forP90, 2))
	if width == 0 {
		return Intervals{}
	}
	d := merged(same, 0, whole, width)
	d.rest = restOf(same, whole, width, window)
	d.Tail = spec.StatisticP90
	if isFilled(points, width, forP99) {
		d.Tail = spec.StatisticP99
	}
	return d
}

// widthFor is how many neighbouring points the shortest intervals have of which nearly each has enough requests; 0 if there
// would be fewer than the fewest intervals.
func widthFor(points []results.Point, each uint64, fewest int) int {
	shortest := max((len(points)+maxIntervals-1)/maxIntervals, 1)
	for intervals := len(points) / shortest; intervals >= fewest; intervals-- {
		// The longest that so many intervals can be, so that the omitted end is short.
		if width := len(points) / intervals; isFilled(points, width, each) {
			return width
		}
	}
	return 0
}

func isFilled(points []results.Point, width int, each uint64) bool {
	var total, enough uint64
	for from := 0; from+width <= len(points); from += width {
		p := results.Sum(points[from : from+width])
		ended := p.Succeeded + p.Failed
		total += ended
		if ended >= each {
			enough += ended
		}
	}
	return total > 0 && float64(enough) >= filled*float64(total)
}

// restOf is the end of a window after its last whole interval. If responses came after the window, a point that is partly
// in it is left out: they could be in it.
func restOf(c results.Course, whole, width int, window time.Duration) *Intervals {
	from := whole / width * width
	end := time.Duration(whole) * c.Timeline.Interval
	if len(c.Timeline.Points) == whole+1 && window > end {
		whole, end = whole+1, window
	}
	if from == whole {
		return nil
	}
	d := merged(c, from, whole, whole-from)
	d.Length = end - time.Duration(from)*c.Timeline.Interval
	return &d
}

// merged merges each width of some points of a course into an interval.
func merged(c results.Course, from, whole, width int) Intervals {
	d, outstanding := Intervals{Length: time.Duration(width) * c.Timeline.Interval}, c.Timeline.Outstanding()
	for ; from+width <= whole; from += width {
		p := results.Sum(c.Timeline.Points[from : from+width])
		d.Points, d.Stalled = append(d.Points, p), append(d.Stalled, p.Succeeded+p.Failed == 0 && p.Carried.Received == 0 && outstanding[from+width-1] > 0)
		if len(c.Heatmap.Columns) == 0 {
			continue
		}
		var column results.Histogram
		for i := from; i < min(from+width, len(c.Heatmap.Columns)); i++ {
			column.Merge(&c.Heatmap.Columns[i])
		}
		d.Columns = append(d.Columns, column)
	}
	return d
}

// Percentile is a percentile of an interval in microseconds, NaN if it is not known or thin. The median is never thin:
// with few requests it is as good as any other value.
func (d Intervals) Percentile(i int, p spec.Statistic) float64 {
	if i >= len(d.Columns) || p != spec.StatisticP50 && d.Columns[i].IsThin(p) {
		return math.NaN()
	}
	value, known := d.Columns[i].Quantile(results.QuantileOf(p))
	if !known {
		return math.NaN()
	}
	return float64(value.Microseconds())
}
