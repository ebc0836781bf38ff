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
		number(disturbances, "etcdbench_disturbances_total", "Disturbances that were started.", dto.MetricType_COUNTER,
			counts[uint64](), func(d *results.Disturbance) *uint64 { return &d.Count }),
		number(disturbances, "etcdbench_failed_disturbances_total", "Disturbances that failed, or were still running when the window ended.", dto.MetricType_COUNTER,
			counts[uint64](), func(d *results.Disturbance) *uint64 { return &d.Failed }),
		number(disturbances, "etcdbench_left_out_disturbances_total", "Disturbances that were skipped because the previous one was still running.", dto.MetricType_COUNTER,
			counts[uint64](), func(d *results.Disturbance) *uint64 { return &d.LeftOut }),
		number(disturbances, "etcdbench_disturbance_added_seconds", "Total duration of the disturbances.", dto.MetricType_GAUGE,
			durations, func(d *results.Disturbance) *time.Duration { return &d.Took }),
		number(disturbances, "etcdbench_disturbance_max_seconds", "Duration of the longest disturbance.", dto.MetricType_GAUGE,
			durations, func(d *results.Disturbance) *time.Duration { return &d.Longest }),
		textOf(disturbances, "etcdbench_disturbance_problem_info", "Why the last of the failed disturbances failed.", "problem",
			func(d *results.Disturbance) *string { return &d.Problem }),
		markFamily("etcdbench_disturbance_start_seconds", "Time from the start of the measured window to the start of a disturbance.", "member_id",
			func(m *results.Mark) (*time.Duration, *string) { return &m.After, &m.Member }),
		markFamily("etcdbench_disturbance_duration_seconds", "Duration of a disturbance.", "",
			func(m *results.Mark) (*time.Duration, *string) { return &m.Took, nil }),
	}
}

// disturbances have one item for each type.
var disturbances = place[results.Disturbance]{
	labels: []string{"kind"},
	each: func(s *results.Snapshot, do func(*results.Disturbance, ...string)) {
		for _, kind := range sortedKeys(s.Disturbances) {
			do(s.Disturbances[kind], string(kind))
		}
	},
	find: func(s *results.Snapshot, kind []string) (*results.Disturbance, error) {
		if !slices.Contains(disturbanceTypes, spec.DisturbanceType(kind[0])) {
			return nil, fmt.Errorf("wanted one of the disturbances %v, found %.64q", disturbanceTypes, kind[0])
		}
		return s.Disturbance(spec.DisturbanceType(kind[0])), nil
	},
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
			mark, err := markOf(s, m.labels)
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

// markOf returns the mark that is being decoded.
func markOf(s *results.Snapshot, labels []string) (*results.Mark, error) {
	d, err := disturbances.find(s, labels)
	if err != nil {
		return nil, err
	}
	i, err := strconv.Atoi(labels[1])
	if err != nil || i < 0 || i >= results.MaxMarks {
		return nil, fmt.Errorf("wanted a mark from 0 to %d, found %.64q", results.MaxMarks-1, labels[1])
	}
	for len(d.Marks) <= i {
		d.Marks = append(d.Marks, results.Mark{})
	}
	return &d.Marks[i], nil
}
