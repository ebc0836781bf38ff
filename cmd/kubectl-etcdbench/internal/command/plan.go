package command

import (
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/cmd/kubectl-etcdbench/internal/admission"
	"github.com/etcdbench/etcd-benchmark-operator/internal/suite"
	"github.com/etcdbench/etcd-benchmark-operator/internal/text"
)

const planExample = `  # List the runs of a suite without running them
  kubectl etcdbench plan -f suite.yaml`

func (t *tool) planCommand() *cobra.Command {
	file := ""
	cmd := &cobra.Command{
		Use:   "plan -f FILE",
		Short: "List the cells of a suite and how long it will take",
		Long: `Checks an EtcdBenchmarkSuite and lists its cells, without running anything. A cell is a run
that is repeated in each round. The list ends with the time that all runs need: that of
their warm-ups and measured windows. Preparing and deleting keys comes on top, and so do
repetitions of invalid runs.`,
		Example: planExample,
		Args:    noArguments,
		RunE:    func(*cobra.Command, []string) error { return t.plan(file) },
	}
	cmd.Flags().StringVarP(&file, "filename", "f", "", "`FILE` with one EtcdBenchmarkSuite, as YAML or JSON; - reads standard input")
	return cmd
}

func (t *tool) plan(file string) error {
	if file == "" {
		return errors.New("wanted a suite, found none: add -f FILE")
	}
	m, err := t.readManifest(file)
	if err != nil {
		return err
	}
	if !m.IsSuite() {
		return m.Refuse("kind", "wanted EtcdBenchmarkSuite, found EtcdBenchmark: plan lists the runs of a suite")
	}
	s, err := admitted(admission.Suites, m)
	if err != nil {
		return err
	}
	l, err := t.checked(&runFlags{}, m, s)
	if err != nil {
		return err
	}
	if s.Spec.Search != nil {
		return t.planSearch(s)
	}
	return t.planTable(l)
}

// planSearch prints the cells of a search. How many probes it needs follows from their results.
func (t *tool) planSearch(s *v1alpha1.EtcdBenchmarkSuite) error {
	cells, f := suite.Cells(s), s.Spec.Search
	for i, c := range cells {
		fmt.Fprintf(t.Out, "%3d  %s: search from %s to %s\n", i+1, c.Name, text.PerSecond(f.MinPerSecond), text.PerSecond(f.MaxPerSecond))
	}
	probe, _ := suite.LengthOf(f.Load)
	const usual = 20
	_, err := fmt.Fprintf(t.Out, "%s with about %d probes each, at most %d. A probe takes %s, or more if its rate is low, and the time to prepare it: the suite takes %s or more\n",
		text.Plural(len(cells), "cell"), usual, f.MaxProbes, probe, probe*usual*time.Duration(len(cells)))
	return err
}

func (t *tool) planTable(l *localSuite) error {
	s := l.suite
	total, bounded := time.Duration(0), true
	for i, c := range suite.Cells(s) {
		run, err := l.admit(suite.Planned{Cell: c, Name: s.Name})
		if err != nil {
			return fmt.Errorf("the cell %s: %w", c.Name, err)
		}
		length, known := suite.LengthOf(run.Resolved().Load)
		shown := text.Plural(int64(length.Seconds()), "second")
		if !known {
			shown, bounded = "as long as the target takes", false
		}
		fmt.Fprintf(t.Out, "%3d  %s: %s\n", i+1, c.Name, shown)
		total += length
	}
	rounds := max(s.Spec.Rounds, 1)
	about := "about " + (total * time.Duration(rounds)).String()
	switch {
	case !bounded && total == 0:
		about = "each as long as the target takes"
	case !bounded:
		about = "at least " + (total * time.Duration(rounds)).String()
	}
	cells := len(suite.Cells(s))
	_, err := fmt.Fprintf(t.Out, "%s × %s = %s, %s and the time to prepare each\n", text.Plural(cells, "cell"), text.Plural(rounds, "round"), text.Plural(cells*int(rounds), "run"), about)
	return err
}
