package command

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	"github.com/etcdbench/etcd-benchmark-operator/cmd/kubectl-etcdbench/internal/access"
	"github.com/etcdbench/etcd-benchmark-operator/cmd/kubectl-etcdbench/internal/admission"
	"github.com/etcdbench/etcd-benchmark-operator/cmd/kubectl-etcdbench/internal/etcdtool"
	"github.com/etcdbench/etcd-benchmark-operator/cmd/kubectl-etcdbench/internal/local"
	"github.com/etcdbench/etcd-benchmark-operator/cmd/kubectl-etcdbench/internal/manifest"
)

const (
	benchExample = `  # As etcd's tool: benchmark --endpoints=... put --total=10000 --val-size=256
  kubectl etcdbench bench put --local --endpoints 10.0.0.1:2379 --total 10000 --val-size 256

  # The same from a client pod in the cluster of the current context
  kubectl etcdbench bench put --endpoints etcd.etcd.svc:2379 --total 10000 --val-size 256

  # Print the manifest that does the same, to add objectives to it
  kubectl etcdbench bench stm --endpoints etcd.etcd.svc:2379 --isolation s --keys 100 \
    --print-manifest`

	benchHelp = `Takes the commands and the flags of etcd's benchmark tool (tools/benchmark), and runs an
EtcdBenchmark that does the same: in a cluster, or on this machine with --local.
--print-manifest prints the EtcdBenchmark instead.

A flag without an equivalent is refused, with what to do instead. docs/etcd-tool.md says
how the results differ from those of the tool.`
)

func (t *tool) benchCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "bench COMMAND",
		Short:   "Run a benchmark with the commands and flags of etcd's benchmark tool",
		Long:    benchHelp,
		Example: benchExample,
		// mvcc has flags of its own, and is refused whatever they are.
		FParseErrWhitelist: cobra.FParseErrWhitelist{UnknownFlags: true},
		Args:               cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return errors.New("wanted a command of etcd's benchmark tool, found none: kubectl etcdbench bench --help lists them")
			}
			if advice, known := etcdtool.NoCommand(args[0]); known {
				return errors.New(advice)
			}
			return fmt.Errorf("wanted a command of etcd's benchmark tool, found %q: kubectl etcdbench bench --help lists them", args[0])
		},
	}
	for _, c := range etcdtool.Commands() {
		cmd.AddCommand(t.benchOf(c))
	}
	return cmd
}

// benchFlags are the flags of a command of bench.
type benchFlags struct {
	runFlags
	tool *etcdtool.Flags
	// memberIndex has an effect if the flag is given.
	memberIndex int32
}

func (t *tool) benchOf(c etcdtool.Command) *cobra.Command {
	_, cmd := t.newBench(c)
	return cmd
}

// newBench returns the command with its flags.
func (t *tool) newBench(c etcdtool.Command) (*benchFlags, *cobra.Command) {
	f := &benchFlags{}
	cmd := &cobra.Command{
		Use:   c.Name + c.Arguments,
		Short: c.Short,
		Long: "Like the command of this name of etcd's benchmark tool" + `. The help of a flag ends with the field
of the manifest that it sets.

With --local, the flags ` + accessHelp + "\n\n" + exitHelp,
		Args: cobra.ArbitraryArgs,
	}
	flags := cmd.Flags()
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		err := t.bench(f, flags, args)
		return f.adviceOf(flags).Error(err)
	}
	f.tool = c.Define(flags)
	flags.BoolVar(&f.local, "local", false, "run on this machine, without a cluster")
	flags.StringSliceVar(&f.access.Endpoints, "endpoints", nil, "members to load, as `HOST:PORT,...`: spec.target.endpoints")
	f.addMembers(flags, "with --local: ")
	flags.Int32Var(&f.memberIndex, "member-index", 0, "load member `N` alone, from 0 in the order of the addresses: spec.target.memberIndex")
	f.access.Define(flags, "with --local: ")
	f.addSet(flags)
	flags.BoolVar(&f.sweep.print, "print-manifest", false, "print the EtcdBenchmark instead of running it")
	f.addFlags(flags, "every 2s in a cluster, every 0.5s with --local")
	t.kube.addTo(flags)
	f.clusterFlags = t.kube.names()
	return f, cmd
}

func (f *benchFlags) check() error {
	given := f.access.FirstGiven(access.Names()...)
	switch {
	case f.tool.Perfdash && f.given("output"):
		return errors.New("--report-perfdash is the same as -o perfdash, and --output is given, too: remove one of them")
	case f.tool.Perfdash:
		f.outputs = []string{"perfdash"}
	}
	switch {
	case !f.local && f.firstGiven(memberFlags) != "":
		return fmt.Errorf("--%s needs --local: add it", f.firstGiven(memberFlags))
	case !f.local && given != "":
		return fmt.Errorf("--%s needs --local: in a cluster, certificates and users are in Secrets: set spec.target.tls.secretName and spec.target.auth.secretName", given)
	case len(f.access.Endpoints) == 0 && f.options.Members == 0:
		return errors.New("wanted the members to load, found none: add --endpoints host:port,…; with --local, --members 3 tries the command without an etcd")
	case f.local:
		if err := f.checkLocal(); err != nil {
			return err
		}
	}
	return f.following.check()
}

func (t *tool) bench(f *benchFlags, flags *pflag.FlagSet, arguments []string) error {
	if err := t.reach(&f.runFlags); err != nil {
		return err
	}
	if err := f.check(); err != nil {
		return err
	}
	m, err := f.manifest(arguments)
	if err != nil {
		return err
	}
	f.advice = f.adviceOf(flags)
	if err := f.setFields(m, f.advice); err != nil {
		return err
	}
	for _, note := range f.tool.Notes() {
		fmt.Fprintln(t.Err, "Note: "+note+".")
	}
	if f.sweep.print {
		return t.printBench(f, m)
	}
	if err := f.destinations.open(t.Out, f.following); err != nil {
		return err
	}
	defer f.destinations.discard()
	return t.start(&f.runFlags, m)
}

// manifest returns the manifest of a command. Members that the command starts replace its addresses.
func (f *benchFlags) manifest(arguments []string) (*manifest.Manifest, error) {
	b, err := f.tool.Benchmark(arguments)
	if err != nil {
		return nil, err
	}
	b.Spec.Target.Endpoints = f.access.Endpoints
	for i := range min(f.options.Members, local.MaxMembers) {
		b.Spec.Target.Endpoints = append(b.Spec.Target.Endpoints, fmt.Sprintf("127.0.0.1:%d", 2379+i))
	}
	if f.given("member-index") {
		b.Spec.Target.MemberIndex = &f.memberIndex
	}
	object, err := runtime.DefaultUnstructuredConverter.ToUnstructured(b)
	if err != nil {
		return nil, fmt.Errorf("writing the manifest: %w", err)
	}
	delete(object, "status")
	data, err := yaml.Marshal(object)
	if err != nil {
		return nil, fmt.Errorf("writing the manifest: %w", err)
	}
	return manifest.Read("the manifest of bench (--print-manifest shows it)", bytes.NewReader(data))
}

// printBench prints the manifest instead of running it. One that could not run is refused.
func (t *tool) printBench(f *benchFlags, m *manifest.Manifest) error {
	if err := f.setTarget(m); err != nil {
		return err
	}
	return printAdmitted(t, admission.Runs, m)
}
