package command

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/cmd/kubectl-etcdbench/internal/manifest"
)

// sweepFlags make a suite of the manifest of a run.
type sweepFlags struct {
	sweeps []string
	rounds int32
	print  bool
}

// sweptEntry is an entry of a list of the suite. flags has the flags that set its fields, by their paths in the entry.
type sweptEntry struct {
	object map[string]any
	flags  map[string]string
}

// sweptAxes are the parts of a run that a suite has a list of.
var sweptAxes = []struct{ field, list string }{{"target", "targets"}, {"workload", "workloads"}, {"load", "loads"}}

func (f *runFlags) checkSweep() error {
	switch {
	case f.given("rounds") && f.find.findRate:
		return errors.New("--rounds: a search repeats its probes itself: remove it")
	case len(f.sweep.sweeps) == 0 && f.given("rounds"):
		return errors.New("--rounds is for --sweep: a suite has its own field, spec.rounds")
	case !f.makesSuite() && f.sweep.print:
		return errors.New("--print-manifest shows the suite that --sweep or --find-rate makes of a manifest: add one of them")
	case f.given("rounds") && f.sweep.rounds < 1:
		return fmt.Errorf("--rounds: wanted 1 or more, found %d", f.sweep.rounds)
	}
	return checkSweptOnce(f.sweep.sweeps)
}

// makesSuite reports whether a flag makes a suite of the manifest of a run.
func (f *runFlags) makesSuite() bool { return len(f.sweep.sweeps) > 0 || f.find.findRate }

// swept returns the suite of all combinations of the values that --sweep gives; with --find-rate, one that searches.
func (f *runFlags) swept(m *manifest.Manifest) (*manifest.Manifest, error) {
	if m.IsSuite() {
		return nil, errors.New("--sweep and --find-rate take the manifest of a single run: found an EtcdBenchmarkSuite, which has spec.rounds, a list of each axis, and spec.search")
	}
	run, _, err := unstructured.NestedMap(m.Object.Object, "spec")
	if err != nil {
		return nil, m.Refuse("spec", "wanted an object")
	}
	for _, field := range []string{"profile", "kubernetes"} {
		if _, found := run[field]; found {
			return nil, m.Refuse("spec."+field, "fixes workload and load: --sweep and --find-rate need both in its place")
		}
	}
	axes := map[string][]sweptEntry{}
	for _, axis := range sweptAxes {
		entry, _ := run[axis.field].(map[string]any)
		if entry == nil {
			return nil, m.Refuse("spec."+axis.field, "wanted an object: --sweep and --find-rate need it")
		}
		axes[axis.field] = []sweptEntry{{object: map[string]any{"name": axis.field, axis.field: entry}}}
		delete(run, axis.field)
	}
	for _, sweep := range f.sweep.sweeps {
		if err := addSweep(axes, sweep); err != nil {
			return nil, err
		}
	}
	objectives, found := run["objectives"].([]any)
	if found {
		for _, w := range axes["workload"] {
			w.object["objectives"] = objectives
		}
		delete(run, "objectives")
	}
	spec := map[string]any{"template": run, "rounds": int64(max(f.sweep.rounds, 1))}
	for _, axis := range sweptAxes {
		var list []any
		for _, entry := range axes[axis.field] {
			list = append(list, entry.object)
		}
		spec[axis.list] = list
	}
	if f.find.findRate {
		delete(spec, "loads")
		if spec["search"], err = f.searchOf(m, objectives, axes["load"]); err != nil {
			return nil, err
		}
	}
	metadata := map[string]any{}
	for _, field := range []string{"name", "generateName", "namespace"} {
		if value, found := m.Text("metadata." + field); found {
			metadata[field] = value
		}
	}
	made := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": v1alpha1.GroupVersion.String(), "kind": manifest.SuiteKind, "metadata": metadata, "spec": spec,
	}}
	return namingOrigins(m, made, axes), nil
}

// namingOrigins lets problems with the suite name the flags, and the lines of the run's manifest.
func namingOrigins(m *manifest.Manifest, suite *unstructured.Unstructured, axes map[string][]sweptEntry) *manifest.Manifest {
	origins := []manifest.Origin{{Field: "spec.search.load", From: "spec.load"}, {Field: "spec.template", From: "spec"}}
	flags := map[string]string{}
	for _, axis := range sweptAxes {
		for i, entry := range axes[axis.field] {
			field := fmt.Sprintf("spec.%s[%d].", axis.list, i)
			origins = append(origins, manifest.Origin{Field: field + axis.field, From: "spec." + axis.field},
				manifest.Origin{Field: field + "objectives", From: "spec.objectives"})
			for path, flag := range entry.flags {
				flags[field+path] = flag
			}
		}
	}
	return m.Make(suite, flags, origins...)
}

const sweepForm = "FIELD=VALUE,VALUE,… with a field of target, workload or load, for example load.clients=1,10,100"

// checkSweptOnce refuses a field with two sweeps: the values of the second would replace those of the first.
func checkSweptOnce(sweeps []string) error {
	seen := map[string]bool{}
	for _, s := range sweeps {
		path, _, _ := strings.Cut(strings.TrimPrefix(s, "spec."), "=")
		if seen[path] {
			return fmt.Errorf("--sweep: found %s twice; give all its values in one --sweep %s=VALUE,VALUE,…", path, path)
		}
		seen[path] = true
	}
	return nil
}

// addSweep multiplies the entries of an axis by the values of one field.
func addSweep(axes map[string][]sweptEntry, sweep string) error {
	refused := func(why string) error {
		return fmt.Errorf("--sweep: wanted %s, found %q: %s", sweepForm, sweep, why)
	}
	path, list, given := strings.Cut(sweep, "=")
	path = strings.TrimPrefix(path, "spec.")
	steps := strings.Split(path, ".")
	entries, known := axes[steps[0]]
	switch {
	case !given || list == "":
		return refused("there are no values")
	case !known || len(steps) < 2 || slices.Contains(steps, ""):
		return refused(fmt.Sprintf("there is no field %q", path))
	}
	words := strings.Split(list, ",")
	for i, word := range words {
		if slices.Contains(words[:i], word) {
			return refused(fmt.Sprintf("the value %s is there twice", word))
		}
	}
	var out []sweptEntry
	for _, entry := range entries {
		for _, word := range words {
			value, ok := valueOf(word)
			if !ok {
				return refused(fmt.Sprintf("%q is no value", word))
			}
			copied := sweptEntry{(&unstructured.Unstructured{Object: entry.object}).DeepCopy().Object, maps.Clone(entry.flags)}
			if err := unstructured.SetNestedField(copied.object, value, steps...); err != nil {
				return refused(err.Error())
			}
			copied.object["name"] = entryName(fmt.Sprint(entry.object["name"]), steps[0], steps[len(steps)-1], word, len(out))
			if copied.flags == nil {
				copied.flags = map[string]string{}
			}
			copied.flags[path] = "--sweep " + path + "=" + word
			out = append(out, copied)
		}
	}
	axes[steps[0]] = out
	return nil
}

// valueOf reads the value of a field as YAML. Whole numbers have the type that unstructured objects have.
func valueOf(word string) (value any, ok bool) {
	if err := yaml.Unmarshal([]byte(word), &value); err != nil || word == "" {
		return nil, false
	}
	if n, isNumber := value.(float64); isNumber && n == float64(int64(n)) {
		return int64(n), true
	}
	return value, true
}

// entryName is the last step of the field with its value, after the name of the entry so far. A name that would be too
// long or has other characters is replaced by the axis and a number.
func entryName(before, axis, field, value string, index int) string {
	const longest = 20
	name := strings.ToLower(field + "-" + value)
	if before != axis {
		name = before + "-" + name
	}
	allowed := func(r rune) bool { return r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '-' }
	if len(name) > longest || strings.HasSuffix(name, "-") || strings.ContainsFunc(name, func(r rune) bool { return !allowed(r) }) {
		return fmt.Sprintf("%s-%d", axis, index+1)
	}
	return name
}
