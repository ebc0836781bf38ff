package command

import (
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

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

  # Watch the numbers while the run goes on, and keep the result in a file
  kubectl etcdbench run -f benchmark.yaml -o jsonl -o json=result.json

  # Follow a run that somebody else has created
  kubectl etcdbench watch write-all-members -n etcd`

	runHelp = `Creates the EtcdBenchmark of a manifest in a cluster and follows it until it has
finished, or, with --local, runs it on this machine. Progress goes to standard
error, the result to standard output.

Ctrl-C, or SIGTERM, ends the run in an orderly way: its keys are deleted, and the
result, in every form that was asked for, is what was measured until then and says
that it is partial, unless all was measured. A second Ctrl-C does not wait for that.

` + exitHelp
)

// runFlags are the flags of run.
type runFlags struct {
	following
	file         string
	generateName bool
	local        bool
	// endpoints take the place of the manifest's target.
	endpoints []string
	options   local.Options
	// clusterFlags are the names of the flags that say which cluster is meant.
	clusterFlags []string
}

func (t *tool) runCommand() *cobra.Command {
	f := &runFlags{}
	cmd := &cobra.Command{
		Use:     "run -f FILE",
		Short:   "Run a benchmark and follow it",
		Long:    runHelp,
		Example: runExample,
		Args:    noArguments,
		RunE:    func(*cobra.Command, []string) error { return t.run(f) },
	}
	flags := cmd.Flags()
	flags.StringVarP(&f.file, "filename", "f", "", "manifest with one EtcdBenchmark; - reads standard input")
	flags.BoolVar(&f.generateName, "generate-name", false, "add a random suffix to the manifest's name, since a run is never repeated")
	flags.BoolVar(&f.local, "local", false, "run on this machine, without a cluster")
	flags.IntVar(&f.options.EmbeddedMembers, "embedded-members", 0, "with --local: start this many etcd members and load them")
	flags.StringSliceVar(&f.endpoints, "endpoints", nil, "with --local: members to load, as host:port,… with an optional http:// or https:// before each, in place of the manifest's target")
	flags.StringVar(&f.options.TLSDir, "tls-dir", "", "with --local: folder with ca.crt, and tls.crt and tls.key if the members ask for them, in place of the Secret of spec.target.tls; without that field, it has the run speak TLS")
	flags.StringVar(&f.options.AuthDir, "auth-dir", "", "with --local: folder with the files username and password, in place of the Secret of spec.target.auth; without that field, it has the run authenticate")
	f.addFlags(flags)
	t.kube.AddFlags(flags)
	f.clusterFlags = t.clusterFlagNames()
	return cmd
}

func (f *runFlags) check() error {
	switch {
	case f.file == "":
		return errors.New("wanted a manifest, found none: add -f FILE")
	case f.local:
		if err := f.checkLocal(); err != nil {
			return err
		}
	case f.given("embedded-members") || f.given("endpoints") || f.given("tls-dir") || f.given("auth-dir"):
		return errors.New("--embedded-members, --endpoints, --tls-dir and --auth-dir are for runs on this machine: add --local")
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
	if err := f.destinations.open(t.Out, f.following); err != nil {
		return err
	}
	defer f.destinations.discard()
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
