package compare

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
)

// sameLoad returns an error that names the first fields in which the stores, the workloads or the loads of two runs
// differ. The seed may differ, so that rounds do not repeat the same requests.
func sameLoad(a, b *v1alpha1.EtcdBenchmark) error {
	differences, err := Differences(a, b)
	if err != nil || len(differences) == 0 {
		return err
	}
	const shown = 3
	more := ""
	if n := len(differences); n > shown {
		more, differences = fmt.Sprintf(", and %d more", n-shown), differences[:shown]
	}
	return fmt.Errorf("%s and %s did not do the same, so they cannot be compared. They differ in %s%s", a.Name, b.Name, strings.Join(differences, ", "), more)
}

// Differences lists the fields in which the stores, the workloads, the loads without their seeds, and the disturbances of
// two runs differ, with both values.
func Differences(a, b *v1alpha1.EtcdBenchmark) ([]string, error) {
	one, err := described(a)
	if err != nil {
		return nil, err
	}
	other, err := described(b)
	if err != nil {
		return nil, err
	}
	return differing("", one, other), nil
}

// described is what must be the same in runs that are compared, as JSON has it.
func described(run *v1alpha1.EtcdBenchmark) (map[string]any, error) {
	resolved := run.Resolved()
	load := resolved.Load
	load.Seed = 0
	data, err := json.Marshal(map[string]any{"datastore": run.Spec.Target.Datastore, "workload": resolved.Workload, "load": load, "disturbances": run.Spec.Disturbances})
	if err != nil {
		return nil, fmt.Errorf("reading the load of %s: %w", run.Name, err)
	}
	var out map[string]any
	if err := json.Unmarshal(data, &out); err != nil {
		return nil, fmt.Errorf("reading the load of %s: %w", run.Name, err)
	}
	return out, nil
}

// differing lists the paths at which two JSON values differ, with both values.
func differing(path string, a, b any) (out []string) {
	one, isObject := a.(map[string]any)
	other, isOther := b.(map[string]any)
	if !isObject || !isOther {
		if !reflect.DeepEqual(a, b) {
			out = append(out, fmt.Sprintf("%s (%s, %s)", strings.TrimPrefix(path, "."), shown(a), shown(b)))
		}
		return out
	}
	keys := slices.Collect(maps.Keys(one))
	for key := range other {
		if _, both := one[key]; !both {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	for _, key := range keys {
		out = append(out, differing(path+"."+key, one[key], other[key])...)
	}
	return out
}

// shown is a value in a message.
func shown(v any) string {
	switch v := v.(type) {
	case nil:
		return "not set"
	case map[string]any, []any:
		return "set"
	case string:
		return v
	default:
		return fmt.Sprint(v)
	}
}
