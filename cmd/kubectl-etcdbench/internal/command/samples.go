package command

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/etcdbench/etcd-benchmark-operator/config/samples"
	"github.com/etcdbench/etcd-benchmark-operator/internal/text"
)

const samplesExample = `  # List the samples
  kubectl etcdbench samples

  # Try one on three members that the command starts
  kubectl etcdbench samples put | kubectl etcdbench run --local --members 3 -f -

  # Write one to a file, to change it
  kubectl etcdbench samples suite-etcd-page > suite.yaml`

func (t *tool) samplesCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "samples [NAME]",
		Short: "List the sample manifests, or print one",
		Long: `Without an argument, lists the sample manifests and what each one is for. With the name of
a sample, prints it. Most samples send their load to the Service etcd: change spec.target,
or use --endpoints or --members of "run --local". It needs no cluster.`,
		Example: samplesExample,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return fmt.Errorf("wanted the name of one sample, found %d: kubectl etcdbench samples lists them", len(args))
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error { return t.samples(args) },
	}
}

func (t *tool) samples(args []string) error {
	all, err := samples.All()
	if err != nil {
		return err
	}
	if len(args) == 0 {
		return listSamples(t.Out, all)
	}
	var names []string
	for _, s := range all {
		if s.Name == sampleName(args[0]) {
			_, err := t.Out.Write(s.Manifest)
			return err
		}
		names = append(names, s.Name)
	}
	return unknownWord("a sample", args[0], names, "kubectl etcdbench samples lists them")
}

// sampleName is the name of a sample, also if it is written as that of its file.
func sampleName(word string) string {
	word = strings.TrimSuffix(strings.ToLower(word), ".yaml")
	return strings.ReplaceAll(strings.TrimPrefix(word, "etcdbenchmark_"), "_", "-")
}

func listSamples(out io.Writer, all []samples.Sample) error {
	longest := 0
	for _, s := range all {
		longest = max(longest, len(s.Name))
	}
	for _, s := range all {
		for i, line := range text.Wrap(s.About, proseWidth-longest-2) {
			name := ""
			if i == 0 {
				name = s.Name
			}
			if _, err := fmt.Fprintf(out, "%-*s  %s\n", longest, name, line); err != nil {
				return err
			}
		}
	}
	return nil
}
