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
	all := []family{
		textOf(process, "etcdbench_process_unknown_info", "Why figures of the client pod's process could not be read.", "reason",
			func(w *results.ProcessWindow) *string { return &w.Unknown }),
		machineFamily(),
	}
	for _, f := range results.ProcessFigures {
		all = append(all, processFamily(f))
	}
	return all
}

var process = once(func(s *results.Snapshot) **results.ProcessWindow { return &s.Process })

// processFamily also writes 0, because a missing figure means unknown.
func processFamily(f results.ProcessFigure) family {
	return process.family("etcdbench_process_"+string(f),
		fmt.Sprintf("%s of the client pod's process over the measured window.", strings.ReplaceAll(string(f), "_", " ")), dto.MetricType_GAUGE,
		func(w *results.ProcessWindow) (metric, bool) {
			value, ok := w.Value(f)
			return metric{value: value}, ok
		},
		func(w *results.ProcessWindow, m metric) error {
			put(&w.Figures, f, m.value)
			return nil
		})
}

func machineFamily() family {
	return process.family("etcdbench_process_machine_memory_bytes", "Memory of the machine of the client pod, with its processor and its kernel.", dto.MetricType_GAUGE,
		func(w *results.ProcessWindow) (metric, bool) {
			m := w.Machine
			return metric{labels: []string{m.Processor, m.Kernel}, value: float64(m.MemoryBytes)}, m != results.Machine{}
		},
		func(w *results.ProcessWindow, m metric) error {
			if w.Machine != (results.Machine{}) {
				return errors.New("wanted one machine, found two")
			}
			bytes, err := sizes.decode(m.value)
			w.Machine = results.Machine{Processor: m.labels[0], Kernel: m.labels[1], MemoryBytes: bytes}
			return err
		}, "processor", "kernel")
}
