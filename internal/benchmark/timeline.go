package benchmark

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// Timeline says what came when, in intervals from the start of the measured
// window.
type Timeline struct {
	IntervalSeconds float64         `json:"intervalSeconds"`
	Points          []TimelinePoint `json:"points"`
}

// TimelinePoint is what came in one interval. The latency is that of successful
// requests.
type TimelinePoint struct {
	Succeeded               uint64 `json:"succeeded"`
	Failed                  uint64 `json:"failed,omitempty"`
	MeanLatencyMicroseconds int64  `json:"meanLatencyMicroseconds,omitempty"`
	MaxLatencyMicroseconds  int64  `json:"maxLatencyMicroseconds,omitempty"`
}

// NewTimeline returns nil for a timeline in which nothing came.
func NewTimeline(t results.Timeline) *Timeline {
	if len(t.Points) == 0 {
		return nil
	}
	out := &Timeline{IntervalSeconds: t.Interval.Seconds(), Points: make([]TimelinePoint, len(t.Points))}
	for i, p := range t.Points {
		out.Points[i] = TimelinePoint{Succeeded: p.Succeeded, Failed: p.Failed, MaxLatencyMicroseconds: p.Longest.Microseconds()}
		if p.Succeeded > 0 {
			out.Points[i].MeanLatencyMicroseconds = (p.Latency / time.Duration(p.Succeeded)).Microseconds()
		}
	}
	return out
}

// Limits of a report's intervals, far beyond those that are written, so that
// whatever stands there can be drawn.
const (
	shortestInterval = 1e-6
	longestInterval  = 1e7
)

// ReportTimeline returns the timeline of a report, nil if it has none.
func ReportTimeline(data []byte) (*Timeline, error) {
	var r report
	if err := json.Unmarshal(data, &r); err != nil {
		return nil, fmt.Errorf("reading the report: %w", err)
	}
	if t := r.Timeline; t != nil && !(t.IntervalSeconds >= shortestInterval && t.IntervalSeconds <= longestInterval) {
		return nil, fmt.Errorf("reading the report: wanted intervals of %v to %v s, found %v s", shortestInterval, longestInterval, t.IntervalSeconds)
	}
	return r.Timeline, nil
}

// maxBars bounds how many intervals are drawn.
const maxBars = 50

// course is a timeline in few intervals, all of them within the window.
type course struct {
	intervalSeconds float64
	rates, failures []float64
	// longest is not a number where nothing has succeeded.
	longest []float64
}

// courseOf leaves out the last, broken interval, whose rate would be none. It
// returns nothing to draw if fewer than two are left.
func courseOf(t *Timeline, window time.Duration) course {
	whole := min(len(t.Points), int(window.Seconds()/t.IntervalSeconds))
	width := (whole + maxBars - 1) / maxBars
	if width == 0 || whole/width < 2 {
		return course{}
	}
	c := course{intervalSeconds: t.IntervalSeconds * float64(width)}
	for from := 0; from+width <= whole; from += width {
		var succeeded, failed, longest float64
		for _, p := range t.Points[from : from+width] {
			succeeded, failed = succeeded+float64(p.Succeeded), failed+float64(p.Failed)
			longest = max(longest, float64(p.MaxLatencyMicroseconds))
		}
		if succeeded == 0 {
			longest = math.NaN()
		}
		c.rates = append(c.rates, succeeded/c.intervalSeconds)
		c.failures = append(c.failures, failed/c.intervalSeconds)
		c.longest = append(c.longest, longest)
	}
	return c
}

// bars draws numbers from 0 to their greatest, and a dot for what is none.
func bars(values []float64, greatest float64) string {
	const levels = "▁▂▃▄▅▆▇█"
	drawn := []rune(levels)
	var out strings.Builder
	for _, v := range values {
		level := 0
		if math.IsNaN(v) {
			out.WriteRune('·')
			continue
		}
		if greatest > 0 {
			level = min(int(v/greatest*float64(len(drawn))), len(drawn)-1)
		}
		out.WriteRune(drawn[level])
	}
	return out.String()
}
