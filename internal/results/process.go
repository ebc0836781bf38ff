package results

// ProcessFigure names one number of what a client pod's process had of its
// machine over the measured window. Its unit is in its name.
type ProcessFigure string

// The figures of a process.
const (
	// ProcessWindowSeconds is the time that the other figures are of.
	ProcessWindowSeconds ProcessFigure = "window_seconds"
	// ProcessCPUSeconds is the processor time that its threads used.
	ProcessCPUSeconds ProcessFigure = "cpu_seconds"
	// ProcessProcessors is how many processors it may keep busy at a time.
	ProcessProcessors ProcessFigure = "processors"
	// ProcessQuotaProcessors is the quota of its control group, in processors.
	// Absent beside ProcessThrottledSeconds: there is none.
	ProcessQuotaProcessors ProcessFigure = "quota_processors"
	// ProcessThrottledSeconds is for how long its control group was kept from
	// running because the quota was used up, added up over the processors.
	ProcessThrottledSeconds ProcessFigure = "throttled_seconds"
	// ProcessGoroutineDelaySeconds is the 99th percentile of how long goroutines
	// that could run waited for a thread.
	ProcessGoroutineDelaySeconds ProcessFigure = "goroutine_delay_p99_seconds"
	// ProcessThreadDelaySeconds is how long, on average, threads that could run
	// waited for a processor.
	ProcessThreadDelaySeconds ProcessFigure = "thread_delay_mean_seconds"
	// ProcessCollectionRatio is the part of the used processor time that went
	// into collecting garbage, from 0 to 1.
	ProcessCollectionRatio ProcessFigure = "garbage_collection_ratio"
)

// ProcessFigures are in the order in which they are written.
var ProcessFigures = []ProcessFigure{
	ProcessWindowSeconds, ProcessCPUSeconds, ProcessProcessors, ProcessQuotaProcessors, ProcessThrottledSeconds,
	ProcessGoroutineDelaySeconds, ProcessThreadDelaySeconds, ProcessCollectionRatio,
}

// ProcessWindow is what a client pod's process had of its machine over the
// measured window. Who copies it shares it and must not change it.
type ProcessWindow struct {
	// Figures that could be read.
	Figures map[ProcessFigure]float64
	// Unknown is why others could not; empty if all could.
	Unknown string
}

// Value returns a figure; false if it is not known.
func (w *ProcessWindow) Value(f ProcessFigure) (float64, bool) {
	if w == nil {
		return 0, false
	}
	v, ok := w.Figures[f]
	return v, ok
}

// Available is how many processors the process may keep busy: those of its
// quota, or, with less or without one, those that it uses at a time.
func (w *ProcessWindow) Available() (float64, bool) {
	processors, known := w.Value(ProcessProcessors)
	if quota, limited := w.Value(ProcessQuotaProcessors); limited && (!known || quota < processors) {
		return quota, true
	}
	return processors, known
}

// CPUShare is the part that was used of the processor time that was available.
func (w *ProcessWindow) CPUShare() (float64, bool) {
	available, known := w.Available()
	used, ok := w.share(ProcessCPUSeconds)
	return used / available, known && ok && available > 0
}

// ThrottledShare is the part of the window for which the processors that the
// process uses at a time were kept from it, on average, at most 1. The kernel adds
// up over processors: the same wait counts eight times where eight of them wait.
func (w *ProcessWindow) ThrottledShare() (float64, bool) {
	processors, known := w.Value(ProcessProcessors)
	throttled, ok := w.share(ProcessThrottledSeconds)
	return min(throttled/processors, 1), known && ok && processors > 0
}

func (w *ProcessWindow) share(f ProcessFigure) (float64, bool) {
	length, measured := w.Value(ProcessWindowSeconds)
	v, known := w.Value(f)
	return v / length, known && measured && length > 0
}

// IsWhole says whether all is known by which a client is judged.
func (w *ProcessWindow) IsWhole() bool {
	for _, f := range ProcessFigures {
		if _, known := w.Value(f); !known && f != ProcessQuotaProcessors && f != ProcessCollectionRatio {
			return false
		}
	}
	return true
}
