package results

import "math"

// ProcessFigure names one number about a client pod's process and its machine over the measured window. The name
// contains the unit.
type ProcessFigure string

// The figures of a process.
const (
	// ProcessWindowSeconds is the period of the other figures.
	ProcessWindowSeconds ProcessFigure = "window_seconds"
	// ProcessCPUSeconds is the processor time of the process's threads.
	ProcessCPUSeconds ProcessFigure = "cpu_seconds"
	// ProcessProcessors is how many processors the process may use at a time.
	ProcessProcessors ProcessFigure = "processors"
	// ProcessQuotaProcessors is the quota of the control group, in processors. If it is missing and
	// ProcessThrottledSeconds is known, there is no quota.
	ProcessQuotaProcessors ProcessFigure = "quota_processors"
	// ProcessThrottledSeconds is how long the control group was throttled because its quota was used up, added up over
	// the processors.
	ProcessThrottledSeconds ProcessFigure = "throttled_seconds"
	// ProcessGoroutineDelaySeconds is the 99th percentile of the time that runnable goroutines waited for a thread.
	ProcessGoroutineDelaySeconds ProcessFigure = "goroutine_delay_p99_seconds"
	// ProcessGoroutineDelayTotalSeconds is how long runnable goroutines waited for a thread, over all of them. It is
	// computed from the runtime's histogram.
	ProcessGoroutineDelayTotalSeconds ProcessFigure = "goroutine_delay_total_seconds"
	// ProcessGoroutineWakeups is how often a goroutine got a thread.
	ProcessGoroutineWakeups ProcessFigure = "goroutine_wakeups"
	// ProcessThreadDelaySeconds is how long runnable threads waited for a processor, over all of them.
	ProcessThreadDelaySeconds ProcessFigure = "thread_delay_total_seconds"
	// ProcessThreadWakeups is how often a thread got a processor.
	ProcessThreadWakeups ProcessFigure = "thread_wakeups"
	// ProcessLoopBusyRatio is the share of the window in which the busiest event loop did not wait for events, from 0
	// to 1. It is missing if the clients do not run on loops.
	ProcessLoopBusyRatio ProcessFigure = "loop_busy_ratio"
	// ProcessSessions is how many parts of the run the process had, if more than one: in a run without a cluster.
	ProcessSessions ProcessFigure = "sessions"
	// ProcessCollectionRatio is the share of garbage collection in the used processor time, from 0 to 1.
	ProcessCollectionRatio ProcessFigure = "garbage_collection_ratio"
	// ProcessNodeBusyRatio is the share of the processor time of the node that was used, or taken by other virtual
	// machines, from 0 to 1.
	ProcessNodeBusyRatio ProcessFigure = "node_busy_ratio"
	// ProcessNodeCPUPressureRatio and ProcessNodeIOPressureRatio are the shares of the window in which some task of the
	// node waited for a processor or for a disk (/proc/pressure). Many kernels do not have them.
	ProcessNodeCPUPressureRatio ProcessFigure = "node_cpu_pressure_ratio"
	ProcessNodeIOPressureRatio  ProcessFigure = "node_io_pressure_ratio"
)

// ProcessFigures are in encoding order.
var ProcessFigures = []ProcessFigure{
	ProcessWindowSeconds, ProcessCPUSeconds, ProcessProcessors, ProcessQuotaProcessors, ProcessThrottledSeconds,
	ProcessGoroutineDelaySeconds, ProcessGoroutineDelayTotalSeconds, ProcessGoroutineWakeups, ProcessThreadDelaySeconds,
	ProcessThreadWakeups, ProcessLoopBusyRatio, ProcessSessions,
	ProcessCollectionRatio,
	ProcessNodeBusyRatio, ProcessNodeCPUPressureRatio, ProcessNodeIOPressureRatio,
}

// ProcessWindow holds the figures of a client pod's process over the measured window. Copies share the map, so it must
// not be changed.
type ProcessWindow struct {
	// Figures are the figures that could be read.
	Figures map[ProcessFigure]float64
	// Machine is where the process runs.
	Machine Machine
	// Unknown is why other figures could not be read; empty if all could.
	Unknown string
}

// Machine describes the machine of a client pod. Parts that could not be read are empty.
type Machine struct {
	// Processor is the model of the processors, for example "Intel(R) Xeon(R) CPU @ 2.60GHz".
	Processor string
	// Kernel is the release of the kernel.
	Kernel string
	// MemoryBytes is the memory of the whole machine.
	MemoryBytes int64
}

// Set stores a figure, rounded to a millionth, so that it takes little room in a termination message.
func (w *ProcessWindow) Set(f ProcessFigure, v float64) {
	const precision = 1 << 20
	w.Figures[f] = math.Round(v*precision) / precision
}

// Value returns a figure; false if it is not known.
func (w *ProcessWindow) Value(f ProcessFigure) (float64, bool) {
	if w == nil {
		return 0, false
	}
	v, ok := w.Figures[f]
	return v, ok
}

// Available is how many processors the process may use: its quota if it is set and smaller, else ProcessProcessors.
func (w *ProcessWindow) Available() (float64, bool) {
	processors, known := w.Value(ProcessProcessors)
	if quota, limited := w.Value(ProcessQuotaProcessors); limited && (!known || quota < processors) {
		return quota, true
	}
	return processors, known
}

// Sessions is how many parts of the run the process had, at least 1.
func (w *ProcessWindow) Sessions() float64 {
	sessions, _ := w.Value(ProcessSessions)
	return max(sessions, 1)
}

// CPUShare is the used share of the available processor time.
func (w *ProcessWindow) CPUShare() (float64, bool) {
	available, known := w.Available()
	used, ok := w.share(ProcessCPUSeconds)
	return used / available, known && ok && available > 0
}

// ThrottledShare is the share of the window in which the process was throttled, averaged over its processors, at most
// 1. The kernel adds up over processors: a pause counts eight times if eight processors are throttled.
func (w *ProcessWindow) ThrottledShare() (float64, bool) {
	processors, known := w.Value(ProcessProcessors)
	throttled, ok := w.share(ProcessThrottledSeconds)
	return min(throttled/processors, 1), known && ok && processors > 0
}

// LoopShare is the least share of the window in which the busiest event loop worked. A loop that waits for a processor
// does not work, so all waits of the process's threads are subtracted.
func (w *ProcessWindow) LoopShare() (float64, bool) {
	busy, known := w.Value(ProcessLoopBusyRatio)
	waited, _ := w.share(ProcessThreadDelaySeconds)
	return max(busy-waited, 0), known
}

func (w *ProcessWindow) share(f ProcessFigure) (float64, bool) {
	length, measured := w.Value(ProcessWindowSeconds)
	v, known := w.Value(f)
	return v / length, known && measured && length > 0
}

// IsWhole reports whether all figures for judging a client are known.
func (w *ProcessWindow) IsWhole() bool {
	for _, f := range ProcessFigures {
		switch f {
		case ProcessQuotaProcessors, ProcessCollectionRatio, ProcessLoopBusyRatio, ProcessSessions,
			ProcessNodeBusyRatio, ProcessNodeCPUPressureRatio, ProcessNodeIOPressureRatio:
			continue
		}
		if _, known := w.Value(f); !known {
			return false
		}
	}
	return true
}
