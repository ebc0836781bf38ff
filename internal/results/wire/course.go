package wire

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
	"github.com/etcdbench/etcd-benchmark-operator/internal/text"
)

const (
	// MaxCourseBytes bounds the course of one pod.
	MaxCourseBytes = 256 << 10
	// maxMemberID bounds the ID of a member. etcd's IDs have 16 digits.
	maxMemberID = 64
)

// Course is the JSON form of what happened over the window. Pods serve it beside their metrics, which are for
// Prometheus: as metrics, a course would be thousands of series. Reports hold the merge of all pods' courses.
type Course struct {
	Timeline *Timeline `json:"timeline,omitempty"`
	Heatmap  *Heatmap  `json:"heatmap,omitempty"`
	// Members have the samples of the target's members, by ID.
	Members map[string]*Samples `json:"members,omitempty"`
}

// Timeline has the requests per interval, from the start of the measured window.
type Timeline struct {
	IntervalSeconds float64 `json:"intervalSeconds"`
	Points          []Point `json:"points"`
}

// Point has the requests that ended in one interval. The latency is that of successful requests.
type Point struct {
	Succeeded             uint64 `json:"succeeded"`
	Failed                uint64 `json:"failed,omitempty"`
	SumLatencyNanoseconds int64  `json:"sumLatencyNanoseconds,omitempty"`
	MaxLatencyNanoseconds int64  `json:"maxLatencyNanoseconds,omitempty"`
	// PausedNanoseconds is how long clients paused after requests that failed at once, added up.
	PausedNanoseconds int64 `json:"pausedNanoseconds,omitempty"`
	// Outstanding is how many requests were due and unanswered at the end of the interval.
	Outstanding uint64 `json:"outstanding,omitempty"`
	// SentBytes and ReceivedBytes are those on the connections of a burst.
	SentBytes     uint64 `json:"sentBytes,omitempty"`
	ReceivedBytes uint64 `json:"receivedBytes,omitempty"`
}

// Heatmap has the latency of successful requests per interval.
type Heatmap struct {
	IntervalSeconds float64     `json:"intervalSeconds"`
	Columns         []Histogram `json:"columns"`
}

// Samples are what a member reported over the window: one value per sample for each figure. A counter counts from the
// first sample on; -1 stands for a value that a sample lacks.
type Samples struct {
	AtSeconds []float64                    `json:"atSeconds"`
	Figures   map[results.Figure][]float64 `json:"figures"`
}

// NewCourse returns the JSON form of a course, nil if it is empty.
func NewCourse(s *results.Course) *Course {
	c := &Course{Timeline: newTimeline(s.Timeline), Heatmap: newHeatmap(s.Heatmap)}
	for id, samples := range s.Samples {
		if c.Members == nil {
			c.Members = map[string]*Samples{}
		}
		c.Members[id] = newSamples(samples)
	}
	if c.Timeline == nil && c.Heatmap == nil && c.Members == nil {
		return nil
	}
	return c
}

func newTimeline(t results.Timeline) *Timeline {
	if len(t.Points) == 0 {
		return nil
	}
	out, outstanding := &Timeline{IntervalSeconds: t.Interval.Seconds(), Points: make([]Point, len(t.Points))}, t.Outstanding()
	for i, p := range t.Points {
		out.Points[i] = Point{
			Succeeded: p.Succeeded, Failed: p.Failed,
			SumLatencyNanoseconds: p.Latency.Nanoseconds(), MaxLatencyNanoseconds: p.Longest.Nanoseconds(),
			PausedNanoseconds: p.Paused.Nanoseconds(), Outstanding: outstanding[i],
			SentBytes: p.Carried.Sent, ReceivedBytes: p.Carried.Received,
		}
	}
	return out
}

func newHeatmap(m results.Heatmap) *Heatmap {
	if len(m.Columns) == 0 {
		return nil
	}
	out := &Heatmap{IntervalSeconds: m.Interval.Seconds(), Columns: make([]Histogram, len(m.Columns))}
	for i := range m.Columns {
		out.Columns[i] = NewHistogram(&m.Columns[i])
	}
	return out
}

func newSamples(s *results.Samples) *Samples {
	out := &Samples{AtSeconds: make([]float64, len(s.At)), Figures: s.Values}
	for i, at := range s.At {
		out.AtSeconds[i] = at.Seconds()
	}
	return out
}

// Read is the inverse of NewCourse. It refuses a course that contradicts itself: it is not trusted.
func (c *Course) Read() (out results.Course, err error) {
	if c == nil {
		return out, nil
	}
	if out, err = c.read(); err != nil {
		return results.Course{}, err
	}
	if err := (&results.Snapshot{Course: out}).Check(); err != nil {
		return results.Course{}, err
	}
	return out, nil
}

func (c *Course) read() (out results.Course, err error) {
	if c.Timeline != nil {
		if out.Timeline, err = c.Timeline.read(); err != nil {
			return out, err
		}
	}
	if c.Heatmap != nil {
		if out.Heatmap, err = c.Heatmap.read(); err != nil {
			return out, err
		}
	}
	if len(c.Members) > maxMembers {
		return out, fmt.Errorf("wanted at most %d members, found %d", maxMembers, len(c.Members))
	}
	for id, samples := range c.Members {
		if len(id) > maxMemberID || text.Printable(id) != id {
			return out, fmt.Errorf("wanted the ID of a member, found %.64q", id)
		}
		if out.Samples == nil {
			out.Samples = map[string]*results.Samples{}
		}
		if out.Samples[id], err = samples.read(); err != nil {
			return out, err
		}
	}
	return out, nil
}

func (t *Timeline) read() (out results.Timeline, err error) {
	if len(t.Points) > results.MaxTimelinePoints {
		return out, fmt.Errorf("wanted at most %d intervals, found %d", results.MaxTimelinePoints, len(t.Points))
	}
	out.Interval, err = durations.decode(t.IntervalSeconds)
	out.Points = slices.Grow(out.Points, len(t.Points))
	before := uint64(0)
	for _, p := range t.Points {
		if p.SumLatencyNanoseconds < 0 || p.MaxLatencyNanoseconds < 0 || p.PausedNanoseconds < 0 {
			return out, fmt.Errorf("wanted durations of at least 0, found %+v", p)
		}
		out.Points = append(out.Points, results.Point{
			Succeeded: p.Succeeded, Failed: p.Failed, Latency: limited(p.SumLatencyNanoseconds), Longest: limited(p.MaxLatencyNanoseconds),
			Paused: limited(p.PausedNanoseconds), Opened: p.Outstanding - min(before, p.Outstanding), Closed: before - min(before, p.Outstanding),
			Carried: results.Bodies{Sent: min(p.SentBytes, results.MaxCount), Received: min(p.ReceivedBytes, results.MaxCount)},
		})
		before = p.Outstanding
	}
	return out, err
}

// limited limits nanoseconds to the longest duration that can be added up.
func limited(ns int64) time.Duration {
	return min(time.Duration(ns), results.MaxSeconds*time.Second)
}

func (m *Heatmap) read() (out results.Heatmap, err error) {
	// Checked before anything is allocated: a column takes a hundred times its text.
	if len(m.Columns) > results.MaxHeatmapColumns {
		return out, fmt.Errorf("wanted at most %d columns, found %d", results.MaxHeatmapColumns, len(m.Columns))
	}
	for _, c := range m.Columns {
		if c.Count > 0 && c.Schema > results.HeatmapSchema {
			return out, fmt.Errorf("wanted columns of schema %d at most, found %d", results.HeatmapSchema, c.Schema)
		}
	}
	if out.Interval, err = durations.decode(m.IntervalSeconds); err != nil {
		return out, err
	}
	out.Columns = make([]results.Histogram, len(m.Columns))
	for i := range m.Columns {
		if out.Columns[i], err = m.Columns[i].Read(); err != nil {
			return out, err
		}
	}
	return out, nil
}

func (s *Samples) read() (*results.Samples, error) {
	if s == nil {
		return nil, errors.New("found a member without samples")
	}
	out := &results.Samples{Values: s.Figures}
	for _, at := range s.AtSeconds {
		if !(at >= -results.MaxSeconds && at <= results.MaxSeconds) {
			return nil, fmt.Errorf("wanted the time of a sample within 285 years, found %v s", at)
		}
		out.At = append(out.At, time.Duration(at*nanosecondsPerSecond))
	}
	return out, nil
}

// podCourse is the course of one pod.
type podCourse struct {
	RunUID string `json:"runUID"`
	Index  int    `json:"index"`
	*Course
}

// MarshalCourse encodes the course of a pod in at most MaxCourseBytes, with fewer samples and longer intervals if that is necessary.
func MarshalCourse(s *results.Snapshot) ([]byte, error) {
	part := s.Course
	for {
		data, err := json.Marshal(podCourse{RunUID: s.RunUID, Index: s.Index, Course: NewCourse(&part)})
		if err != nil || len(data) <= MaxCourseBytes {
			return data, err
		}
		if !part.Shrink() {
			return nil, fmt.Errorf("wanted a course of at most %d bytes, found %d with the longest intervals", MaxCourseBytes, len(data))
		}
	}
}

// ReadCourse decodes the course of a pod into a snapshot that has nothing else but the pod's identity. The course is not
// trusted.
func ReadCourse(r io.Reader) (*results.Snapshot, error) {
	data, err := io.ReadAll(io.LimitReader(r, MaxCourseBytes+1))
	if err == nil && len(data) > MaxCourseBytes {
		err = fmt.Errorf("wanted at most %d bytes, found more", MaxCourseBytes)
	}
	var c podCourse
	if err == nil {
		err = json.Unmarshal(data, &c)
	}
	s := &results.Snapshot{RunUID: c.RunUID, Index: c.Index}
	if err == nil {
		s.Course, err = c.Course.Read()
	}
	if err == nil && s.Index != 0 && s.Samples != nil {
		err = errors.New("found samples of members, which only client pod 0 has")
	}
	if err != nil {
		return nil, fmt.Errorf("reading a course: %w", err)
	}
	return s, nil
}
