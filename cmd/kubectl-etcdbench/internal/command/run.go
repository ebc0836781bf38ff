package command

import (
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/cmd/kubectl-etcdbench/internal/access"
	"github.com/etcdbench/etcd-benchmark-operator/cmd/kubectl-etcdbench/internal/admission"
	"github.com/etcdbench/etcd-benchmark-operator/cmd/kubectl-etcdbench/internal/local"
	"github.com/etcdbench/etcd-benchmark-operator/cmd/kubectl-etcdbench/internal/manifest"
)

const (
	runExample = `  # Run in the cluster of the current context and follow it
  kubectl etcdbench run -f benchmark.yaml

  # Run on this machine, against three etcd members that the command starts
  kubectl etcdbench run --local --members 3 -f benchmark.yaml

  # Run a manifest once for each number of clients, in the cluster
  kubectl etcdbench run -f benchmark.yaml --sweep load.clients=1,10,100

  # Run all benchmarks of a suite in the cluster, and print their table
  kubectl etcdbench run -f suite.yaml

  # Find the highest rate that meets the objectives of a manifest, in the cluster
  kubectl etcdbench run -f benchmark.yaml --find-rate

  # Check a manifest, and print what would be created
  kubectl etcdbench run -f benchmark.yaml --dry-run

  # Run the same manifest again, under a new name
  kubectl etcdbench run -f benchmark.yaml --generate-name

  # Run on this machine against an etcd that serves TLS; certs/ has ca.crt, and tls.crt and tls.key if needed
  kubectl etcdbench run --local -f benchmark.yaml --endpoints etcd.example:2379 --tls-dir certs/ -o json > result.json

  # Print lines of numbers during the run, and write the result to a file
  kubectl etcdbench run -f benchmark.yaml -o jsonl -o json=result.json`

	runHelp = `Creates the EtcdBenchmark of a manifest in a cluster and follows it until it has
finished. With --local, runs the same manifest on this machine, without a cluster.
Progress goes to standard error, the result to standard output.

The manifest may be an EtcdBenchmarkSuite: a table of runs. --sweep makes a suite of the
manifest of one run. In a cluster, the operator starts the runs one after the other. The command
shows a line for each run that has ended.

--find-rate looks for the highest rate that meets the manifest's objectives.

Ctrl-C or SIGTERM stops the run. Its keys are deleted, and every requested form of the
result is written with what was measured until then. The result is marked as partial,
unless the measurement was complete. For a suite, the current run is stopped, no other
run starts, and the table has what was measured. A second Ctrl-C exits at once; in a
cluster, the operator still ends the run or the suite.

With --local, the flags --endpoints, ` + accessHelp + `
ETCDCTL_ENDPOINTS is used only for an EtcdBenchmark without addresses, never for a suite.

` + exitHelp + "\n\n" + suiteExitHelp
)

// runFlags are the flags of run.
type runFlags struct {
	following
	files        []string
	generateName bool
	local        bool
	// baseline is the file with the suite of spec.compare.baseline.suite.
	baseline string
	options  local.Options
	// binaries are the values of --member-binary, and programs the same by target; that of "" is for all others.
	binaries []string
	programs map[v1alpha1.EntryName]string
	// mayBeEqual: two targets of a suite may have the same program.
	mayBeEqual bool
	// access replaces the manifest's target.
	access access.Flags
	find   findFlags
	sweep  sweepFlags
	// sets are the fields of --set.
	sets []string
	// dryRun is how a manifest is only checked; empty to run it.
	dryRun string
	// clusterFlags are the names of the flags that select the cluster.
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
		RunE: func(*cobra.Command, []string) error {
			err := t.run(f)
			return f.adviceOf().Error(err)
		},
	}
	flags := cmd.Flags()
	flags.StringArrayVarP(&f.files, "filename", "f", nil, "`FILE` with one EtcdBenchmark or one EtcdBenchmarkSuite, as YAML or JSON; - reads standard input")
	flags.BoolVar(&f.local, "local", false, "run on this machine, without a cluster; each client pod is then a part of this process")
	f.addMembers(flags, "with --local: ")
	f.addFlags(flags, "every 2s in a cluster, every 0.5s with --local")
	flags.StringArrayVar(&f.sweep.sweeps, "sweep", nil, "run the manifest once for each value of a field, as a "+
		"suite: `FIELD=VALUE,...`, for example load.clients=1,10,100. Repeat it for more fields: all combinations "+
		"run")
	flags.BoolVar(&f.find.findRate, "find-rate", false, "find the highest rate of requests that meets the manifest's objectives. It runs the manifest about 20 times with other rates")
	f.addDryRun(flags)
	flags.BoolVar(&f.generateName, "generate-name", false, "add a random suffix to the manifest's name: each run needs a new name")
	flags.StringSliceVar(&f.access.Endpoints, "endpoints", nil, "with --local: send the load to the members at `HOST:PORT,...`, not to spec.target; http:// or https:// before an address is allowed")
	flags.StringVar(&f.access.TLSDir, "tls-dir", "", "with --local: use TLS, with the files of `FOLDER`: ca.crt, "+
		"and tls.crt and tls.key if etcd asks for a client certificate. They replace the Secret of "+
		"spec.target.tls. Required if the manifest sets spec.target.tls, except with --members: these have no "+
		"TLS")
	flags.StringVar(&f.access.AuthDir, "auth-dir", "", "with --local: log in with the files username and password "+
		"of `FOLDER`, or with its file token for a store that takes tokens. They replace the Secret of "+
		"spec.target.auth. Required if the manifest sets spec.target.auth, except with --members: "+
		"these have no users")
	flags.StringVar(&f.baseline, "baseline", "", "with --local: `FILE` has the suite that spec.compare.baseline.suite names, as \"run -o json\" wrote it")
	f.access.Define(flags, "with --local: ")
	f.access.DefineToken(flags, "with --local: ")
	flags.Int64Var(&f.find.minRate, "min-rate", 10, "with --find-rate: try `N` requests per second or more")
	flags.Int64Var(&f.find.maxRate, "max-rate", 1_000_000, "with --find-rate: try `N` requests per second or fewer")
	flags.Int32Var(&f.find.probeSeconds, "probe-seconds", 30, "with --find-rate: run each rate for `SECONDS`, or longer if the objectives need more requests")
	flags.Int32Var(&f.find.pauseSeconds, "pause-seconds", 5, "with --find-rate: let the target rest for `SECONDS` after each rate")
	flags.Int32Var(&f.sweep.rounds, "rounds", 1, "with --sweep: how often each combination runs")
	flags.BoolVar(&f.sweep.print, "print-manifest", false, "with --sweep or --find-rate: print the EtcdBenchmarkSuite instead of running it")
	t.kube.addTo(flags)
	f.clusterFlags = t.kube.names()
	return cmd
}

// targetFlags replace the target of the manifest. They need --local.
var targetFlags = slices.Concat(memberFlags, []string{"endpoints"}, access.Names())

func (f *runFlags) check() error {
	switch {
	case len(f.files) == 0 || len(f.files) == 1 && f.files[0] == "":
		return errors.New("wanted a manifest, found none: add -f FILE")
	case len(f.files) > 1:
		return fmt.Errorf("found -f %d times, wanted it once: a run is one file. Run the files one after the other", len(f.files))
	case f.local:
		if err := f.checkLocal(); err != nil {
			return err
		}
	case f.access.FirstGiven(targetFlags...) != "":
		return fmt.Errorf("--%s needs --local: add it, or set the target in the manifest (spec.target)", f.access.FirstGiven(targetFlags...))
	case f.given("baseline"):
		return errors.New("--baseline needs --local: in a cluster, the operator reads the suite that spec.compare.baseline.suite names")
	}
	if err := f.following.check(); err != nil {
		return err
	}
	return errors.Join(f.checkFind(), f.checkSweep(), f.checkDryRun())
}

func (t *tool) run(f *runFlags) error {
	if err := f.check(); err != nil {
		return err
	}
	if err := t.completeAccess(f); err != nil {
		return err
	}
	m, err := t.readManifest(f.files[0])
	if err != nil {
		return err
	}
	if err := t.locate(f, !hasAddresses(m)); err != nil {
		return err
	}
	if f.makesSuite() {
		if m, err = f.swept(m); err != nil {
			return err
		}
	}
	if f.generateName {
		m.GenerateName()
	}
	if f.sweep.print {
		return printAdmitted(t, admission.Suites, m)
	}
	if f.dryRun != "" {
		return t.dryRun(f, m)
	}
	return t.begin(f, m)
}

// begin runs a manifest, once the destinations of its result are open.
func (t *tool) begin(f *runFlags, m *manifest.Manifest) error {
	if m.IsSuite() {
		if err := f.following.checkSuite(); err != nil {
			return err
		}
	}
	if err := f.destinations.open(t.Out, f.following); err != nil {
		return err
	}
	defer f.destinations.discard()
	f.advice = f.adviceOf()
	return t.start(f, m)
}

// start runs a manifest where the flags say.
func (t *tool) start(f *runFlags, m *manifest.Manifest) error {
	switch {
	case m.IsSuite() && f.local:
		return t.runSuiteLocally(f, m)
	case m.IsSuite():
		return t.runSuiteInCluster(f, m)
	case f.local:
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
