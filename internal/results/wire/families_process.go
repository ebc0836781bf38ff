package wire

import (
	"errors"
	"fmt"
	"strings"

	dto "github.com/prometheus/client_model/go"

	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// processFamilies hold the figures of the pod's process over the window.
func processFamilies() []family {
	all := []family{unknownProcessFamily(), machineFamily()}
	for _, f := range results.ProcessFigures {
		all = append(all, processFamily(f))
	}
	return all
}

// processFamily also writes 0, because a missing figure means unknown.
func processFamily(f results.ProcessFigure) family {
	return family{
		name: "etcdbench_process_" + string(f),
		help: fmt.Sprintf("%s of the client pod's process over the measured window.", strings.ReplaceAll(string(f), "_", " ")),
		kind: dto.MetricType_GAUGE,
		write: func(s *results.Snapshot, emit func(metric)) {
			if v, ok := s.Process.Value(f); ok {
				emit(metric{value: v})
			}
		},
		read: func(s *results.Snapshot, m metric) error {
			w := processOf(s)
			if w.Figures == nil {
				w.Figures = map[results.ProcessFigure]float64{}
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
		write: func(s *results.Snapshot, emit func(metric)) {
			if s.Process != nil && s.Process.Unknown != "" {
				emit(metric{labels: []string{s.Process.Unknown}, value: 1})
			}
		},
		read: func(s *results.Snapshot, m metric) error {
			processOf(s).Unknown = m.labels[0]
			return wantReason(m.labels[0])
		},
	}
}

func machineFamily() family {
	return family{
		name: "etcdbench_process_machine_memory_bytes", help: "Memory of the machine of the client pod, with its processor and its kernel.",
		kind: dto.MetricType_GAUGE, labels: []string{"processor", "kernel"},
		write: func(s *results.Snapshot, emit func(metric)) {
			if s.Process == nil || s.Process.Machine == (results.Machine{}) {
				return
			}
			m := s.Process.Machine
			emit(metric{labels: []string{m.Processor, m.Kernel}, value: float64(m.MemoryBytes)})
		},
		read: func(s *results.Snapshot, m metric) error {
			w := processOf(s)
			if w.Machine != (results.Machine{}) {
				return errors.New("wanted one machine, found two")
			}
			bytes, err := sizes.decode(m.value)
			w.Machine = results.Machine{Processor: m.labels[0], Kernel: m.labels[1], MemoryBytes: bytes}
			return err
		},
	}
}

// processOf returns the process that is being decoded.
func processOf(s *results.Snapshot) *results.ProcessWindow {
	if s.Process == nil {
		s.Process = &results.ProcessWindow{}
	}
	return s.Process
}
