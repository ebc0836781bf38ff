package benchmark

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"math"
	"slices"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
	"github.com/etcdbench/etcd-benchmark-operator/internal/text"
)

const (
	// maxDistinct and maxDistinctText bound the lists of a fingerprint.
	maxDistinct     = 8
	maxDistinctText = 128
	maxVersion      = 64
)

// fingerprint says in which environment a run measured.
func fingerprint(b *v1alpha1.EtcdBenchmark, s results.Summary) *v1alpha1.Fingerprint {
	resolved := b.Resolved()
	load := resolved.Load
	load.Seed = 0
	f := v1alpha1.Fingerprint{
		Store: b.Spec.Target.Datastore, Transport: load.Transport,
		Workload: HashOf(resolved.Workload, b.Spec.Disturbances), Load: HashOf(load),
	}
	setMembers(&f, s.Target)
	if e := b.Spec.Target.Ephemeral; e != nil {
		f.OwnMembers = HashOf(b.ImageIDs(), e.Settings, e.Resources, e.Storage)
	}
	f.Processors = texts(s.Processes, maxDistinctText, func(m results.Machine) string { return m.Processor })
	f.PodMillicores = int64(math.Round(1000 * lowest(s.Processes, func(p results.PodProcess) float64 {
		available, _ := p.Window.Available()
		return available
	})))
	if f.PodMillicores > 0 && !slices.ContainsFunc(s.Processes, isUnknown) {
		f.Client = HashOf(f.Processors, f.PodMillicores)
	}
	f.ID = HashOf(f)
	f.Kernels = texts(s.Processes, maxDistinctText, func(m results.Machine) string { return m.Kernel })
	f.NodeMemoryBytes = int64(lowest(s.Processes, func(p results.PodProcess) float64 { return float64(machineOf(p).MemoryBytes) }))
	return &f
}

func setMembers(f *v1alpha1.Fingerprint, t *results.Target) {
	if t == nil {
		return
	}
	for _, m := range t.Members {
		if m.Endpoint == "" {
			continue
		}
		f.Members++
		if m.Version != "" {
			f.Versions = append(f.Versions, text.Shorten(m.Version, maxVersion))
		}
		if n := wholeFigure(m.Window.Value(results.FigureProcessors)); n != nil {
			f.MemberProcessors = append(f.MemberProcessors, *n)
		}
	}
	f.Versions, f.MemberProcessors = distinct(f.Versions), distinct(f.MemberProcessors)
}

// texts are the different descriptions of the pods' machines.
func texts(pods []results.PodProcess, length int, read func(results.Machine) string) (out []string) {
	for _, p := range pods {
		out = append(out, text.Shorten(read(machineOf(p)), length))
	}
	return distinct(out)
}

// isUnknown reports whether it is not known on which processor a pod has measured.
func isUnknown(p results.PodProcess) bool { return !p.Silent && machineOf(p).Processor == "" }

func machineOf(p results.PodProcess) results.Machine {
	if p.Window == nil {
		return results.Machine{}
	}
	return p.Window.Machine
}

// lowest is the lowest known number of all pods; 0 if none is known.
func lowest(pods []results.PodProcess, read func(results.PodProcess) float64) (least float64) {
	for _, p := range pods {
		if v := read(p); v > 0 && v < text.MostExact && (least == 0 || v < least) {
			least = v
		}
	}
	return least
}

// distinct sorts, removes duplicates and empty values, and keeps at most maxDistinct.
func distinct[T cmp.Ordered](all []T) []T {
	var none T
	slices.Sort(all)
	all = slices.Compact(slices.DeleteFunc(all, func(v T) bool { return v == none }))
	return all[:min(len(all), maxDistinct)]
}

// HashOf returns eight hexadecimal digits that differ for different values.
func HashOf(values ...any) string {
	// All of them come from JSON, so they can be written as JSON.
	data, _ := json.Marshal(values)
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:4])
}
