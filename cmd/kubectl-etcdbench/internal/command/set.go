package command

import (
	"fmt"
	"strings"

	"github.com/spf13/pflag"

	"github.com/etcdbench/etcd-benchmark-operator/cmd/kubectl-etcdbench/internal/advice"
	"github.com/etcdbench/etcd-benchmark-operator/cmd/kubectl-etcdbench/internal/manifest"
)

// addSet defines the flag that sets what no other flag of a command without a manifest sets.
func (f *runFlags) addSet(flags *pflag.FlagSet) {
	flags.StringArrayVar(&f.sets, "set", nil, "set a field of the run, as `FIELD=VALUE`, for example guard.acknowledgeControlPlane=true. Repeat it for more fields")
}

// setFields sets the fields of --set. Admission checks them.
func (f *runFlags) setFields(m *manifest.Manifest, command advice.Command) error {
	for _, set := range f.sets {
		field, word, found := strings.Cut(strings.TrimPrefix(set, "spec."), "=")
		value, ok := valueOf(word)
		if !found || !ok || !manifest.IsField(field) {
			return fmt.Errorf("--set: wanted FIELD=VALUE with a field of the spec of an EtcdBenchmark, for example timeoutSeconds=600, found %q", set)
		}
		if by := command.FixedBy(field); by != "" {
			return fmt.Errorf("--set %s: %s fixes this field: remove it, or use a manifest (kubectl etcdbench run)", field, by)
		}
		m.Set("--set "+field, "spec."+field, value)
	}
	return nil
}
