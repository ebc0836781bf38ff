package command

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"sigs.k8s.io/yaml"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/cmd/kubectl-etcdbench/internal/admission"
	"github.com/etcdbench/etcd-benchmark-operator/cmd/kubectl-etcdbench/internal/advice"
	"github.com/etcdbench/etcd-benchmark-operator/cmd/kubectl-etcdbench/internal/local"
	"github.com/etcdbench/etcd-benchmark-operator/cmd/kubectl-etcdbench/internal/manifest"
)

// defaultNamespace is the namespace of a local run whose manifest has none.
const defaultNamespace = "default"

// checkLocal checks the flags of a local run that do not depend on the manifest. A flag that is given must have a value
// other than its default.
func (f *runFlags) checkLocal() error {
	switch flag := f.firstGiven(f.clusterFlags); {
	case flag != "":
		return fmt.Errorf("--%s selects a cluster, and a run with --local uses none: remove --%[1]s or --local", flag)
	case f.given("timeout"):
		return errors.New("--timeout is for runs in a cluster: remove it and set spec.timeoutSeconds (in a suite: spec.template.timeoutSeconds), which limits a run with --local")
	}
	return f.checkMembers()
}

// firstGiven returns the first of the flags that is on the command line, or "".
func (f *runFlags) firstGiven(flags []string) string {
	if i := slices.IndexFunc(flags, f.given); i >= 0 {
		return flags[i]
	}
	return ""
}

// runMade runs, on this machine, a manifest that a command has made of its flags.
func (t *tool) runMade(f *runFlags, m *manifest.Manifest, a advice.Command) error {
	f.advice = a
	if err := f.setFields(m, a); err != nil {
		return err
	}
	if err := f.destinations.open(t.Out, f.following); err != nil {
		return err
	}
	defer f.destinations.discard()
	return t.runLocally(f, m)
}

func (t *tool) runLocally(f *runFlags, m *manifest.Manifest) error {
	if err := f.destinations.check(nil); err != nil {
		return err
	}
	run, err := f.admittedHere(m)
	if err != nil {
		return err
	}
	admission.Forget()
	s, options := t.screen(), f.optionsOf("")
	options.Show, options.Notice, options.Stop = seenBy(s, f.following), s.Notice, t.interrupts.end
	report, err := local.Run(t.interrupts.leave, run, options)
	s.Close()
	if errors.Is(err, local.ErrLeft) {
		return &exitError{exitUnknown, err}
	}
	if err != nil {
		return err
	}
	return t.showEnded(run, report, f.following)
}

// admittedHere returns the run of a manifest if it can run on this machine.
func (f *runFlags) admittedHere(m *manifest.Manifest) (*v1alpha1.EtcdBenchmark, error) {
	if err := f.setTarget(m); err != nil {
		return nil, err
	}
	run, err := admitted(admission.Runs, m)
	if err != nil {
		return nil, err
	}
	if run.Spec.Stop {
		return nil, m.Refuse("spec.stop", "found true, which stops a run: remove it to run this manifest")
	}
	if err := f.checkPrograms(nil); err != nil {
		return nil, err
	}
	return run, f.optionsOf("").Validate(run)
}

// admitted returns the object that a cluster would have created.
func admitted[T any](read func() (*admission.Schema[T], error), m *manifest.Manifest) (*T, error) {
	schema, err := read()
	if err != nil {
		return nil, err
	}
	if m.Object.GetNamespace() == "" {
		m.Object.SetNamespace(defaultNamespace)
	}
	object, err := schema.Create(m.Object, time.Now())
	return object, m.Explain(err)
}

// printAdmitted prints a manifest instead of running it. One that could not run is refused.
func printAdmitted[T any](t *tool, read func() (*admission.Schema[T], error), m *manifest.Manifest) error {
	if _, err := admitted(read, m.Copy()); err != nil {
		return err
	}
	data, err := yaml.Marshal(m.Object.Object)
	if err != nil {
		return fmt.Errorf("writing the manifest: %w", err)
	}
	_, err = t.Out.Write(data)
	return err
}
