package command

import (
	"errors"
	"fmt"
	"slices"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/cmd/kubectl-etcdbench/internal/admission"
	"github.com/etcdbench/etcd-benchmark-operator/cmd/kubectl-etcdbench/internal/manifest"
)

const (
	highestMaxRate = 10_000_000
	// probeWarmup is the warm-up of a probe, in seconds, if the manifest has none.
	probeWarmup = 3
)

// findFlags are the flags of a search.
type findFlags struct {
	findRate         bool
	minRate, maxRate int64
	probeSeconds     int32
	pauseSeconds     int32
}

func (f *runFlags) checkFind() error {
	for _, flag := range []string{"min-rate", "max-rate", "probe-seconds", "pause-seconds"} {
		if f.given(flag) && !f.find.findRate {
			return fmt.Errorf("--%s is for a search: add --find-rate", flag)
		}
	}
	switch {
	case !f.find.findRate:
		return nil
	case f.find.minRate < 1 || f.find.maxRate > highestMaxRate || f.find.minRate > f.find.maxRate:
		return fmt.Errorf("--min-rate, --max-rate: wanted 1 or more, at most %d, and the lower one first, found %d and %d", highestMaxRate, f.find.minRate, f.find.maxRate)
	case f.find.probeSeconds < 1 || f.find.probeSeconds > 3600:
		return fmt.Errorf("--probe-seconds: wanted 1 to 3600, found %d", f.find.probeSeconds)
	case f.find.pauseSeconds < 0 || f.find.pauseSeconds > 120:
		return fmt.Errorf("--pause-seconds: wanted 0 to 120, found %d", f.find.pauseSeconds)
	}
	return nil
}

// searchOf returns spec.search of a suite: the load of a run's manifest without its rate, and the flags.
func (f *runFlags) searchOf(m *manifest.Manifest, objectives []any, loads []sweptEntry) (map[string]any, error) {
	if len(loads) > 1 {
		return nil, errors.New("--sweep and --find-rate: a search has one load: sweep fields of target or workload, or remove --find-rate")
	}
	if !slices.ContainsFunc(objectives, limitsRate) {
		return nil, m.Refuse("spec.objectives", "wanted a limit that a higher rate misses, of type Latency or AchievedRate, found none: --find-rate looks for the highest rate that meets the objectives")
	}
	if f.local {
		if err := f.admitProbe(m); err != nil {
			return nil, err
		}
	}
	load, _ := loads[0].object["load"].(map[string]any)
	out := map[string]any{"load": load, "minPerSecond": f.find.minRate, "maxPerSecond": f.find.maxRate, "pauseSeconds": int64(f.find.pauseSeconds)}
	if arrival, found := m.Text("spec.load.rate.arrival"); found {
		out["arrival"] = arrival
	}
	delete(load, "rate")
	delete(load, "requests")
	load["durationSeconds"] = int64(f.find.probeSeconds)
	if _, found := load["warmupSeconds"]; !found {
		load["warmupSeconds"] = int64(probeWarmup)
	}
	return out, nil
}

// limitsRate reports whether a higher rate can miss an objective.
func limitsRate(objective any) bool {
	o, _ := objective.(map[string]any)
	return o["type"] == string(spec.ObjectiveLatency) || o["type"] == string(spec.ObjectiveAchievedRate)
}

// admitProbe checks the manifest as a probe has it, so that problems name its lines. In a cluster, the API server checks
// the suite: it may know fields that this command does not.
func (f *runFlags) admitProbe(m *manifest.Manifest) error {
	probe := m.Copy()
	probe.Drop("spec.load.requests")
	probe.Drop("spec.load.rate")
	probe.Set("--probe-seconds", "spec.load.durationSeconds", int64(f.find.probeSeconds))
	probe.Set("--min-rate", "spec.load.rate", map[string]any{"perSecond": f.find.minRate})
	_, err := admitted(admission.Runs, probe)
	return err
}
