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

// Origin says where a part of a manifest that was made of another one is in that other one.
type Origin struct{ Field, From string }

// Make returns a manifest that was made of this one. Problems with its fields name the flags that set them, or the fields and
// lines of the file. flags maps the path of a field to its flag. The first origin that has a field counts; without one, the field has the same path.
func (m *Manifest) Make(made *unstructured.Unstructured, flags map[string]string, origins ...Origin) *Manifest {
	origin := func(field string) string {
		for _, o := range origins {
			if rest, within := strings.CutPrefix(field, o.Field); within && (rest == "" || rest[0] == '.' || rest[0] == '[') {
				return o.From + rest
			}
		}
		return field
	}
	return &Manifest{File: m.File, Object: made, root: m.root, from: m, origin: origin, flags: flags}
}

// Of returns the manifest of one run of a suite.
func (m *Manifest) Of(c Cell, run *unstructured.Unstructured) *Manifest {
	load := "spec.search.load"
	if c.Load >= 0 {
		load = fmt.Sprintf("spec.loads[%d].load", c.Load)
	}
	disturbances := "spec.template.disturbances"
	workloads, _, _ := unstructured.NestedFieldNoCopy(m.Object.Object, "spec", "workloads")
	if all, isList := workloads.([]any); isList && c.Workload < len(all) {
		if entry, _ := all[c.Workload].(map[string]any); entry["disturbances"] != nil {
			disturbances = fmt.Sprintf("spec.workloads[%d].disturbances", c.Workload)
		}
	}
	return m.Make(run, map[string]string{},
		Origin{"spec.target", fmt.Sprintf("spec.targets[%d].target", c.Target)},
		Origin{"spec.workload", fmt.Sprintf("spec.workloads[%d].workload", c.Workload)},
		Origin{"spec.objectives", fmt.Sprintf("spec.workloads[%d].objectives", c.Workload)},
		Origin{"spec.disturbances", disturbances},
		Origin{"spec.load", load},
		Origin{"spec", "spec.template"},
	)
}

// Copy returns a manifest of the same file whose object can be changed alone.
func (m *Manifest) Copy() *Manifest {
	return &Manifest{File: m.File, Object: m.Object.DeepCopy(), root: m.root, from: m.from, origin: m.origin, flags: maps.Clone(m.flags)}
}
