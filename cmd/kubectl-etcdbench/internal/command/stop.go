package command

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/cmd/kubectl-etcdbench/internal/follow"
)

const stopExample = `  # Stop a run, and wait until its keys are deleted and its result is written
  kubectl etcdbench stop write-all-members -n etcd --wait

  # Stop a suite
  kubectl etcdbench stop suite/etcd-page -n etcd`

// stopFlags are the flags of stop.
type stopFlags struct {
	wait    bool
	timeout time.Duration
}

func (t *tool) stopCommand() *cobra.Command {
	f := &stopFlags{}
	cmd := &cobra.Command{
		Use:   "stop NAME | run/NAME | suite/NAME",
		Short: "Stop a run or a suite; its result so far is kept",
		Long: `Sets spec.stop of a run or a suite, and says what happens next. The load ends, the client
pods delete the run's keys, and the result has what was measured until then. A stopped
run or suite cannot continue.

Exit status 0: it was stopped, or had ended before. 3: --wait ended before the run
or suite did. 2: it could not be stopped.`,
		Example: stopExample,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return fmt.Errorf("wanted the name of one run or suite, found %d: kubectl etcdbench stop NAME, or kubectl etcdbench stop suite/NAME", len(args))
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error { return t.stop(args[0], *f) },
	}
	cmd.Flags().BoolVar(&f.wait, "wait", false, "follow it until it has ended")
	cmd.Flags().DurationVar(&f.timeout, "timeout", 0, "with --wait: wait at most this time, for example 2m. 0 waits until it has ended")
	t.kube.addTo(cmd.Flags())
	return cmd
}

func (f stopFlags) check() error {
	switch {
	case f.timeout < 0:
		return fmt.Errorf("--timeout: wanted a time of 0 or more, found %s", f.timeout)
	case f.timeout > 0 && !f.wait:
		return errors.New("--timeout is how long --wait waits: add --wait, or remove --timeout")
	}
	return nil
}

// limit is the longest time of the command; 0 means no limit. The timeout limits waiting, so that even a short one does not
// end the request that stops the run.
func (f stopFlags) limit() time.Duration {
	if f.timeout == 0 {
		return 0
	}
	return stopLimit + f.timeout
}

func (t *tool) stop(argument string, f stopFlags) error {
	if err := f.check(); err != nil {
		return err
	}
	kind, name, err := t.parseStopped(argument)
	if err != nil {
		return err
	}
	return t.find(kind, name, f.limit(), func(ctx context.Context, cluster *follow.Cluster, kind watchedKind, key client.ObjectKey) error {
		flags := following{timeout: f.timeout}
		if kind == aRun {
			return stopped(ctx, t.followRun(cluster, key, flags), f, nextOfRun)
		}
		return stopped(ctx, t.followSuite(cluster, key, true, flags), f, nextOfSuite)
	})
}

// parseStopped reads NAME or KIND/NAME.
func (t *tool) parseStopped(argument string) (watchedKind, string, error) {
	switch kind, name := kindWord(argument); {
	case kind == "schedule":
		return 0, "", fmt.Errorf("a schedule has no end: to start no further sessions, kubectl patch ebsch/%s%s --type=merge -p '{\"spec\":{\"suspend\":true}}'. "+
			"To stop a session, give the name of its suite: kubectl etcdbench stop suite/NAME%[2]s", name, t.where())
	case name == "" || strings.Contains(name, "/"):
		return 0, "", fmt.Errorf("wanted NAME, run/NAME or suite/NAME, found %q", argument)
	case kind == "run":
		return aRun, name, nil
	case kind == "suite":
		return aSuite, name, nil
	default:
		return anyKind, name, nil
	}
}

// stopped stops an object unless it has ended, and says what follows. next returns what happens next.
func stopped[T client.Object](ctx context.Context, f *followed[T], flags stopFlags, next func(object T) string) error {
	kind, cluster, key := f.follower.Kind, f.follower.Cluster, f.follower.Key
	object, err := kind.Get(ctx, cluster, key)
	if err != nil {
		return err
	}
	if kind.IsFinished(object) {
		_, err := fmt.Fprintf(f.Out, "The %s %s had ended before, as %s.\n", kind.Noun, key, kind.State(object))
		return err
	}
	if err := kind.Stop(ctx, cluster, key); err != nil {
		return err
	}
	fmt.Fprintf(f.Out, "Stopping the %s %s, which is %s. %s\n", kind.Noun, key, kind.State(object), next(object))
	if !flags.wait {
		_, err := fmt.Fprintf(f.Out, "To follow it: %s\n", f.watchCommand())
		return err
	}
	f.follower.UID = object.GetUID()
	f.finish = func(ended T) error {
		_, err := fmt.Fprintf(f.Out, "The %s %s has ended as %s. For its result: %s\n", kind.Noun, key, kind.State(ended), f.watchCommand())
		return err
	}
	ctx, cancel := withTimeout(ctx, flags.timeout)
	defer cancel()
	return f.follow(ctx, f.screen())
}

// nextOfRun says what happens after a run is stopped, which depends on its stage.
func nextOfRun(run *v1alpha1.EtcdBenchmark) string {
	switch follow.Runs.State(run) {
	case v1alpha1.StagePending, v1alpha1.StageQueued:
		return "It has written nothing. It ends as Stopped, without a result."
	case v1alpha1.StageCollecting:
		return "Its load is over. It ends once its keys are deleted, and its result stays as it is."
	case v1alpha1.StageRunning:
		return "The client pods wait up to 10s for responses and delete the run's keys. Then it ends as Stopped, with what was measured until now."
	}
	return "Nothing was measured yet. The client pods delete the run's keys. Then it ends as Stopped."
}

// nextOfSuite says what happens after a suite is stopped.
func nextOfSuite(s *v1alpha1.EtcdBenchmarkSuite) string {
	if s.Status.Current == "" {
		return "No further run starts. It ends as Stopped, with the results until now."
	}
	return fmt.Sprintf("The run %s is stopped and keeps what it measured. No further run starts. Then the suite ends as Stopped, with the results until now.", s.Status.Current)
}

// conditionOf returns the status and the reason of a condition; both are empty if it is absent.
func conditionOf(all []metav1.Condition, kind string) (status metav1.ConditionStatus, reason string) {
	if c := meta.FindStatusCondition(all, kind); c != nil {
		return c.Status, c.Reason
	}
	return "", ""
}
