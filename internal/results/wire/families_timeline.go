package wire

import (
	"fmt"
	"strconv"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// timelineFamilies hold the results over time, for termination messages. Empty intervals have no metric.
func timelineFamilies() []family {
	return []family{
		gauge(pod, "etcdbench_interval_seconds", "Length of the intervals of the measured window, which are numbered from 0.",
			durations, func(s *results.Snapshot) *time.Duration { return &s.Timeline.Interval }),
		gauge(points, "etcdbench_interval_requests_succeeded", "Successful measured requests whose response came in the interval.",
			counts[uint64](), func(p *results.Point) *uint64 { return &p.Succeeded }),
		gauge(points, "etcdbench_interval_requests_failed", "Failed measured requests that ended in the interval.",
			counts[uint64](), func(p *results.Point) *uint64 { return &p.Failed }),
		gauge(points, "etcdbench_interval_request_duration_added_seconds", "Sum of the latency of the successful measured requests of the interval.",
			durations, func(p *results.Point) *time.Duration { return &p.Latency }),
		gauge(points, "etcdbench_interval_request_duration_max_seconds", "Longest latency of the successful measured requests of the interval.",
			durations, func(p *results.Point) *time.Duration { return &p.Longest }),
		gauge(points, "etcdbench_interval_client_pauses_seconds", "Time that clients paused in the interval after requests that failed at once, over all clients.",
			durations, func(p *results.Point) *time.Duration { return &p.Paused }),
		gauge(points, "etcdbench_interval_requests_opened", "Measured requests that were due in the interval and outstanding at its end.",
			counts[uint64](), func(p *results.Point) *uint64 { return &p.Opened }),
		gauge(points, "etcdbench_interval_requests_closed", "Measured requests that were due before the interval and not outstanding any more at its end.",
			counts[uint64](), func(p *results.Point) *uint64 { return &p.Closed }),
	}
}

// points are the intervals, by their numbers.
var points = place[results.Point]{
	labels: []string{"interval"},
	each: func(s *results.Snapshot, do func(*results.Point, ...string)) {
		for i := range s.Timeline.Points {
			do(&s.Timeline.Points[i], strconv.Itoa(i))
		}
	},
	find: func(s *results.Snapshot, number []string) (*results.Point, error) {
		i, err := strconv.Atoi(number[0])
		if err != nil || i < 0 || i >= results.MaxTimelinePoints {
			return nil, fmt.Errorf("wanted an interval from 0 to %d, found %.64q", results.MaxTimelinePoints-1, number[0])
		}
		for len(s.Timeline.Points) <= i {
			s.Timeline.Points = append(s.Timeline.Points, results.Point{})
		}
		return &s.Timeline.Points[i], nil
	},
}
