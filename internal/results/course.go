package results

import "time"

// Course is what happened over the measured window.
type Course struct {
	Timeline Timeline
	Heatmap  Heatmap
	// Samples are by the member's ID; only pod 0 has them.
	Samples map[string]*Samples
}

// minIntervals is the fewest intervals to which Shrink folds a course.
const minIntervals = 8

// Shrink halves the largest part of the course: the samples, or the number of intervals. It returns false if all parts
// are small.
func (c *Course) Shrink() bool {
	samples := 0
	for _, s := range c.Samples {
		samples = max(samples, len(s.At))
	}
	intervals := max(len(c.Timeline.Points), len(c.Heatmap.Columns))
	switch {
	case samples > MaxSamples/8 && samples*len(c.Samples)*len(SampledFigures) > intervals:
		c.Samples = halved(c.Samples)
	case intervals > minIntervals:
		c.Timeline, c.Heatmap = c.Timeline.Folded((intervals+1)/2, 0), c.Heatmap.Folded((intervals+1)/2, 0)
	case len(c.Samples) > 0:
		c.Samples = nil
	default:
		return false
	}
	return true
}

// merge adds the course of another pod.
func (c *Course) merge(other *Course) {
	c.Timeline.Merge(&other.Timeline)
	c.Heatmap.Merge(&other.Heatmap)
	if c.Samples == nil {
		c.Samples = other.Samples
	}
}

// Folded returns the course with intervals of one length for timeline and heatmap: at most this many, each at least this
// long.
func (c *Course) Folded(intervals int, atLeast time.Duration) Course {
	atLeast = max(atLeast, c.Timeline.Interval, c.Heatmap.Interval)
	for {
		out := Course{Timeline: c.Timeline.Folded(intervals, atLeast), Heatmap: c.Heatmap.Folded(intervals, atLeast), Samples: c.Samples}
		longest := max(out.Timeline.Interval, out.Heatmap.Interval)
		if longest <= atLeast {
			return out
		}
		atLeast = longest
	}
}
