package manifest

import (
	"strings"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
)

// randomSuffix is how many characters an API server adds to a generateName.
const randomSuffix = 5

// GenerateName has whoever creates the object add a random suffix to its name,
// and leaves room for it. An object without a name stays as it is.
func (m *Manifest) GenerateName() {
	name := m.Object.GetName()
	if name == "" {
		return
	}
	if longest := v1alpha1.MaxNameLength - len("-") - randomSuffix; len(name) > longest {
		name = strings.TrimRight(name[:longest], "-.")
	}
	m.Object.SetName("")
	m.Object.SetGenerateName(name + "-")
}
