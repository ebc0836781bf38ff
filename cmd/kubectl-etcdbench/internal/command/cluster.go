package command

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/pflag"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/cmd/kubectl-etcdbench/internal/follow"
	"github.com/etcdbench/etcd-benchmark-operator/cmd/kubectl-etcdbench/internal/manifest"
)

// stopLimit bounds the call that sets spec.stop.
const stopLimit = 15 * time.Second

// reportLimit bounds the call that reads a finished run's report.
const reportLimit = 5 * time.Second

// following are the flags of commands that follow a run.
type following struct {
	outputs  []string
	interval time.Duration
	timeout  time.Duration
	// strict makes the exit status of a run in doubt 3, also without objectives.
	strict bool
	// given reports whether a flag is on the command line.
	given func(flag string) bool

	// destinations are the parsed outputs.
	destinations destinations
}

// addFlags defines the flags. updates is how often the command receives new numbers.
func (f *following) addFlags(flags *pflag.FlagSet, updates string) {
	f.given = flags.Changed
	flags.StringArrayVarP(&f.outputs, "output", "o", nil, "write the result as `FORM[=FILE]`. FORM is "+formsText()+". Without FILE, or with -, it goes to standard output. Repeat the flag for more forms. If no other form goes to standard output, the table is printed there. jsonl writes lines during the run, see --interval. perfdash is for Kubernetes's performance dashboard")
	flags.DurationVar(&f.interval, "interval", time.Second, "time between two lines of -o jsonl, for example 5s. 0 writes a line for each update of the numbers: "+updates+". A line is also written whenever the field state (STATE of the run) or phase (the stage of the client pod that is furthest behind) changes")
	flags.BoolVar(&f.strict, "strict", false, "for a run without objectives: exit with 3 if its numbers are in doubt, because the load generator was a limit or could not be judged, the target did not keep up with the rate, or the numbers may not describe the requested load, for example because the leader changed")
	flags.DurationVar(&f.timeout, "timeout", 0, "stop following a run in a cluster after this time, for example 10m; the run continues. 0 follows it to its end")
}

func (f *following) check() (err error) {
	switch {
	case f.timeout < 0:
		return fmt.Errorf("--timeout: wanted a time of 0 or more, found %s", f.timeout)
	case f.interval < 0:
		return fmt.Errorf("--interval: wanted a time of 0 or more, found %s", f.interval)
	}
	f.destinations, err = parseDestinations(f.outputs)
	if err == nil && f.given("interval") && !f.destinations.haveLines() {
		return errors.New("--interval is the time between two lines of -o jsonl, and that form was not requested: add -o jsonl, or remove --interval")
	}
	return err
}

// cluster returns the cluster and the namespace that flags and kubeconfig select. asked: a flag has the namespace.
func (t *tool) cluster() (c *follow.Cluster, namespace string, asked bool, err error) {
	namespace, asked, err = t.kube.ToRawKubeConfigLoader().Namespace()
	if err != nil {
		return nil, "", false, noCluster(err)
	}
	config, err := t.kube.ToRESTConfig()
	if err != nil {
		return nil, "", false, noCluster(err)
	}
	if c, err = follow.NewCluster(config); err != nil {
		return nil, "", false, noCluster(err)
	}
	return c, namespace, asked, nil
}

func noCluster(err error) error {
	return fmt.Errorf("found no cluster: %w. Set --kubeconfig, --context or KUBECONFIG, or use \"kubectl etcdbench run --local\", which needs no cluster", err)
}

func (t *tool) runInCluster(f *runFlags, m *manifest.Manifest) error {
	cluster, namespace, asked, err := t.cluster()
	if err != nil {
		return err
	}
	switch own := m.Object.GetNamespace(); {
	case own == "":
		m.Object.SetNamespace(namespace)
	case asked && own != namespace:
		return fmt.Errorf("%s: metadata.namespace is %q and --namespace is %q: wanted the same, remove one of them", m.File, own, namespace)
	}
	ctx, cancel := t.interrupts.untilEnd()
	defer cancel()
	if err := cluster.Create(ctx, m.Object); err != nil {
		return m.Explain(err)
	}
	return t.followAndStop(&follow.Follower{
		Cluster: cluster,
		Key:     client.ObjectKeyFromObject(m.Object),
		UID:     m.Object.GetUID(),
	}, f.following)
}

// followAndStop follows a run to its end. The first signal stops the run, and following continues. The second signal
// ends following.
func (t *tool) followAndStop(f *follow.Follower, flags following) error {
	s := t.screen()
	f.Seen, f.Notice = seenBy(s, flags.destinations), s.Notice
	s.Notice("Created the run " + f.Key.String() + ".")
	ctx, cancel := withTimeout(t.interrupts.leave, flags.timeout)
	defer cancel()
	ended := make(chan struct{})
	defer close(ended)
	go func() {
		select {
		case <-t.interrupts.end:
			stopRun(ctx, f.Cluster, f.Key, s.Notice)
		case <-ended:
		}
	}()
	run, err := f.Follow(ctx)
	s.Close()
	return t.followed(f, run, err, flags)
}

func stopRun(ctx context.Context, cluster *follow.Cluster, key client.ObjectKey, notice func(string)) {
	notice("Stopping the run. The result so far follows; Ctrl-C again exits without it.")
	ctx, cancel := context.WithTimeout(ctx, stopLimit)
	defer cancel()
	if err := cluster.Stop(ctx, key); err != nil {
		notice(fmt.Sprintf("The run could not be stopped and may continue: %v.", err))
	}
}

// followed prints the outcome of following a run.
func (t *tool) followed(f *follow.Follower, run *v1alpha1.EtcdBenchmark, err error, flags following) error {
	key := f.Key
	switch {
	case err == nil:
		ctx, cancel := withTimeout(t.interrupts.leave, reportLimit)
		defer cancel()
		return t.conclude(run, f.Cluster.Report(ctx, run), flags)
	// Compared without errors.Is: time-outs of the network are a DeadlineExceeded, too.
	case err == context.DeadlineExceeded:
		return &exitError{exitUnknown, fmt.Errorf("the run %s has not finished after %s and continues. To follow it: %s", key, flags.timeout, watchCommandFor(key))}
	case err == context.Canceled:
		return &exitError{exitUnknown, fmt.Errorf("stopped following the run %s before it finished. To follow it: %s", key, watchCommandFor(key))}
	case f.UID != "":
		// The run was created or found. Its result is not known.
		return &exitError{exitUnknown, err}
	}
	return err
}

func watchCommandFor(key client.ObjectKey) string {
	return fmt.Sprintf("kubectl etcdbench watch -n %s %s", key.Namespace, key.Name)
}

// withTimeout sets no limit if limit is 0.
func withTimeout(ctx context.Context, limit time.Duration) (context.Context, context.CancelFunc) {
	if limit == 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, limit)
}
