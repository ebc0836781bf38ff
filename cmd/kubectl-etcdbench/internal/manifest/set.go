package manifest

import (
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Set gives the field with this path, for example spec.target.endpoints, the
// value of a flag. Problems with the field then name the flag. Where the file
// has something else than fields on the way, all stays as it is: whoever admits
// the object refuses that.
func (m *Manifest) Set(flag, field string, value any) {
	if unstructured.SetNestedField(m.Object.Object, value, steps(field)...) == nil {
		m.flags[field] = flag
	}
}

// Drop takes out the field with this path.
func (m *Manifest) Drop(field string) {
	unstructured.RemoveNestedField(m.Object.Object, steps(field)...)
}

// Has says whether the file, or a flag, has set the field with this path.
func (m *Manifest) Has(field string) bool {
	value, found, _ := unstructured.NestedFieldNoCopy(m.Object.Object, steps(field)...)
	return found && value != nil
}

// setBy returns the flag that set the field or one of its parents, empty if
// none did.
func (m *Manifest) setBy(field string) string {
	for path, flag := range m.flags {
		if rest, under := strings.CutPrefix(field, path); under && (rest == "" || rest[0] == '.' || rest[0] == '[') {
			return flag
		}
	}
	return ""
}
