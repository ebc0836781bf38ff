package command

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/pflag"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/cmd/kubectl-etcdbench/internal/advice"
	"github.com/etcdbench/etcd-benchmark-operator/cmd/kubectl-etcdbench/internal/follow"
	"github.com/etcdbench/etcd-benchmark-operator/cmd/kubectl-etcdbench/internal/manifest"
	"github.com/etcdbench/etcd-benchmark-operator/internal/text"
)

// following are the flags of commands that follow a run.
type following struct {
	outputs  []string
	interval time.Duration
	timeout  time.Duration
	// strict makes the exit status of a run in doubt 3, also without objectives.
	strict bool
	// answer is what a command says about a finished run; nil for none. Without details, standard output gets it in place
	// of the table.
	answer  func(*v1alpha1.EtcdBenchmark) string
	details bool
	// numbers: the table follows the answer.
	numbers bool
	// advice is how the user of the command sets the fields that texts name.
	advice advice.Command
	// forms are those that the command has; empty if it has all.
	forms []form
	// given reports whether a flag is on the command line.
	given func(flag string) bool

	// destinations are the parsed outputs.
	destinations destinations
}

// addFlags defines the flags. updates is how often the numbers change.
func (f *following) addFlags(flags *pflag.FlagSet, updates string) {
	f.addOutputFlags(flags, updates)
	flags.BoolVar(&f.strict, "strict", false, "for a run without objectives: exit with 3 if its numbers are in "+
		"doubt, because the load generator was a limit or could not be judged, the target did not keep up with the "+
		"rate, or the numbers may not describe the requested load, for example because the leader changed. For a "+
		"suite that is not a search: exit with 3 instead of 0 if the numbers of a run cannot be compared")
	flags.DurationVar(&f.timeout, "timeout", 0, "stop following a run or a suite in a cluster after this time, for example 10m; it continues. 0 follows it to its end")
}

// addOutputFlags defines the flags for what the command writes.
func (f *following) addOutputFlags(flags *pflag.FlagSet, updates string) {
	f.given = flags.Changed
	flags.StringArrayVarP(&f.outputs, "output", "o", nil, "write the result as `FORM[=FILE]`. FORM is "+namesText(f.offered())+
		". Without FILE, or with -, it goes to standard output. Repeat the flag for more forms. If no other form "+
		"goes to standard output, the table is printed there. jsonl writes lines during the run, see --interval. "+
		"perfdash is for Kubernetes's performance dashboard")
	flags.BoolVar(&f.details, "details", false, "print everything that was measured, for example about each member")
	flags.DurationVar(&f.interval, "interval", time.Second, "time between two lines of -o jsonl, for example 5s. "+
		"The numbers change "+updates+"; with a shorter time, there is a line for each change. "+
		"A line is also written whenever the field state (STATE of the run) or stage (that of the client pod that is furthest behind) changes")
}

func (f *following) offered() []form {
	if len(f.forms) > 0 {
		return f.forms
	}
	return forms
}

func (f *following) check() (err error) {
	switch {
	case f.timeout < 0:
		return fmt.Errorf("--timeout: wanted a time of 0 or more, found %s", f.timeout)
	case f.interval <= 0:
		return fmt.Errorf("--interval: wanted a time above 0, found %s: 1ms writes a line for each update of the numbers", f.interval)
	}
	f.destinations, err = parseDestinations(f.outputs, f.offered())
	if err == nil && f.given("interval") && !f.destinations.haveLines() {
		return errors.New("--interval is the time between two lines of -o jsonl, and that form was not requested: add -o jsonl, or remove --interval")
	}
	return err
}

// checkSuite refuses what a suite has no use for.
func (f *following) checkSuite() error {
	switch {
	case f.given("interval"):
		return errors.New("--interval is for a single run: remove it")
	}
	for _, d := range f.destinations {
		if !d.form.hasSuites() {
			return fmt.Errorf("--output: a suite has no form %s: use %s", d.form.name, suiteFormsText())
		}
	}
	return nil
}

func suiteFormsText() string {
	return namesText(slices.DeleteFunc(slices.Clone(forms), func(f form) bool { return !f.hasSuites() }))
}

// cluster returns the cluster and the namespace that flags and kubeconfig select. asked: a flag has the namespace.
func (t *tool) cluster() (c *follow.Cluster, namespace string, asked bool, err error) {
	namespace, asked, err = t.kube.loader().Namespace()
	if err != nil {
		return nil, "", false, noCluster(err)
	}
	config, err := t.kube.loader().ClientConfig()
	if err != nil {
		return nil, "", false, noCluster(err)
	}
	if c, err = follow.NewCluster(config, t.selected()); err != nil {
		return nil, "", false, noCluster(err)
	}
	return c, namespace, asked, nil
}

// selected are the flags on the command line that select the cluster, each after a space. A printed command needs them,
// too.
func (t *tool) selected() (flags string) {
	for _, f := range []struct {
		name, value string
	}{{"kubeconfig", t.kube.kubeconfig}, {"context", t.kube.context}, {"as", t.kube.as}} {
		if f.value != "" {
			flags += " --" + f.name + " " + text.Word(f.value)
		}
	}
	for _, group := range t.kube.asGroups {
		flags += " --as-group " + text.Word(group)
	}
	return flags
}

// where is selected with the namespace, if that is on the command line.
func (t *tool) where() string {
	if namespace := t.kube.namespace; namespace != "" {
		return " -n " + text.Word(namespace) + t.selected()
	}
	return t.selected()
}

func noCluster(err error) error {
	return fmt.Errorf("found no cluster: %w. Set --kubeconfig, --context or KUBECONFIG", err)
}

// inCluster returns the cluster in which a manifest is created. It sets the namespace of the manifest.
func (t *tool) inCluster(m *manifest.Manifest) (*follow.Cluster, error) {
	cluster, namespace, asked, err := t.cluster()
	if err != nil {
		return nil, follow.OrLocally(err)
	}
	switch own := m.Object.GetNamespace(); {
	case own == "":
		m.Object.SetNamespace(namespace)
	case asked && own != namespace:
		return nil, fmt.Errorf("%s: metadata.namespace is %q and --namespace is %q: wanted the same, remove one of them", m.File, own, namespace)
	}
	return cluster, nil
}

func (t *tool) runInCluster(f *runFlags, m *manifest.Manifest) error {
	if err := f.destinations.check(nil); err != nil {
		return err
	}
	if err := f.checkEndpoints(m); err != nil {
		return err
	}
	cluster, err := t.inCluster(m)
	if err != nil {
		return err
	}
	return t.followRun(cluster, client.ObjectKey{}, f.following).create(m)
}

func (t *tool) runSuiteInCluster(f *runFlags, m *manifest.Manifest) error {
	cluster, err := t.inCluster(m)
	if err != nil {
		return err
	}
	if err := t.checkBeforeCreation(f, m); err != nil {
		return err
	}
	return t.followSuite(cluster, client.ObjectKey{}, false, f.following).create(m)
}
