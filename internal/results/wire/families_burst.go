package wire

import (
	"fmt"
	"strconv"

	dto "github.com/prometheus/client_model/go"

	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

var burst = part(func(s *results.Snapshot) *results.Burst { return &s.Burst })

// burstFamilies hold the counts of the tasks of a burst.
func burstFamilies() []family {
	count := counts[uint64]()
	return []family{
		timeoutsFamily(),
		gauge(burst, "etcdbench_task_value_bytes", "Bytes of the values that tasks read.", count, func(b *results.Burst) *uint64 { return &b.Values }),
		gauge(burst, "etcdbench_task_unavailable", "Tasks that ended as Unavailable before their first response.",
			count, func(b *results.Burst) *uint64 { return &b.Unavailable }),
		gauge(burst, "etcdbench_task_sent_bytes", "Bytes that were sent over the connections of the load since its start.",
			count, func(b *results.Burst) *uint64 { return &b.Wire.Sent }),
		gauge(burst, "etcdbench_task_received_bytes", "Bytes that were received over the connections of the load since its start.",
			count, func(b *results.Burst) *uint64 { return &b.Wire.Received }),
	}
}

func timeoutsFamily() family {
	return family{
		name: "etcdbench_tasks", help: "Tasks that have ended, by the number of attempts that timed out: from this number to the next one.",
		kind: dto.MetricType_GAUGE, labels: []string{"timeouts"},
		write: func(s *results.Snapshot, emit func(metric)) {
			for i, n := range s.Burst.Timeouts {
				if n > 0 {
					emit(metric{labels: []string{strconv.Itoa(results.TimeoutsFrom(i))}, value: float64(n)})
				}
			}
		},
		read: func(s *results.Snapshot, m metric) (err error) {
			for i := range s.Burst.Timeouts {
				if strconv.Itoa(results.TimeoutsFrom(i)) == m.labels[0] {
					s.Burst.Timeouts[i], err = counts[uint64]().decode(m.value)
					return err
				}
			}
			return fmt.Errorf("wanted the start of a range of time-outs, found %.64q", m.labels[0])
		},
	}
}
