package command

import (
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/cmd/kubectl-etcdbench/internal/admission"
	"github.com/etcdbench/etcd-benchmark-operator/internal/benchmark"
	"github.com/etcdbench/etcd-benchmark-operator/internal/suite"
	"github.com/etcdbench/etcd-benchmark-operator/internal/text"
)

const planExample = `  # List the runs of a suite, and what they cost, without running them
  kubectl etcdbench plan -f suite.yaml`

func (t *tool) planCommand() *cobra.Command {
	file := ""
	cmd := &cobra.Command{
		Use:   "plan -f FILE",
		Short: "List the cells of a suite and what it will cost",
		Long: `Checks an EtcdBenchmarkSuite and lists its cells, without running anything. A cell is a run
that is repeated in each round. The list ends with what the suite costs: the time of all
warm-ups and measured windows, the time before them at 2,000 keys per second, the pods and
volumes in a cluster, and what the runs write. Deleting keys comes on top, and so do
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
		return t.planSearch(l)
	}
	return t.planTable(l)
}

// planSearch prints the cells of a search. How many probes it needs follows from their results.
func (t *tool) planSearch(l *localSuite) error {
	var c cost
	for _, p := range suite.Examples(l.suite) {
		run, err := l.admit(p)
		if err != nil {
			return fmt.Errorf("the cell %s: %w", p.Cell.Name, err)
		}
		c.add(run, 1)
	}
	cells, f := suite.Cells(l.suite), l.suite.Spec.Search
	for i, c := range cells {
		fmt.Fprintf(t.Out, "%3d  %s: search from %s to %s\n", i+1, c.Name, text.PerSecond(f.MinPerSecond), text.PerSecond(f.MaxPerSecond))
	}
	probe, _ := suite.LengthOf(f.Load)
	const usual = 20
	fmt.Fprintf(t.Out, "%s with about %d probes each, at most %d. A probe takes %s, or more if its rate is low, and the time to prepare it: the suite takes %s or more\n",
		text.Plural(len(cells), "cell"), usual, f.MaxProbes, probe, probe*usual*time.Duration(len(cells)))
	_, err := fmt.Fprintln(t.Out, c.atATime())
	return err
}

func (t *tool) planTable(l *localSuite) error {
	s := l.suite
	var c cost
	total, before, bounded, rounds := time.Duration(0), time.Duration(0), true, max(s.Spec.Rounds, 1)
	for i, cell := range suite.Cells(s) {
		run, err := l.admit(suite.Planned{Cell: cell, Name: s.Name})
		if err != nil {
			return fmt.Errorf("the cell %s: %w", cell.Name, err)
		}
		c.add(run, int64(rounds))
		length, known := suite.LengthOf(run.Resolved().Load)
		shown := text.Plural(int64(length.Seconds()), "second")
		if !known {
			shown, bounded = "as long as the target takes", false
		}
		fmt.Fprintf(t.Out, "%3d  %s: %s\n", i+1, cell.Name, shown)
		total, before = total+length, before+suite.Preparation(run)
	}
	about := "about " + (total * time.Duration(rounds)).String()
	switch {
	case !bounded && total == 0:
		about = "each as long as the target takes"
	case !bounded:
		about = "at least " + (total * time.Duration(rounds)).String()
	}
	cells := len(suite.Cells(s))
	fmt.Fprintf(t.Out, "%s × %s = %s, %s, and about %s to prepare them\n", text.Plural(cells, "cell"), text.Plural(rounds, "round"), text.Plural(cells*int(rounds), "run"), about,
		(before * time.Duration(rounds)).Round(time.Second))
	_, err := fmt.Fprintln(t.Out, c.atATime()+"\n"+c.inAll())
	return err
}

// cost is what the runs of a suite need in a cluster. A suite does one run at a time.
type cost struct {
	pods, members, volumes, storage amount
	// written is what the runs add to the database of each member; isLeast: some runs add more.
	written int64
	isLeast bool
}

// amount is the most of one run, and the sum of all runs.
type amount struct{ most, sum int64 }

func (a *amount) add(n, times int64) { a.most, a.sum = max(a.most, n), a.sum+n*times }

func (c *cost) add(run *v1alpha1.EtcdBenchmark, times int64) {
	c.pods.add(int64(max(run.Resolved().Load.Pods, 1)), times)
	if e := run.Spec.Target.Ephemeral; e != nil {
		members := int64(e.Replicas)
		c.members.add(members, times)
		if e.Storage != nil && e.Storage.VolumeClaim != nil {
			c.volumes.add(members, times)
			c.storage.add(members*e.Storage.VolumeClaim.Size.Value(), times)
		}
	}
	load := benchmark.Run(run)
	written, known := load.WriteEstimate()
	c.written += written * times
	c.isLeast = c.isLeast || !known || load.WritesMore()
}

func (c *cost) atATime() string {
	line := "At a time: " + podsAndVolumes(c.pods.most, c.members.most, c.volumes.most)
	if c.volumes.most > 0 {
		line += " with " + resource.NewQuantity(c.storage.most, resource.BinarySI).String() + " together"
	}
	return line
}

func (c *cost) inAll() string {
	about := "about " + text.Megabytes(c.written)
	switch {
	case c.isLeast && c.written < 1e6:
		about = "as much as the target takes"
	case c.isLeast:
		about = "at least " + text.Megabytes(c.written)
	case c.written < 1e6:
		about = "less than 1 MB"
	}
	return "In all: " + podsAndVolumes(c.pods.sum, c.members.sum, c.volumes.sum) + "; " + about + " written to each member"
}

func podsAndVolumes(pods, members, volumes int64) string {
	line := text.Plural(pods, "client pod")
	if members > 0 {
		line += ", " + text.Plural(members, "member")
	}
	if volumes > 0 {
		line += ", " + text.Plural(volumes, "volume")
	}
	return line
}
