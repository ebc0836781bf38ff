package benchmark

import (
	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
	"github.com/etcdbench/etcd-benchmark-operator/internal/workload"
)

// burstSummary returns nil for a run without tasks.
func burstSummary(b *v1alpha1.EtcdBenchmark, s results.Summary) *v1alpha1.BurstSummary {
	r := Run(b)
	burst := r.Burst()
	if burst == nil {
		return nil
	}
	counts := s.Merged.Burst
	out := &v1alpha1.BurstSummary{
		ValueBytes: int64(counts.Values), UnavailableProcesses: int64(counts.Unavailable),
		WireSentBytes: int64(counts.Wire.Sent), WireReceivedBytes: int64(counts.Wire.Received),
		MemberBytesPerConnection: memoryPerConnection(*burst, r.Load.Connections, s.Target),
		Timeouts:                 timeoutCounts(counts),
	}
	if s.Succeeded == uint64(r.Load.Clients) && !s.Partial {
		out.LastProcessMicroseconds = toMicros(s.Length)
	}
	if received := s.Merged.Bodies.Received; received > 0 && counts.Values > 0 {
		overhead := float64(received)/float64(counts.Values) - 1
		out.BodyOverheadPercent = spec.DecimalOf(float64(whole(1e4*overhead)) / 100)
	}
	return out
}

// memoryPerConnection is 0 if it is not known for some member, or if the memory did not grow.
func memoryPerConnection(burst workload.Burst, connections int32, t *results.Target) int64 {
	if t == nil || !burst.Connects {
		return 0
	}
	grown := 0.0
	for _, m := range t.Members {
		before, known := m.Window.Value(results.FigureMemoryStartBytes)
		highest, sampled := m.Window.Value(results.FigureMemoryBytes)
		if !known || !sampled {
			return 0
		}
		grown += highest - before
	}
	return max(whole(grown/float64(connections)), 0)
}

func timeoutCounts(b results.Burst) (out []v1alpha1.TimeoutCount) {
	for i, n := range b.Timeouts {
		if n == 0 {
			continue
		}
		c := v1alpha1.TimeoutCount{From: int32(results.TimeoutsFrom(i)), Processes: int64(n)}
		if i+1 < len(b.Timeouts) {
			c.To = new(int32(results.TimeoutsFrom(i+1) - 1))
		}
		out = append(out, c)
	}
	return out
}
