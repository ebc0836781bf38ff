package results

import (
	"fmt"
	"strconv"
	"time"

	dto "github.com/prometheus/client_model/go"
)

// timelineFamilies are what came when. Intervals in which nothing came have no
// metric.
func timelineFamilies() []family {
	return []family{
		scalar("etcdbench_interval_seconds", "Length of the intervals of the measured window, which are numbered from 0.",
			durations, func(s *Snapshot) *time.Duration { return &s.Timeline.Interval }),
		intervalFamily("etcdbench_interval_requests_succeeded", "Successful measured requests whose response came in the interval.",
			counts[uint64](), func(p *Point) *uint64 { return &p.Succeeded }),
		intervalFamily("etcdbench_interval_requests_failed", "Failed measured requests that ended in the interval.",
			counts[uint64](), func(p *Point) *uint64 { return &p.Failed }),
		intervalFamily("etcdbench_interval_request_duration_added_seconds", "Sum of the latency of the successful measured requests of the interval.",
			durations, func(p *Point) *time.Duration { return &p.Latency }),
		intervalFamily("etcdbench_interval_request_duration_max_seconds", "Longest latency of the successful measured requests of the interval.",
			durations, func(p *Point) *time.Duration { return &p.Longest }),
	}
}

// intervalFamily has one metric for each point whose field is not 0.
func intervalFamily[T any](name, help string, c codec[T], field func(*Point) *T) family {
	return family{
		name: name, help: help, kind: dto.MetricType_GAUGE, labels: []string{"interval"},
		write: func(s *Snapshot, emit func(metric)) {
			for i := range s.Timeline.Points {
				if value, ok := c.encode(*field(&s.Timeline.Points[i])); ok {
					emit(metric{labels: []string{strconv.Itoa(i)}, value: value})
				}
			}
		},
		read: func(s *Snapshot, m metric) error {
			i, err := strconv.Atoi(m.labels[0])
			if err != nil || i < 0 || i >= MaxTimelinePoints {
				return fmt.Errorf("wanted an interval from 0 to %d, found %.64q", MaxTimelinePoints-1, m.labels[0])
			}
			for len(s.Timeline.Points) <= i {
				s.Timeline.Points = append(s.Timeline.Points, Point{})
			}
			*field(&s.Timeline.Points[i]), err = c.decode(m.value)
			return err
		},
	}
}

// maxTimeline is when the last interval of a timeline may begin, in 36 years: so
// it does not overflow, however often its intervals are doubled.
const maxTimeline = 1 << 60 * time.Nanosecond

// check: two timelines can be merged only if one's intervals are the other's,
// doubled. It leaves out intervals at the end in which nothing came.
func (t *Timeline) check() error {
	length := timelineInterval
	for length < t.Interval && length < 2*maxTimeline {
		length *= 2
	}
	if t.Interval != length && (t.Interval != 0 || len(t.Points) > 0) {
		return fmt.Errorf("wanted intervals of %v, or that doubled some times, found %v", timelineInterval, t.Interval)
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
	if total > maxCount {
		return fmt.Errorf("wanted at most %d requests over time, found %d", uint64(maxCount), total)
	}
	return nil
}
