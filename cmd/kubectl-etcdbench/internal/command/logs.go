package command

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/cmd/kubectl-etcdbench/internal/follow"
	"github.com/etcdbench/etcd-benchmark-operator/internal/lifecycle"
)

const logsExample = `  # The last 20 lines of each client pod
  kubectl etcdbench logs write-all-members -n etcd --tail 20

  # Follow the logs until the pods end
  kubectl etcdbench logs write-all-members -n etcd --follow`

// logsFlags are the flags of logs.
type logsFlags struct {
	follow bool
	tail   int64
}

func (t *tool) logsCommand() *cobra.Command {
	f := &logsFlags{}
	cmd := &cobra.Command{
		Use:   "logs NAME",
		Short: "Print the logs of a run's client pods",
		Long: `Prints the logs of the client pods of a run. Each line begins with the name of its pod. The
pods exist while the run goes on, and until the run is deleted or its TTL has passed.`,
		Example: logsExample,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return fmt.Errorf("wanted the name of one run, found %d: kubectl etcdbench logs NAME", len(args))
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error { return t.logs(args[0], *f) },
	}
	cmd.Flags().BoolVarP(&f.follow, "follow", "f", false, "follow the logs until the pods end")
	cmd.Flags().Int64Var(&f.tail, "tail", -1, "print the last `N` lines of each pod; -1 prints all")
	t.kube.addTo(cmd.Flags())
	return cmd
}

func (t *tool) logs(argument string, f logsFlags) error {
	if f.tail < -1 {
		return fmt.Errorf("--tail: wanted a number of lines, or -1 for all, found %d", f.tail)
	}
	kind, name, err := t.parseStopped(argument)
	if err != nil || kind == aSuite {
		return fmt.Errorf("wanted the name of a run, found %q: only runs have client pods. kubectl etcdbench list runs%s lists them", argument, t.where())
	}
	cluster, namespace, _, err := t.cluster()
	if err != nil {
		return err
	}
	ctx, cancel := t.interrupts.untilEnd()
	defer cancel()
	run, err := follow.Runs.Get(ctx, cluster, client.ObjectKey{Namespace: namespace, Name: name})
	if err != nil {
		return err
	}
	pods, err := cluster.PodsOf(ctx, run)
	if err != nil {
		return err
	}
	if len(pods) == 0 {
		return withoutPods(run, cluster.At(namespace))
	}
	clients, err := corev1client.NewForConfig(cluster.Config())
	if err != nil {
		return noCluster(err)
	}
	l := &logReader{tool: t, clients: clients, flags: f}
	return l.all(ctx, pods)
}

// withoutPods is the error of a run that has no client pods, not yet or no longer.
func withoutPods(run *v1alpha1.EtcdBenchmark, at string) error {
	key := client.ObjectKeyFromObject(run)
	switch state := follow.Runs.State(run); {
	case follow.Runs.IsFinished(run) && len(run.Status.Pods) > 0:
		return fmt.Errorf("the client pods of the run %s are gone, and their logs with them. The run ended as %s; status.pods has what each pod reported last: kubectl get eb/%s %s -o yaml",
			key, state, key.Name, at)
	case follow.Runs.IsFinished(run):
		return fmt.Errorf("the run %s ended as %s and has no client pods: kubectl describe eb/%s %s shows why", key, state, key.Name, at)
	default:
		return fmt.Errorf("the run %s has no client pods yet: it is %s. kubectl etcdbench watch %s %s follows it", key, state, at, key.Name)
	}
}

// logReader prints the logs of pods.
type logReader struct {
	*tool
	clients corev1client.PodsGetter
	flags   logsFlags
	// writing keeps lines of different pods apart.
	writing sync.Mutex
}

// all prints the logs of all pods: at the same time if they are followed, otherwise one after the other.
func (l *logReader) all(ctx context.Context, pods []corev1.Pod) error {
	errs := make([]error, len(pods))
	var reading sync.WaitGroup
	for i := range pods {
		if !l.flags.follow {
			errs[i] = l.one(ctx, &pods[i])
			continue
		}
		reading.Go(func() { errs[i] = l.one(ctx, &pods[i]) })
	}
	reading.Wait()
	if ctx.Err() != nil {
		// The user has ended the command.
		return nil
	}
	return errors.Join(errs...)
}

func (l *logReader) one(ctx context.Context, pod *corev1.Pod) error {
	options := &corev1.PodLogOptions{Container: lifecycle.ContainerName, Follow: l.flags.follow}
	if l.flags.tail >= 0 {
		options.TailLines = &l.flags.tail
	}
	in, err := l.clients.Pods(pod.Namespace).GetLogs(pod.Name, options).Stream(ctx)
	if err != nil {
		return fmt.Errorf("reading the log of client pod %s, which is %s: %w", pod.Name, pod.Status.Phase, err)
	}
	defer in.Close()
	return l.copy(in, "["+pod.Name+"] ")
}

// copy prints lines with a prefix.
func (l *logReader) copy(in io.Reader, prefix string) error {
	lines := bufio.NewReader(in)
	for {
		line, err := lines.ReadString('\n')
		if line != "" {
			l.writing.Lock()
			_, werr := fmt.Fprint(l.Out, prefix, line)
			if line[len(line)-1] != '\n' {
				fmt.Fprintln(l.Out)
			}
			l.writing.Unlock()
			err = errors.Join(err, werr)
		}
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
	}
}
