package wire

import (
	"fmt"
	"strconv"
	"time"

	dto "github.com/prometheus/client_model/go"

	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// timelineFamilies hold the results over time, for termination messages. Empty intervals have no metric.
func timelineFamilies() []family {
	return []family{
		scalar("etcdbench_interval_seconds", "Length of the intervals of the measured window, which are numbered from 0.",
			durations, func(s *results.Snapshot) *time.Duration { return &s.Timeline.Interval }),
		intervalFamily("etcdbench_interval_requests_succeeded", "Successful measured requests whose response came in the interval.",
			counts[uint64](), func(p *results.Point) *uint64 { return &p.Succeeded }),
		intervalFamily("etcdbench_interval_requests_failed", "Failed measured requests that ended in the interval.",
			counts[uint64](), func(p *results.Point) *uint64 { return &p.Failed }),
		intervalFamily("etcdbench_interval_request_duration_added_seconds", "Sum of the latency of the successful measured requests of the interval.",
			durations, func(p *results.Point) *time.Duration { return &p.Latency }),
		intervalFamily("etcdbench_interval_request_duration_max_seconds", "Longest latency of the successful measured requests of the interval.",
			durations, func(p *results.Point) *time.Duration { return &p.Longest }),
		intervalFamily("etcdbench_interval_client_pauses_seconds", "Time that clients paused in the interval after requests that failed at once, over all clients.",
			durations, func(p *results.Point) *time.Duration { return &p.Paused }),
		intervalFamily("etcdbench_interval_requests_opened", "Measured requests that were due in the interval and outstanding at its end.",
			counts[uint64](), func(p *results.Point) *uint64 { return &p.Opened }),
		intervalFamily("etcdbench_interval_requests_closed", "Measured requests that were due before the interval and not outstanding any more at its end.",
			counts[uint64](), func(p *results.Point) *uint64 { return &p.Closed }),
	}
}

// intervalFamily has one metric per point whose field is not 0.
func intervalFamily[T any](name, help string, c codec[T], field func(*results.Point) *T) family {
	return family{
		name: name, help: help, kind: dto.MetricType_GAUGE, labels: []string{"interval"},
		write: func(s *results.Snapshot, emit func(metric)) {
			for i := range s.Timeline.Points {
				if value, ok := c.encode(*field(&s.Timeline.Points[i])); ok {
					emit(metric{labels: []string{strconv.Itoa(i)}, value: value})
				}
			}
		},
		read: func(s *results.Snapshot, m metric) error {
			i, err := strconv.Atoi(m.labels[0])
			if err != nil || i < 0 || i >= results.MaxTimelinePoints {
				return fmt.Errorf("wanted an interval from 0 to %d, found %.64q", results.MaxTimelinePoints-1, m.labels[0])
			}
			for len(s.Timeline.Points) <= i {
				s.Timeline.Points = append(s.Timeline.Points, results.Point{})
			}
			*field(&s.Timeline.Points[i]), err = c.decode(m.value)
			return err
		},
	}
}
