package command

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
)

// Streams are where a command reads and writes.
type Streams struct {
	In io.Reader
	// Out receives the result, Err the progress.
	Out, Err io.Writer
}

// tool holds the state that all commands share.
type tool struct {
	Streams
	version    string
	interrupts *interrupts
	kube       *kubeFlags
}

// Main runs the command line and returns the exit status. The first signal ends the command in an orderly way, the
// second at once.
func Main(version string, args []string, streams Streams, signals <-chan os.Signal) int {
	i, release := newInterrupts(signals)
	defer release()
	t := &tool{Streams: streams, version: version, interrupts: i, kube: &kubeFlags{}}
	root := t.root()
	root.SetArgs(args)
	status, message := statusOf(root.ExecuteContext(i.leave))
	if message != "" {
		fmt.Fprintln(streams.Err, "error:", message)
	}
	return status
}

// noArguments refuses all arguments; cobra would treat them as commands.
func noArguments(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return fmt.Errorf("wanted no arguments, found %q: %s --help shows the usage", args[0], cmd.CommandPath())
	}
	return nil
}

const rootHelp = `A benchmark is a manifest of the kind EtcdBenchmark, and an EtcdBenchmarkSuite is a table of them.`

func (t *tool) root() *cobra.Command {
	root := &cobra.Command{
		Use:           "kubectl-etcdbench",
		Short:         "Run etcd benchmarks and follow them",
		Long:          rootHelp,
		Example:       strings.Join(strings.Split(runExample, "\n\n")[:helpExamples], "\n\n"),
		Version:       t.version,
		SilenceUsage:  true,
		SilenceErrors: true,
		Annotations:   map[string]string{cobra.CommandDisplayNameAnnotation: "kubectl etcdbench"},
	}
	// --version prints the same as the command version.
	root.SetVersionTemplate("{{.Version}}\n")
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		if advice := otherTools(cmd, err); advice != "" {
			return fmt.Errorf("%w: %s", err, advice)
		}
		return fmt.Errorf("%w: %s --help lists the flags", err, cmd.CommandPath())
	})
	root.SetHelpFunc(func(cmd *cobra.Command, _ []string) {
		fmt.Fprint(cmd.OutOrStdout(), helpOfCommand(cmd))
	})
	root.SetIn(t.In)
	root.SetOut(t.Out)
	root.SetErr(t.Err)
	root.AddCommand(t.runCommand(), t.watchCommand(), t.compareCommand(), t.checkCommand(), t.diskCommand(), t.benchCommand(), t.reportCommand(), t.planCommand(), t.abCommand(), t.doctorCommand(), t.versionCommand())
	root.AddCommand(t.listCommand(), t.stopCommand(), t.logsCommand(), t.samplesCommand(), t.explainCommand(), t.cleanCommand())
	t.completions(root)
	return root
}

func (t *tool) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  noArguments,
		RunE: func(*cobra.Command, []string) error {
			_, err := fmt.Fprintln(t.Out, t.version)
			return err
		},
	}
}
