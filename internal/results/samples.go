package results

import (
	"fmt"
	"slices"
	"time"
)

// Samples are what a member of the target reported over the window.
type Samples struct {
	// At has the time of each sample, from the start of the window of client pod 0; at most MaxSamples.
	At []time.Duration
	// Values has one value per sample for each figure that the member serves; NoValue if a sample lacks it. A counter
	// counts from the first sample on.
	Values map[Figure][]float64
}

const (
	// MaxSamples bounds the samples of a member.
	MaxSamples = 150
	// NoValue stands for a value that a sample lacks.
	NoValue = -1
)

// Figures of single samples.
const (
	FigureMemoryNowBytes   Figure = "resident_memory_bytes"
	FigureDatabaseNowBytes Figure = "database_bytes"
	FigurePendingNow       Figure = "pending_proposals"
)

// SampledFigures are the figures in Samples: counters and gauges.
var SampledFigures = []Figure{
	FigureCPUSeconds, TimerWALFsync.Count(), TimerWALFsync.Seconds(), TimerBackendCommit.Count(), TimerBackendCommit.Seconds(),
	FigureMemoryNowBytes, FigureDatabaseNowBytes, FigurePendingNow, FigurePodReceivedBytes, FigurePodSentBytes,
}

// halved returns copies with each second sample.
func halved(all map[string]*Samples) map[string]*Samples {
	out := map[string]*Samples{}
	for id, s := range all {
		half := &Samples{At: everySecond(s.At), Values: map[Figure][]float64{}}
		for figure, values := range s.Values {
			half.Values[figure] = everySecond(values)
		}
		out[id] = half
	}
	return out
}

func everySecond[T any](all []T) (out []T) {
	for i := 0; i < len(all); i += 2 {
		out = append(out, all[i])
	}
	return out
}

func (s *Samples) check() error {
	if len(s.At) > MaxSamples {
		return fmt.Errorf("wanted at most %d samples of a member, found %d", MaxSamples, len(s.At))
	}
	if !slices.IsSorted(s.At) || len(s.At) > 0 && (s.At[0] < -longest || s.At[len(s.At)-1] > longest) {
		return fmt.Errorf("wanted samples in order of time, found %v", s.At)
	}
	for figure, values := range s.Values {
		if !slices.Contains(SampledFigures, figure) {
			return fmt.Errorf("wanted one of the figures %v, found %.64q", SampledFigures, figure)
		}
		if len(values) != len(s.At) {
			return fmt.Errorf("%s: wanted %d values, one per sample, found %d", figure, len(s.At), len(values))
		}
	}
	return nil
}
