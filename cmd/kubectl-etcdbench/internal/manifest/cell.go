package manifest

import (
	"fmt"
	"maps"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Cell says which entries of a suite a run consists of, by their places in the lists of the file. Load is -1 if the suite
// has a search instead of loads.
type Cell struct{ Target, Workload, Load int }

// IsSuite reports whether the manifest is an EtcdBenchmarkSuite.
func (m *Manifest) IsSuite() bool { return m.Object.GetKind() == SuiteKind }

// Of returns the manifest of one run of a suite. Problems with its fields name the fields and lines of the suite's file.
func (m *Manifest) Of(c Cell, run *unstructured.Unstructured) *Manifest {
	load := "spec.search.load"
	if c.Load >= 0 {
		load = fmt.Sprintf("spec.loads[%d].load", c.Load)
	}
	entries := []struct{ field, origin string }{
		{"spec.target", fmt.Sprintf("spec.targets[%d].target", c.Target)},
		{"spec.workload", fmt.Sprintf("spec.workloads[%d].workload", c.Workload)},
		{"spec.objectives", fmt.Sprintf("spec.workloads[%d].objectives", c.Workload)},
		{"spec.load", load},
		{"spec", "spec.template"},
	}
	origin := func(field string) string {
		for _, e := range entries {
			if rest, within := strings.CutPrefix(field, e.field); within && (rest == "" || rest[0] == '.' || rest[0] == '[') {
				return e.origin + rest
			}
		}
		return field
	}
	return &Manifest{File: m.File, Object: run, root: m.root, origin: origin, flags: map[string]string{}}
}

// Copy returns a manifest of the same file whose object can be changed alone.
func (m *Manifest) Copy() *Manifest {
	return &Manifest{File: m.File, Object: m.Object.DeepCopy(), root: m.root, origin: m.origin, flags: maps.Clone(m.flags)}
}
