package command

import (
	"fmt"

	"github.com/spf13/cobra"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/etcdbench/etcd-benchmark-operator/cmd/kubectl-etcdbench/internal/follow"
)

const watchExample = `  # Follow a run that exists already
  kubectl etcdbench watch write-all-members -n etcd`

func (t *tool) watchCommand() *cobra.Command {
	f := &following{}
	cmd := &cobra.Command{
		Use:   "watch NAME",
		Short: "Follow a run until it has finished",
		Long: `Follows a run in a cluster until it has finished, and prints its result. If the run
has finished already, its result is printed at once. Ctrl-C ends the command; the run
continues.

` + exitHelp,
		Example: watchExample,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return fmt.Errorf("wanted the name of one EtcdBenchmark, found %d: kubectl etcdbench watch NAME", len(args))
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error { return t.watch(args[0], *f) },
	}
	f.addFlags(cmd.Flags(), "every 2s")
	t.kube.AddFlags(cmd.Flags())
	return cmd
}

func (t *tool) watch(name string, flags following) error {
	if err := flags.check(); err != nil {
		return err
	}
	if err := flags.destinations.open(t.Out, flags); err != nil {
		return err
	}
	defer flags.destinations.discard()
	cluster, namespace, _, err := t.cluster()
	if err != nil {
		return err
	}
	ctx, cancel := t.interrupts.untilEnd()
	defer cancel()
	ctx, cancelTimeout := withTimeout(ctx, flags.timeout)
	defer cancelTimeout()
	s := t.screen()
	f := &follow.Follower{
		Cluster: cluster,
		Key:     client.ObjectKey{Namespace: namespace, Name: name},
		Seen:    seenBy(s, flags.destinations),
		Notice:  s.Notice,
	}
	run, err := f.Follow(ctx)
	s.Close()
	return t.followed(f, run, err, flags)
}
