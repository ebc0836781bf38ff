package command

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/cmd/kubectl-etcdbench/internal/local"
)

// memberFlags are the flags about members that the command starts.
var memberFlags = []string{"members", "member-binary", "data-dir"}

// addMembers defines memberFlags. where says when they can be used.
func (f *runFlags) addMembers(flags *pflag.FlagSet, where string) {
	flags.IntVar(&f.options.Members, "members", 0, where+"start `N` etcd members (1 to 9), processes of their own on this machine, and send the load to them. They end with the run")
	flags.StringArrayVar(&f.binaries, "member-binary", nil, "with --members: start the etcd in this `FILE`, not the one in this command. TARGET=FILE is for one target of a suite")
	flags.StringVar(&f.options.DataDir, "data-dir", "", "with --members: keep their data in a new folder in this `FOLDER`; the folder for temporary files if not set")
}

// readPrograms reads the values of --member-binary.
func (f *runFlags) readPrograms() error {
	f.programs = map[v1alpha1.EntryName]string{}
	for _, value := range f.binaries {
		before, file, named := strings.Cut(value, "=")
		target := v1alpha1.EntryName(before)
		if !named || strings.ContainsAny(before, `/\`) {
			target, file = "", value
		}
		if file == "" {
			return fmt.Errorf("--member-binary: wanted a file, found %q", value)
		}
		if f.programs[target] != "" {
			return fmt.Errorf("--member-binary: %q is the second one for the same target: remove one of them", value)
		}
		f.programs[target] = file
	}
	return nil
}

// checkPrograms wants each target of --member-binary to be one of these. A manifest of one run has none.
func (f *runFlags) checkPrograms(targets []v1alpha1.SuiteTarget) error {
	for name := range f.programs {
		if name != "" && !slices.ContainsFunc(targets, func(t v1alpha1.SuiteTarget) bool { return t.Name == name }) {
			return fmt.Errorf("--member-binary: the manifest has no target %s in spec.targets", name)
		}
	}
	return nil
}

// optionsOf are the options of a run at a target of a suite; "" if the manifest is one run.
func (f *runFlags) optionsOf(target v1alpha1.EntryName) local.Options {
	o := f.options
	if o.MemberBinary = f.programs[target]; o.MemberBinary == "" {
		o.MemberBinary = f.programs[""]
	}
	return o
}
