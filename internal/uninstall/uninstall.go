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
	// Namespaces to look at; empty means all.
	Namespaces []string
	// Poll is the distance between two looks.
	Poll time.Duration
	// Log gets a line for whatever an administrator should know.
	Log io.Writer

	// told are the runs of which it was told that they are asked to stop.
	told map[types.UID]bool
}

// Release stops every run that goes on, waits up to grace for the operator to
// end and clean them, and takes the finalizer from those that it has not
// cleaned by then, naming the keys that may be left. It returns an error only
// if the API server does not let it do that.
func (r Runs) Release(ctx context.Context, grace time.Duration) error {
	r.told = map[types.UID]bool{}
	// The grace bounds the waiting, not a request: one that it cut off would
	// look like an API server that refuses.
	err := wait.PollUntilContextTimeout(ctx, r.Poll, grace, true, func(context.Context) (bool, error) { return r.stopAll(ctx) })
	if err == nil || !wait.Interrupted(err) || ctx.Err() != nil {
		return err
	}
	return r.each(ctx, r.release)
}

// stopAll asks every run to stop, and says whether none is left to wait for.
func (r Runs) stopAll(ctx context.Context) (bool, error) {
	done := true
	err := r.each(ctx, func(ctx context.Context, b *v1alpha1.EtcdBenchmark) error {
		if isReleased(b) {
			return nil
		}
		done = false
		return r.stop(ctx, b)
	})
	return done && err == nil, err
}

func (r Runs) stop(ctx context.Context, b *v1alpha1.EtcdBenchmark) error {
	if b.Spec.Stop || isFinished(b) {
		return nil
	}
	patch := client.MergeFrom(b.DeepCopy())
	b.Spec.Stop = true
	err := r.Client.Patch(ctx, b, patch)
	switch key := client.ObjectKeyFromObject(b); {
	case apierrors.IsInvalid(err):
		// A run from before a rule that it breaks must not keep the others from their end.
		r.logOnce(b, "%s cannot be told to stop: %v. If it has not ended by itself when the time for that is over, it is released as it is\n", key, err)
		return nil
	case client.IgnoreNotFound(err) != nil:
		return fmt.Errorf("stopping run %s: %w", key, err)
	default:
		r.logOnce(b, "stopping %s\n", key)
		return nil
	}
}

// logOnce tells of a run what was not told of it before.
func (r Runs) logOnce(b *v1alpha1.EtcdBenchmark, format string, args ...any) {
	if told := r.told; !told[b.UID] {
		told[b.UID] = true
		fmt.Fprintf(r.Log, format, args...)
	}
}

// release takes our finalizer from a run that the operator did not clean.
func (r Runs) release(ctx context.Context, b *v1alpha1.EtcdBenchmark) error {
	patch := client.MergeFromWithOptions(b.DeepCopy(), client.MergeFromWithOptimisticLock{})
	if !controllerutil.RemoveFinalizer(b, v1alpha1.Finalizer) {
		return nil
	}
	if err := r.Client.Patch(ctx, b, patch); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("removing the finalizer of run %s: %w", client.ObjectKeyFromObject(b), err)
	}
	fmt.Fprintf(r.Log, "%s was not cleaned in time: its target may hold keys; this removes them: %s\n",
		client.ObjectKeyFromObject(b), benchmark.RemovalCommand(b))
	return nil
}

// each calls do for every run and returns the first error.
func (r Runs) each(ctx context.Context, do func(context.Context, *v1alpha1.EtcdBenchmark) error) error {
	namespaces := r.Namespaces
	if len(namespaces) == 0 {
		namespaces = []string{""}
	}
	for _, namespace := range namespaces {
		var list v1alpha1.EtcdBenchmarkList
		if err := r.Client.List(ctx, &list, client.InNamespace(namespace)); err != nil {
			return fmt.Errorf("listing runs: %w", err)
		}
		for i := range list.Items {
			if err := do(ctx, &list.Items[i]); err != nil {
				return err
			}
		}
	}
	return nil
}

// isReleased says that nothing of the run needs the operator any more.
func isReleased(b *v1alpha1.EtcdBenchmark) bool {
	return isFinished(b) && !controllerutil.ContainsFinalizer(b, v1alpha1.Finalizer)
}

func isFinished(b *v1alpha1.EtcdBenchmark) bool {
	return meta.IsStatusConditionTrue(b.Status.Conditions, v1alpha1.ConditionFinished)
}
