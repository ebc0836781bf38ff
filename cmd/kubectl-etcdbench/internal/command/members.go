package command

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/cmd/kubectl-etcdbench/internal/local"
)

// memberFlags are the flags about members that the command starts.
var memberFlags = []string{"members", "member-binary", "data-dir"}

// addMembers defines memberFlags. where says when they can be used.
func (f *runFlags) addMembers(flags *pflag.FlagSet, where string) {
	flags.IntVar(&f.options.Members, "members", 0, where+"start `N` members (1 to 9), processes of their own on this machine, and send the load to them. They end with the run")
	flags.StringArrayVar(&f.binaries, "member-binary", nil, "with --members or spec.target.ephemeral: start the etcd in this `FILE`, not the one in this command; for other stores, their consul or zkServer.sh. TARGET=FILE is for one target of a suite")
	flags.StringVar(&f.options.DataDir, "data-dir", "", "with --members or spec.target.ephemeral: keep the members' data in a new folder in this `FOLDER`; the folder for temporary files if not set")
}

// checkMembers checks memberFlags as far as they do not depend on the manifest.
func (f *runFlags) checkMembers() error {
	o := f.options
	switch {
	case f.given("members") && o.Members == 0:
		return fmt.Errorf("--members: wanted 1 to %d, found 0", local.MaxMembers)
	case o.Members != 0 && len(f.access.Endpoints) > 0:
		return errors.New("--members and --endpoints both set the target: give one of them")
	case f.given("data-dir") && o.DataDir == "":
		return errors.New(`--data-dir: wanted a folder, found ""`)
	}
	for _, flag := range []string{"member-binary", "data-dir"} {
		if f.given(flag) && len(f.access.Endpoints) > 0 {
			return fmt.Errorf("--%s is for members that the command starts, and --endpoints gives the addresses of others: remove --endpoints or --%[1]s", flag)
		}
	}
	return f.readPrograms()
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
		if named && before == "" {
			return fmt.Errorf("--member-binary: wanted FILE or TARGET=FILE, found %q", value)
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

// checkPrograms wants each target of --member-binary to be one of these, and a FILE without a target to be for one store. A
// manifest of one run has no targets.
func (f *runFlags) checkPrograms(targets []v1alpha1.SuiteTarget) error {
	for name := range f.programs {
		if name != "" && !slices.ContainsFunc(targets, func(t v1alpha1.SuiteTarget) bool { return t.Name == name }) {
			return fmt.Errorf("--member-binary: the manifest has no target %s in spec.targets", name)
		}
	}
	stores := map[spec.Datastore]bool{}
	for _, t := range targets {
		if f.programs[t.Name] == "" {
			stores[t.Target.Datastore] = true
		}
	}
	if f.programs[""] != "" && len(stores) > 1 {
		return fmt.Errorf("--member-binary FILE is for targets of one store, and the suite has targets of %q: give --member-binary TARGET=FILE for each target", slices.Sorted(maps.Keys(stores)))
	}
	return nil
}

// optionsOf are the options of a run at a target of a suite; "" if the manifest is one run.
func (f *runFlags) optionsOf(target v1alpha1.EntryName) local.Options {
	o := f.options
	o.Target = target
	if o.MemberBinary = f.programs[target]; o.MemberBinary == "" {
		o.MemberBinary = f.programs[""]
	}
	return o
}

// firstNames are the files of programs by the first of their names.
type firstNames map[string]os.FileInfo

// of returns the first name of the file that this name leads to.
func (n firstNames) of(name string) string {
	path, err := exec.LookPath(name)
	if err != nil {
		return name
	}
	file, err := os.Stat(path)
	if err != nil {
		return name
	}
	for first, known := range n {
		if os.SameFile(file, known) {
			return first
		}
	}
	n[name] = file
	return name
}
