package uninstall

import (
	"context"
	"fmt"
	"io"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
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
}

// Release stops every run that goes on, waits up to grace for the operator to
// end and clean them, and takes the finalizer from those that it has not
// cleaned by then, naming the keys that may be left. It returns an error only
// if the API server does not let it do that.
func (r Runs) Release(ctx context.Context, grace time.Duration) error {
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
	fmt.Fprintf(r.Log, "stopping %s\n", client.ObjectKeyFromObject(b))
	patch := client.MergeFrom(b.DeepCopy())
	b.Spec.Stop = true
	if err := r.Client.Patch(ctx, b, patch); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("stopping run %s: %w", client.ObjectKeyFromObject(b), err)
	}
	return nil
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
		client.ObjectKeyFromObject(b), b.RemovalCommand())
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
