package uninstall

import (
	"context"
	"fmt"
	"io"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/benchmark"
)

// Runs ends the runs of some namespaces.
type Runs struct {
	Client client.Client
	// Namespaces with the runs to end. Empty means all namespaces.
	Namespaces []string
	// Poll is the time between two reads of the runs.
	Poll time.Duration
	// Log receives one line for each event that an administrator should know.
	Log io.Writer

	// logged are the objects for which a line about the stop was written.
	logged map[types.UID]bool
}

// Release suspends every schedule, stops every suite and run that goes on, and waits up to grace for the operator to end
// and clean them. Then it removes the finalizer from those that are not cleaned, and logs which keys may be left. It
// returns an error only if the API server refuses these changes.
func (r Runs) Release(ctx context.Context, grace time.Duration) error {
	r.logged = map[types.UID]bool{}
	// grace bounds the wait, but not a request: a cancelled request would look like a refusal of the API server.
	err := wait.PollUntilContextTimeout(ctx, r.Poll, grace, true, func(context.Context) (bool, error) { return r.stopAll(ctx) })
	if err == nil || !wait.Interrupted(err) || ctx.Err() != nil {
		return err
	}
	return r.each(ctx, r.release)
}

// stopAll suspends every schedule, stops every suite and every run, and reports whether all of them are released. What
// creates others comes first.
func (r Runs) stopAll(ctx context.Context) (bool, error) {
	if err := r.suspendSchedules(ctx); err != nil {
		return false, err
	}
	done, err := r.stopSuites(ctx)
	if err != nil {
		return false, err
	}
	err = r.each(ctx, func(ctx context.Context, b *v1alpha1.EtcdBenchmark) error {
		if isReleased(b) {
			return nil
		}
		done = false
		return r.stop(ctx, b)
	})
	return done && err == nil, err
}

// suspendSchedules suspends every schedule, so that no session starts.
func (r Runs) suspendSchedules(ctx context.Context) error {
	return r.eachNamespace(func(namespace string) error {
		var list v1alpha1.EtcdBenchmarkScheduleList
		if err := r.Client.List(ctx, &list, client.InNamespace(namespace)); err != nil {
			return fmt.Errorf("listing schedules: %w", err)
		}
		for _, s := range list.Items {
			if s.Spec.Suspend {
				continue
			}
			before := s.DeepCopy()
			s.Spec.Suspend = true
			if err := r.patch(ctx, "schedule", &s, before, "The sessions that it starts are stopped"); err != nil {
				return err
			}
		}
		return nil
	})
}

// stopSuites stops every suite, and reports whether all of them have ended.
func (r Runs) stopSuites(ctx context.Context) (done bool, err error) {
	done = true
	err = r.eachNamespace(func(namespace string) error {
		var list v1alpha1.EtcdBenchmarkSuiteList
		if err := r.Client.List(ctx, &list, client.InNamespace(namespace)); err != nil {
			return fmt.Errorf("listing suites: %w", err)
		}
		for _, s := range list.Items {
			if meta.IsStatusConditionTrue(s.Status.Conditions, v1alpha1.ConditionFinished) {
				continue
			}
			done = false
			if s.Spec.Stop {
				continue
			}
			before := s.DeepCopy()
			s.Spec.Stop = true
			if err := r.patch(ctx, "suite", &s, before, "Its runs are stopped one by one"); err != nil {
				return err
			}
		}
		return nil
	})
	return done, err
}

func (r Runs) stop(ctx context.Context, b *v1alpha1.EtcdBenchmark) error {
	if b.Spec.Stop || isFinished(b) {
		return nil
	}
	before := b.DeepCopy()
	b.Spec.Stop = true
	return r.patch(ctx, "run", b, before, "If it has not ended by the timeout, its finalizer is removed")
}

// patch writes the request to stop a run or a suite, or to suspend a schedule. otherwise is what happens if the API server refuses it.
func (r Runs) patch(ctx context.Context, kind string, stopped, before client.Object, otherwise string) error {
	err := r.Client.Patch(ctx, stopped, client.MergeFrom(before))
	switch key := client.ObjectKeyFromObject(stopped); {
	case apierrors.IsInvalid(err):
		// An object that violates a newer validation rule must not block the others.
		r.logOnce(stopped, "%s %s cannot be stopped, because the API server refuses the change: %v. %s\n", kind, key, err, otherwise)
		return nil
	case client.IgnoreNotFound(err) != nil:
		return fmt.Errorf("stopping %s %s: %w", kind, key, err)
	default:
		r.logOnce(stopped, "stopping %s %s\n", kind, key)
		return nil
	}
}

// logOnce logs one line per object; further calls for the same object do nothing.
func (r Runs) logOnce(b client.Object, format string, args ...any) {
	if !r.logged[b.GetUID()] {
		r.logged[b.GetUID()] = true
		fmt.Fprintf(r.Log, format, args...)
	}
}

// release removes the operator's finalizer from a run that the operator did not clean.
func (r Runs) release(ctx context.Context, b *v1alpha1.EtcdBenchmark) error {
	patch := client.MergeFromWithOptions(b.DeepCopy(), client.MergeFromWithOptimisticLock{})
	if !controllerutil.RemoveFinalizer(b, v1alpha1.Finalizer) {
		return nil
	}
	if err := r.Client.Patch(ctx, b, patch); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("removing the finalizer of run %s: %w", client.ObjectKeyFromObject(b), err)
	}
	fmt.Fprintf(r.Log, "%s was not cleaned in time: its keys may still be in the target. %s\n",
		client.ObjectKeyFromObject(b), benchmark.Leftover(b))
	return nil
}

// each calls do for every run and returns the first error.
func (r Runs) each(ctx context.Context, do func(context.Context, *v1alpha1.EtcdBenchmark) error) error {
	return r.eachNamespace(func(namespace string) error {
		var list v1alpha1.EtcdBenchmarkList
		if err := r.Client.List(ctx, &list, client.InNamespace(namespace)); err != nil {
			return fmt.Errorf("listing runs: %w", err)
		}
		for i := range list.Items {
			if err := do(ctx, &list.Items[i]); err != nil {
				return err
			}
		}
		return nil
	})
}

// eachNamespace calls do for every namespace, or once with the empty name for all of them.
func (r Runs) eachNamespace(do func(namespace string) error) error {
	if len(r.Namespaces) == 0 {
		return do("")
	}
	for _, namespace := range r.Namespaces {
		if err := do(namespace); err != nil {
			return err
		}
	}
	return nil
}

// isReleased reports whether the run does not need the operator any more.
func isReleased(b *v1alpha1.EtcdBenchmark) bool {
	return isFinished(b) && !controllerutil.ContainsFinalizer(b, v1alpha1.Finalizer)
}

func isFinished(b *v1alpha1.EtcdBenchmark) bool {
	return meta.IsStatusConditionTrue(b.Status.Conditions, v1alpha1.ConditionFinished)
}
