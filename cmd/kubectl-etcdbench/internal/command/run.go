package command

import (
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/cmd/kubectl-etcdbench/internal/admission"
	"github.com/etcdbench/etcd-benchmark-operator/cmd/kubectl-etcdbench/internal/local"
	"github.com/etcdbench/etcd-benchmark-operator/cmd/kubectl-etcdbench/internal/manifest"
)

const (
	runExample = `  # Run in the cluster of the current context and follow it
  kubectl etcdbench run -f benchmark.yaml

  # Run the same manifest once more, under a name of its own
  kubectl etcdbench run -f benchmark.yaml --generate-name

  # Run on this machine, against three etcd members started for it
  kubectl etcdbench run --local --embedded-members 3 -f benchmark.yaml

  # Run on this machine against an etcd that serves TLS, and keep the result
  kubectl etcdbench run --local -f benchmark.yaml --endpoints etcd.example:2379 --tls-dir certs/ -o json > result.json

  # Follow a run that somebody else has created
  kubectl etcdbench watch write-all-members -n etcd`

	runHelp = `Creates the EtcdBenchmark of a manifest in a cluster and follows it until it has
finished, or, with --local, runs it on this machine. Progress goes to standard
error, the result to standard output.

Ctrl-C ends the run in an orderly way: its keys are deleted, and the result is
what was measured until then. A second Ctrl-C does not wait for that.

` + exitHelp
)

// runFlags are the flags of run.
type runFlags struct {
	following
	file         string
	generateName bool
	local        bool
	options      local.Options
}

func (t *tool) runCommand() *cobra.Command {
	f := &runFlags{}
	cmd := &cobra.Command{
		Use:     "run -f FILE",
		Short:   "Run a benchmark and follow it",
		Long:    runHelp,
		Example: runExample,
		Args:    cobra.NoArgs,
		RunE:    func(*cobra.Command, []string) error { return t.run(f) },
	}
	flags := cmd.Flags()
	flags.StringVarP(&f.file, "filename", "f", "", "manifest with one EtcdBenchmark; - reads standard input")
	flags.BoolVar(&f.generateName, "generate-name", false, "add a random suffix to the manifest's name, since a run is never repeated")
	flags.BoolVar(&f.local, "local", false, "run on this machine, without a cluster")
	flags.IntVar(&f.options.EmbeddedMembers, "embedded-members", 0, "with --local: start this many etcd members and load them")
	flags.StringSliceVar(&f.options.Endpoints, "endpoints", nil, "with --local: members to load, as host:port,…, in place of the manifest's target")
	flags.StringVar(&f.options.TLSDir, "tls-dir", "", "with --local: folder with ca.crt, tls.crt and tls.key, in place of the Secret of spec.target.tls")
	flags.StringVar(&f.options.AuthDir, "auth-dir", "", "with --local: folder with username and password, in place of the Secret of spec.target.auth")
	f.addFlags(flags)
	t.kube.AddFlags(flags)
	return cmd
}

func (f *runFlags) check() error {
	o := f.options
	switch {
	case f.file == "":
		return errors.New("wanted a manifest, found none: add -f FILE")
	case !f.local && (o.EmbeddedMembers != 0 || len(o.Endpoints) > 0 || o.TLSDir != "" || o.AuthDir != ""):
		return errors.New("--embedded-members, --endpoints, --tls-dir and --auth-dir are for runs on this machine: add --local")
	case f.local && f.timeout != 0:
		return errors.New("--timeout is for runs in a cluster: spec.timeoutSeconds bounds a local one")
	}
	return f.following.check()
}

func (t *tool) run(f *runFlags) error {
	if err := f.check(); err != nil {
		return err
	}
	m, err := t.readManifest(f.file)
	if err != nil {
		return err
	}
	if f.generateName {
		m.GenerateName()
	}
	if f.local {
		return t.runLocally(f, m)
	}
	return t.runInCluster(f, m)
}

func (t *tool) readManifest(file string) (*manifest.Manifest, error) {
	if file == "-" {
		return manifest.Read("standard input", t.In)
	}
	in, err := os.Open(file)
	if err != nil {
		return nil, fmt.Errorf("reading the manifest: %w", err)
	}
	defer in.Close()
	return manifest.Read(file, in)
}

// defaultNamespace is that of a local run whose manifest names none.
const defaultNamespace = "default"

func (t *tool) runLocally(f *runFlags, m *manifest.Manifest) error {
	if m.Object.GetNamespace() == "" {
		m.Object.SetNamespace(defaultNamespace)
	}
	run, err := admit(m)
	if err != nil {
		return m.Explain(err)
	}
	s := t.screen()
	f.options.Show, f.options.Notice, f.options.Stop = s.Show, s.Notice, t.interrupts.end
	timeline, err := local.Run(t.interrupts.leave, run, f.options)
	s.Close()
	if errors.Is(err, local.ErrLeft) {
		return &exitError{exitUnknown, err}
	}
	if err != nil {
		return err
	}
	return t.conclude(run, timeline, f.output)
}

// admit returns the object as a cluster would have created it.
func admit(m *manifest.Manifest) (*v1alpha1.EtcdBenchmark, error) {
	schema, err := admission.NewSchema()
	if err != nil {
		return nil, err
	}
	return schema.Create(m.Object, time.Now())
}
