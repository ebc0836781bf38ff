package manifest

import (
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
)

// Set sets the field with this path, for example spec.target.endpoints, to the value of a flag. Problems with the field
// then name the flag. If a parent of the field is not an object, Set changes nothing: admission refuses that file.
func (m *Manifest) Set(flag, field string, value any) {
	if unstructured.SetNestedField(m.Object.Object, value, steps(field)...) == nil {
		m.flags[field] = flag
	}
}

// Drop removes the field with this path.
func (m *Manifest) Drop(field string) {
	unstructured.RemoveNestedField(m.Object.Object, steps(field)...)
}

// Text returns the text of the field with this path; false if it is not set or no text.
func (m *Manifest) Text(field string) (string, bool) {
	value, found, err := unstructured.NestedString(m.Object.Object, steps(field)...)
	return value, found && err == nil
}

// Has reports whether the file or a flag sets the field with this path.
func (m *Manifest) Has(field string) bool {
	value, found, _ := unstructured.NestedFieldNoCopy(m.Object.Object, steps(field)...)
	return found && value != nil
}

// setBy returns the flag that set the field or one of its parents, or "".
func (m *Manifest) setBy(field string) string {
	for path, flag := range m.flags {
		if rest, under := strings.CutPrefix(field, path); under && (rest == "" || rest[0] == '.' || rest[0] == '[') {
			return flag
		}
	}
	if m.from != nil {
		return m.from.setBy(m.origin(field))
	}
	return ""
}

// randomSuffix is the number of characters that an API server adds to a generateName.
const randomSuffix = 5

// GenerateName replaces the object's name by a generateName that is short enough for the random suffix. An object
// without a name is not changed.
func (m *Manifest) GenerateName() {
	name := m.Object.GetName()
	if name == "" {
		return
	}
	longest := v1alpha1.MaxNameLength
	if m.IsSuite() {
		longest = v1alpha1.MaxSuiteNameLength
	}
	if longest -= len("-") + randomSuffix; len(name) > longest {
		name = strings.TrimRight(name[:longest], "-.")
	}
	m.Object.SetName("")
	m.Object.SetGenerateName(name + "-")
}
