package manifest

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"

	"github.com/agnivade/levenshtein"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/config/crd"
)

// maxEdits is the largest edit distance between an unknown field and a suggested one.
const maxEdits = 2

// suggestion returns the known field of the same object that is closest to an unknown one, or "".
func suggestion(kind, field string) string {
	path := steps(field)
	if len(path) == 0 {
		return ""
	}
	name, best, least := strings.ToLower(path[len(path)-1]), "", maxEdits+1
	for _, known := range knownFields(kind, path[:len(path)-1]) {
		if d := distance(name, strings.ToLower(known)); d < least {
			best, least = known, d
		}
	}
	return best
}

// maxListed is the most valid fields that a message lists.
const maxListed = 30

// knownInstead continues a sentence about an unknown field: with the field that was probably meant, and with all valid
// ones, the nearest first.
func knownInstead(kind, field string) (text string) {
	if meant := suggestion(kind, field); meant != "" {
		text = fmt.Sprintf("; did you mean %q?", meant)
	}
	path := steps(field)
	if len(path) == 0 {
		return text
	}
	name, known := strings.ToLower(path[len(path)-1]), slices.Clone(knownFields(kind, path[:len(path)-1]))
	slices.SortStableFunc(known, func(a, b string) int {
		return levenshtein.ComputeDistance(name, strings.ToLower(a)) - levenshtein.ComputeDistance(name, strings.ToLower(b))
	})
	if len(known) == 0 {
		return text
	}
	if len(known) > maxListed {
		known = append(known[:maxListed:maxListed], "…")
	}
	return text + " (valid: " + strings.Join(known, ", ") + ")"
}

// distance is the number of edits from name to known. A short name allows fewer edits, because it is close to every
// other short name. The beginning of a field, such as duration for durationSeconds, counts as maxEdits.
func distance(name, known string) int {
	if d := levenshtein.ComputeDistance(name, known); d <= min(maxEdits, len(name)/2) {
		return d
	}
	if len(name) > maxEdits && strings.HasPrefix(known, name) {
		return maxEdits
	}
	return maxEdits + 1
}

// metadataFields are those that a manifest of a run can use. The CustomResourceDefinition does not list them.
var metadataFields = []string{"annotations", "generateName", "labels", "name", "namespace"}

// knownFields returns the names of the fields of the object at this path, in alphabetical order.
func knownFields(kind string, path []string) []string {
	if slices.Equal(path, []string{"metadata"}) {
		return metadataFields
	}
	object := objectSchema(kind)
	for _, step := range path {
		if object.Items != nil && object.Items.Schema != nil {
			object = *object.Items.Schema
			continue
		}
		object = object.Properties[step]
	}
	return slices.Sorted(maps.Keys(object.Properties))
}

// objectSchema has no properties if the definition cannot be read.
func objectSchema(kind string) (object apiextensionsv1.JSONSchemaProps) {
	if read, err := Schema(kind); err == nil {
		object = *read
	}
	return object
}

var (
	runSchema   = sync.OnceValues(func() (*apiextensionsv1.JSONSchemaProps, error) { return ReadSchema(crd.EtcdBenchmarks) })
	suiteSchema = sync.OnceValues(func() (*apiextensionsv1.JSONSchemaProps, error) { return ReadSchema(crd.EtcdBenchmarkSuites) })
)

// Schema returns the schema of EtcdBenchmark, or of EtcdBenchmarkSuite. It is read once, and must not be changed.
func Schema(kind string) (*apiextensionsv1.JSONSchemaProps, error) {
	if kind == SuiteKind {
		return suiteSchema()
	}
	return runSchema()
}

// ReadSchema returns the schema in a CustomResourceDefinition as YAML.
func ReadSchema(source []byte) (*apiextensionsv1.JSONSchemaProps, error) {
	var definition apiextensionsv1.CustomResourceDefinition
	if err := yaml.Unmarshal(source, &definition); err != nil {
		return nil, err
	}
	for _, v := range definition.Spec.Versions {
		if v.Name == v1alpha1.GroupVersion.Version && v.Schema != nil && v.Schema.OpenAPIV3Schema != nil {
			return v.Schema.OpenAPIV3Schema, nil
		}
	}
	return nil, fmt.Errorf("wanted version %s in the CustomResourceDefinition, found none", v1alpha1.GroupVersion.Version)
}
