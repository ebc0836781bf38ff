package benchmark

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// Timeline has the requests per interval, from the start of the measured window.
type Timeline struct {
	IntervalSeconds float64         `json:"intervalSeconds"`
	Points          []TimelinePoint `json:"points"`
}

// TimelinePoint has the requests that ended in one interval. The latency is that of successful requests.
type TimelinePoint struct {
	Succeeded               uint64 `json:"succeeded"`
	Failed                  uint64 `json:"failed,omitempty"`
	MeanLatencyMicroseconds int64  `json:"meanLatencyMicroseconds,omitempty"`
	MaxLatencyMicroseconds  int64  `json:"maxLatencyMicroseconds,omitempty"`
}

// NewTimeline returns nil for an empty timeline.
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

// Limits of a report's intervals, far beyond those that are written. They keep any value in the report drawable.
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
