package wire

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	dto "github.com/prometheus/client_model/go"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

var disturbanceTypes = spec.DisturbanceTypes()

// disturbanceFamilies describe the disturbances beside the load.
func disturbanceFamilies() []family {
	return []family{
		disturbanceFamily("etcdbench_disturbances_total", "Disturbances that were started.", dto.MetricType_COUNTER,
			counts[uint64](), func(d *results.Disturbance) *uint64 { return &d.Count }),
		disturbanceFamily("etcdbench_failed_disturbances_total", "Disturbances that failed, or were still running when the window ended.", dto.MetricType_COUNTER,
			counts[uint64](), func(d *results.Disturbance) *uint64 { return &d.Failed }),
		disturbanceFamily("etcdbench_left_out_disturbances_total", "Disturbances that were skipped because the previous one was still running.", dto.MetricType_COUNTER,
			counts[uint64](), func(d *results.Disturbance) *uint64 { return &d.LeftOut }),
		disturbanceFamily("etcdbench_disturbance_added_seconds", "Total duration of the disturbances.", dto.MetricType_GAUGE,
			durations, func(d *results.Disturbance) *time.Duration { return &d.Took }),
		disturbanceFamily("etcdbench_disturbance_max_seconds", "Duration of the longest disturbance.", dto.MetricType_GAUGE,
			durations, func(d *results.Disturbance) *time.Duration { return &d.Longest }),
		disturbanceProblemFamily(),
		markFamily("etcdbench_disturbance_start_seconds", "Time from the start of the measured window to the start of a disturbance.", "member_id",
			func(m *results.Mark) (*time.Duration, *string) { return &m.After, &m.Member }),
		markFamily("etcdbench_disturbance_duration_seconds", "Duration of a disturbance.", "",
			func(m *results.Mark) (*time.Duration, *string) { return &m.Took, nil }),
	}
}

// disturbanceFamily has one metric per type whose field is not 0.
func disturbanceFamily[T any](name, help string, kind dto.MetricType, c codec[T], field func(*results.Disturbance) *T) family {
	return family{
		name: name, help: help, kind: kind, labels: []string{"kind"},
		write: func(s *results.Snapshot, emit func(metric)) {
			for _, kind := range sortedKeys(s.Disturbances) {
				if value, ok := c.encode(*field(s.Disturbances[kind])); ok {
					emit(metric{labels: []string{string(kind)}, value: value})
				}
			}
		},
		read: func(s *results.Snapshot, m metric) error {
			d, err := knownDisturbance(s, m.labels[0])
			if err != nil {
				return err
			}
			*field(d), err = c.decode(m.value)
			return err
		},
	}
}

func disturbanceProblemFamily() family {
	return family{
		name: "etcdbench_disturbance_problem_info", help: "Why the last of the failed disturbances failed.",
		kind: dto.MetricType_GAUGE, labels: []string{"kind", "problem"},
		write: func(s *results.Snapshot, emit func(metric)) {
			for _, kind := range sortedKeys(s.Disturbances) {
				if problem := s.Disturbances[kind].Problem; problem != "" {
					emit(metric{labels: []string{string(kind), problem}, value: 1})
				}
			}
		},
		read: func(s *results.Snapshot, m metric) error {
			d, err := knownDisturbance(s, m.labels[0])
			if err != nil {
				return err
			}
			d.Problem = m.labels[1]
			return nil
		},
	}
}

// markFamily has one metric per mark. If label is set, the mark's text is a label.
func markFamily(name, help, label string, field func(*results.Mark) (*time.Duration, *string)) family {
	labels := []string{"kind", "number"}
	if label != "" {
		labels = append(labels, label)
	}
	return family{
		name: name, help: help, kind: dto.MetricType_GAUGE, labels: labels,
		write: func(s *results.Snapshot, emit func(metric)) {
			for _, kind := range sortedKeys(s.Disturbances) {
				for i := range s.Disturbances[kind].Marks {
					d, text := field(&s.Disturbances[kind].Marks[i])
					values := []string{string(kind), strconv.Itoa(i)}
					if text != nil {
						values = append(values, *text)
					}
					emit(metric{labels: values, value: float64(max(*d, 0)) / nanosecondsPerSecond})
				}
			}
		},
		read: func(s *results.Snapshot, m metric) (err error) {
			mark, err := markOf(s, m.labels[0], m.labels[1])
			if err != nil {
				return err
			}
			d, text := field(mark)
			if text != nil {
				*text = m.labels[2]
			}
			*d, err = durations.decode(m.value)
			return err
		},
	}
}

// knownDisturbance returns the disturbance that is being decoded.
func knownDisturbance(s *results.Snapshot, kind string) (*results.Disturbance, error) {
	if !slices.Contains(disturbanceTypes, spec.DisturbanceType(kind)) {
		return nil, fmt.Errorf("wanted one of the disturbances %v, found %.64q", disturbanceTypes, kind)
	}
	return s.Disturbance(spec.DisturbanceType(kind)), nil
}

// markOf returns the mark that is being decoded.
func markOf(s *results.Snapshot, kind, number string) (*results.Mark, error) {
	d, err := knownDisturbance(s, kind)
	if err != nil {
		return nil, err
	}
	i, err := strconv.Atoi(number)
	if err != nil || i < 0 || i >= results.MaxMarks {
		return nil, fmt.Errorf("wanted a mark from 0 to %d, found %.64q", results.MaxMarks-1, number)
	}
	for len(d.Marks) <= i {
		d.Marks = append(d.Marks, results.Mark{})
	}
	return &d.Marks[i], nil
}
