package manifest

import (
	"strings"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
)

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
