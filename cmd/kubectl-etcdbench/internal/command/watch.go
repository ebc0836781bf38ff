package command

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/cmd/kubectl-etcdbench/internal/follow"
)

const watchExample = `  # Follow a run that exists already
  kubectl etcdbench watch write-all-members -n etcd

  # Follow a suite that exists already
  kubectl etcdbench watch suite/etcd-page -n etcd`

func (t *tool) watchCommand() *cobra.Command {
	f := &following{}
	cmd := &cobra.Command{
		Use:   "watch NAME | run/NAME | suite/NAME",
		Short: "Follow a run or a suite until it has finished",
		Long: `Follows a run or a suite in a cluster until it has finished, and prints its result. If
it has finished already, its result is printed at once. Ctrl-C ends the command; the run
or the suite continues.

A NAME alone is that of a run. If no run has this name, it is that of a suite. The names
of kubectl are accepted, too: eb/NAME and etcdbenchmark/NAME for a run, ebs/NAME and
etcdbenchmarksuite/NAME for a suite.

` + exitHelp + "\n\n" + suiteExitHelp,
		Example: watchExample,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return fmt.Errorf("wanted the name of one run or suite, found %d: kubectl etcdbench watch NAME, or kubectl etcdbench watch suite/NAME", len(args))
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error { return t.watch(args[0], *f) },
	}
	f.addFlags(cmd.Flags(), "every 2s")
	t.kube.addTo(cmd.Flags())
	return cmd
}

// watchedKind is the kind that the argument of watch names.
type watchedKind int

const (
	// anyKind: the argument is a name alone.
	anyKind watchedKind = iota
	aRun
	aSuite
)

// The names of the kinds before the slash. kubectl get -o name adds the group.
var (
	runWords   = []string{"run", "eb", "etcdbenchmark", "etcdbenchmarks"}
	suiteWords = []string{"suite", "ebs", "etcdbenchmarksuite", "etcdbenchmarksuites"}
)

// parseWatched reads NAME or KIND/NAME.
func parseWatched(argument string) (kind watchedKind, name string, err error) {
	before, name, found := strings.Cut(argument, "/")
	word := strings.TrimSuffix(strings.ToLower(before), "."+v1alpha1.GroupVersion.Group)
	switch {
	case !found:
		kind, name = anyKind, argument
	case slices.Contains(runWords, word):
		kind = aRun
	case slices.Contains(suiteWords, word):
		kind = aSuite
	default:
		return 0, "", fmt.Errorf("wanted NAME, run/NAME or suite/NAME, found %q: watch follows no %q. kubectl describe shows other objects", argument, before)
	}
	if name == "" || strings.Contains(name, "/") {
		return 0, "", fmt.Errorf("wanted NAME, run/NAME or suite/NAME, found %q: give one name", argument)
	}
	return kind, name, nil
}

func (t *tool) watch(argument string, flags following) error {
	if err := flags.check(); err != nil {
		return err
	}
	kind, name, err := parseWatched(argument)
	if err != nil {
		return err
	}
	return t.find(kind, name, flags.timeout, func(ctx context.Context, cluster *follow.Cluster, kind watchedKind, key client.ObjectKey) error {
		if kind == aRun {
			if err := flags.destinations.check(nil); err != nil {
				return err
			}
			return t.followRun(cluster, key, flags).toItsEnd(ctx)
		}
		if err := flags.checkSuite(); err != nil {
			return err
		}
		// Following has the error of a suite that cannot be read.
		if s, err := follow.Suites.Get(ctx, cluster, key); err == nil {
			if err := flags.destinations.check(s); err != nil {
				return err
			}
		}
		return t.followSuite(cluster, key, true, flags).toItsEnd(ctx)
	})
}

// find connects to the cluster, finds out what a name without a kind means, and calls do. The context of do ends with the
// command, and after the timeout if there is one.
func (t *tool) find(kind watchedKind, name string, timeout time.Duration, do func(context.Context, *follow.Cluster, watchedKind, client.ObjectKey) error) error {
	cluster, namespace, _, err := t.cluster()
	if err != nil {
		return err
	}
	key := client.ObjectKey{Namespace: namespace, Name: name}
	ctx, cancel := t.interrupts.untilEnd()
	defer cancel()
	ctx, cancelTimeout := withTimeout(ctx, timeout)
	defer cancelTimeout()
	if kind == anyKind {
		if kind, err = kindOf(ctx, cluster, key); err != nil {
			return err
		}
	}
	return do(ctx, cluster, kind, key)
}

// kindOf returns the kind of the object of a name. Unless it is certain that no run has the name, it is a run: following
// it then has the error.
func kindOf(ctx context.Context, cluster *follow.Cluster, key client.ObjectKey) (watchedKind, error) {
	if _, err := follow.Runs.Get(ctx, cluster, key); !apierrors.IsNotFound(err) {
		return aRun, nil
	}
	switch _, err := follow.Suites.Get(ctx, cluster, key); {
	case err == nil:
		return aSuite, nil
	case apierrors.IsNotFound(err):
		return 0, fmt.Errorf("found no run and no suite %s: kubectl get etcdbenchmarks,etcdbenchmarksuites %s lists those that exist", key, cluster.At(key.Namespace))
	}
	return aRun, nil
}

// toItsEnd follows what exists to its end.
func (f *followed[T]) toItsEnd(ctx context.Context) error {
	if err := f.flags.destinations.open(f.Out, f.flags); err != nil {
		return err
	}
	defer f.flags.destinations.discard()
	return f.follow(ctx, f.screen())
}
