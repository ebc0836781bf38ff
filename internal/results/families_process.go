package results

import (
	"fmt"
	"strings"

	dto "github.com/prometheus/client_model/go"
)

// processFamilies are what the pod's process had of its machine over the
// window.
func processFamilies() []family {
	all := []family{unknownProcessFamily()}
	for _, f := range processFigures {
		all = append(all, processFamily(f))
	}
	return all
}

// processFamily writes a 0 too: a figure that is not there is not known.
func processFamily(f ProcessFigure) family {
	return family{
		name: "etcdbench_process_" + string(f),
		help: fmt.Sprintf("The figure %s of the client pod's process over the measured window.", strings.ReplaceAll(string(f), "_", " ")),
		kind: dto.MetricType_GAUGE,
		write: func(s *Snapshot, emit func(metric)) {
			if v, ok := s.Process.Value(f); ok {
				emit(metric{value: v})
			}
		},
		read: func(s *Snapshot, m metric) error {
			w := s.process()
			if w.Figures == nil {
				w.Figures = map[ProcessFigure]float64{}
			}
			w.Figures[f] = m.value
			return nil
		},
	}
}

func unknownProcessFamily() family {
	return family{
		name: "etcdbench_process_unknown_info", help: "Why figures of the client pod's process could not be read.",
		kind: dto.MetricType_GAUGE, labels: []string{"reason"},
		write: func(s *Snapshot, emit func(metric)) {
			if s.Process != nil && s.Process.Unknown != "" {
				emit(metric{labels: []string{s.Process.Unknown}, value: 1})
			}
		},
		read: func(s *Snapshot, m metric) error {
			s.process().Unknown = m.labels[0]
			return wantReason(m.labels[0])
		},
	}
}

// process returns the process that is being read.
func (s *Snapshot) process() *ProcessWindow {
	if s.Process == nil {
		s.Process = &ProcessWindow{}
	}
	return s.Process
}
