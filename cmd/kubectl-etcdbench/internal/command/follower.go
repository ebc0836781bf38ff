package command

import (
	"context"
	"fmt"
	"sync"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/cmd/kubectl-etcdbench/internal/follow"
	"github.com/etcdbench/etcd-benchmark-operator/cmd/kubectl-etcdbench/internal/manifest"
	"github.com/etcdbench/etcd-benchmark-operator/cmd/kubectl-etcdbench/internal/report"
	"github.com/etcdbench/etcd-benchmark-operator/cmd/kubectl-etcdbench/internal/screen"
)

const (
	// stopLimit bounds the call that sets spec.stop.
	stopLimit = 5 * time.Second
	// reportLimit bounds the call that reads a finished run's report.
	reportLimit = 5 * time.Second
	// runsLimit bounds the calls that read the runs of a suite and their reports.
	runsLimit = time.Minute
)

// followed is a run or a suite that a command follows.
type followed[T client.Object] struct {
	*tool
	flags    following
	follower *follow.Follower[T]
	// prefix comes before the name in the argument of the command watch.
	prefix string
	// seen returns a function that shows each new state.
	seen func(*screen.Screen) func(T)
	// showEnded writes the result and returns the exit status.
	finish func(T) error
}

func (t *tool) followRun(cluster *follow.Cluster, key client.ObjectKey, flags following) *followed[*v1alpha1.EtcdBenchmark] {
	return &followed[*v1alpha1.EtcdBenchmark]{
		tool: t, flags: flags,
		follower: &follow.Follower[*v1alpha1.EtcdBenchmark]{Kind: follow.Runs, Cluster: cluster, Key: key},
		seen:     func(s *screen.Screen) func(*v1alpha1.EtcdBenchmark) { return seenBy(s, flags) },
		finish: func(run *v1alpha1.EtcdBenchmark) error {
			ctx, cancel := withTimeout(t.interrupts.leave, reportLimit)
			defer cancel()
			return t.showEnded(run, cluster.Report(ctx, run), flags)
		},
	}
}

// followSuite follows a suite. exists: it was not created by this command.
func (t *tool) followSuite(cluster *follow.Cluster, key client.ObjectKey, exists bool, flags following) *followed[*v1alpha1.EtcdBenchmarkSuite] {
	return &followed[*v1alpha1.EtcdBenchmarkSuite]{
		tool: t, flags: flags,
		follower: &follow.Follower[*v1alpha1.EtcdBenchmarkSuite]{Kind: follow.Suites, Cluster: cluster, Key: key},
		prefix:   "suite/",
		seen:     func(s *screen.Screen) func(*v1alpha1.EtcdBenchmarkSuite) { return suiteSeenBy(s, exists) },
		finish: func(s *v1alpha1.EtcdBenchmarkSuite) error {
			return t.showEndedSuite(s, func() *report.Document { return t.suiteDocument(cluster, s) }, flags)
		},
	}
}

// suiteSeenBy returns a function that shows each new state of a suite, and a line for each run that has ended. exists:
// the runs that have ended before the first state get no lines.
func suiteSeenBy(s *screen.Screen, exists bool) func(*v1alpha1.EtcdBenchmarkSuite) {
	shown := 0
	return func(suite *v1alpha1.EtcdBenchmarkSuite) {
		if exists {
			shown, exists = len(suite.Status.Results), false
		}
		for ; shown < len(suite.Status.Results); shown++ {
			s.Notice(screen.Ended(suite, shown))
		}
		s.ShowSuite(suite)
	}
}

// create creates the object of a manifest and follows it.
func (f *followed[T]) create(m *manifest.Manifest) error {
	ctx, cancel := f.interrupts.untilEnd()
	defer cancel()
	if err := f.follower.Kind.Create(ctx, f.follower.Cluster, m.Object); err != nil {
		return m.Explain(err)
	}
	// The server may have generated the name.
	f.follower.Key, f.follower.UID = client.ObjectKeyFromObject(m.Object), m.Object.GetUID()
	return f.untilStopped()
}

// untilStopped follows what was just created to its end. The first signal stops it, and following continues. The second
// signal ends following.
func (f *followed[T]) untilStopped() error {
	s := f.screen()
	s.Notice(fmt.Sprintf("Created the %s %s.", f.follower.Kind.Noun, f.follower.Key))
	ctx, cancel := withTimeout(f.interrupts.leave, f.flags.timeout)
	defer cancel()
	ended := make(chan struct{})
	var stopping sync.WaitGroup
	stopping.Go(func() {
		select {
		case <-f.interrupts.end:
			f.stop(ctx, s.Notice)
		case <-ended:
		}
	})
	err := f.follow(ctx, s)
	close(ended)
	stopping.Wait()
	return err
}

func (f *followed[T]) stop(ctx context.Context, notice func(string)) {
	noun := f.follower.Kind.Noun
	notice(fmt.Sprintf("Stopping the %s. The result so far follows; Ctrl-C again exits without it.", noun))
	// The second signal ends the command. It must not end the request that stops the run.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopLimit)
	defer cancel()
	if err := f.follower.Kind.Stop(ctx, f.follower.Cluster, f.follower.Key); err != nil {
		notice(fmt.Sprintf("The %s could not be stopped and may continue: %v.", noun, err))
	}
}

// follow follows to the end, or until the context ends.
func (f *followed[T]) follow(ctx context.Context, s *screen.Screen) error {
	f.follower.Seen, f.follower.Notice = f.seen(s), s.Notice
	object, err := f.follower.Follow(ctx)
	s.Close()
	return f.ended(object, err)
}

// watchCommand is the command that follows the object.
func (f *followed[T]) watchCommand() string {
	key := f.follower.Key
	return fmt.Sprintf("kubectl etcdbench watch %s %s%s", f.follower.Cluster.At(key.Namespace), f.prefix, key.Name)
}

// ended prints the outcome of following.
func (f *followed[T]) ended(object T, err error) error {
	noun, key := f.follower.Kind.Noun, f.follower.Key
	again := f.watchCommand()
	switch {
	case err == nil:
		return f.finish(object)
	// Compared without errors.Is: time-outs of the network are a DeadlineExceeded, too.
	case err == context.DeadlineExceeded:
		return &exitError{exitUnknown, fmt.Errorf("the %s %s has not finished after %s and continues. To follow it: %s", noun, key, f.flags.timeout, again)}
	case err == context.Canceled:
		return &exitError{exitUnknown, fmt.Errorf("stopped following the %s %s before it finished. To follow it: %s", noun, key, again)}
	case f.follower.UID != "":
		// It was created or found. Its result is not known.
		return &exitError{exitUnknown, err}
	}
	return err
}

// withTimeout sets no limit if limit is 0.
func withTimeout(ctx context.Context, limit time.Duration) (context.Context, context.CancelFunc) {
	if limit == 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, limit)
}
