package uninstall

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/lifecycle"
)

// Runs ends the runs of some namespaces.
type Runs struct {
	Client client.Client
	// Namespaces with the runs to end. Empty means all namespaces.
	Namespaces []string
	// Poll is the time between two passes over the objects.
	Poll time.Duration
	// Retry is how long it tries again to remove finalizers if that fails.
	Retry time.Duration
	// Log receives one line for each event that an administrator should know.
	Log io.Writer

	// logged are the lines that were written, without their details.
	logged map[string]bool
}

// Release suspends every schedule, stops every suite and run that goes on, and waits up to grace for the operator to end
// and clean them. Then it removes the finalizer from those that are not cleaned, and logs which keys may be left. A failure
// with one object delays no other, and is tried again. It returns an error if finalizers are left in the namespaces that
// the operator may read. It takes at most grace and Retry, also if the API server does not answer.
func (r Runs) Release(ctx context.Context, grace time.Duration) error {
	r.logged = map[string]bool{}
	done, _ := r.repeat(ctx, grace, r.stopAll)
	if done || ctx.Err() != nil {
		return ctx.Err()
	}
	if done, err := r.repeat(ctx, r.Retry, r.releaseAll); !done {
		return fmt.Errorf("finalizers are left, and without the operator these objects cannot be deleted; uninstall again: %w", errors.Join(ctx.Err(), err))
	}
	return nil
}

// repeat makes passes until one is done, or the time is over, which ends a request, too. It returns the error of the last
// complete pass, and logs all.
func (r Runs) repeat(ctx context.Context, limit time.Duration, pass func(context.Context) (bool, error)) (done bool, last error) {
	ctx, end := context.WithTimeout(ctx, limit)
	defer end()
	_ = wait.PollUntilContextCancel(ctx, r.Poll, true, func(context.Context) (bool, error) {
		var err error
		done, err = pass(ctx)
		if ctx.Err() == nil && err != nil {
			r.logOnce(err.Error(), "%v; trying again\n", err)
		}
		if ctx.Err() == nil || last == nil {
			last = err
		}
		return done, nil
	})
	return done, last
}

// stopAll suspends every schedule, stops every suite and every run, and reports whether all of them are released. What
// creates others comes first.
func (r Runs) stopAll(ctx context.Context) (done bool, err error) {
	done = true
	schedules := r.each(ctx, &v1alpha1.EtcdBenchmarkScheduleList{}, func(o client.Object) error {
		return r.suspend(ctx, o.(*v1alpha1.EtcdBenchmarkSchedule))
	})
	suites := r.each(ctx, &v1alpha1.EtcdBenchmarkSuiteList{}, func(o client.Object) error {
		s := o.(*v1alpha1.EtcdBenchmarkSuite)
		if meta.IsStatusConditionTrue(s.Status.Conditions, v1alpha1.ConditionFinished) {
			return nil
		}
		done = false
		return r.stopSuite(ctx, s)
	})
	runs := r.each(ctx, &v1alpha1.EtcdBenchmarkList{}, func(o client.Object) error {
		b := o.(*v1alpha1.EtcdBenchmark)
		if isReleased(b) {
			return nil
		}
		done = false
		return r.stopRun(ctx, b)
	})
	err = errors.Join(schedules, suites, runs)
	return done && err == nil, err
}

// suspend suspends a schedule, so that no session starts.
func (r Runs) suspend(ctx context.Context, s *v1alpha1.EtcdBenchmarkSchedule) error {
	if s.Spec.Suspend {
		return nil
	}
	before := s.DeepCopy()
	s.Spec.Suspend = true
	return r.patch(ctx, "schedule", s, before, "The sessions that it starts are stopped")
}

func (r Runs) stopSuite(ctx context.Context, s *v1alpha1.EtcdBenchmarkSuite) error {
	if s.Spec.Stop {
		return nil
	}
	before := s.DeepCopy()
	s.Spec.Stop = true
	return r.patch(ctx, "suite", s, before, "Its runs are stopped one by one")
}

func (r Runs) stopRun(ctx context.Context, b *v1alpha1.EtcdBenchmark) error {
	if b.Spec.Stop || b.HasFinished() {
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
		// An object that violates a newer validation rule does not change.
		r.logOnce(string(stopped.GetUID()), "%s %s cannot be stopped, because the API server refuses the change: %v. %s\n", kind, key, err, otherwise)
		return nil
	case client.IgnoreNotFound(err) != nil:
		return fmt.Errorf("stopping %s %s: %w", kind, key, err)
	default:
		r.logOnce(string(stopped.GetUID()), "stopping %s %s\n", kind, key)
		return nil
	}
}

// logOnce logs one line for a subject; further calls for the same subject do nothing.
func (r Runs) logOnce(subject, format string, args ...any) {
	if !r.logged[subject] {
		r.logged[subject] = true
		fmt.Fprintf(r.Log, format, args...)
	}
}

// releaseAll removes the operator's finalizer from every run.
func (r Runs) releaseAll(ctx context.Context) (done bool, err error) {
	err = r.each(ctx, &v1alpha1.EtcdBenchmarkList{}, func(o client.Object) error { return r.release(ctx, o.(*v1alpha1.EtcdBenchmark)) })
	return err == nil, err
}

// release removes the operator's finalizer from a run that the operator did not clean. The operator still works, and writes
// the run's status. So the patch compares only the finalizer, and not the version of the object.
func (r Runs) release(ctx context.Context, b *v1alpha1.EtcdBenchmark) error {
	i := slices.Index(b.Finalizers, v1alpha1.Finalizer)
	if i < 0 {
		return nil
	}
	patch := fmt.Appendf(nil, `[{"op":"test","path":"/metadata/finalizers/%d","value":%q},{"op":"remove","path":"/metadata/finalizers/%d"}]`, i, v1alpha1.Finalizer, i)
	if err := r.Client.Patch(ctx, b, client.RawPatch(types.JSONPatchType, patch)); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("removing the finalizer of run %s: %w", client.ObjectKeyFromObject(b), err)
	}
	fmt.Fprintf(r.Log, "%s was not cleaned in time. %s\n", client.ObjectKeyFromObject(b), lifecycle.WhyKeysLeft(b))
	return nil
}

// each calls do for every object of a kind, and returns all errors. It leaves out a namespace that the operator may not
// read: usually it was deleted, and the operator's rights with it.
func (r Runs) each(ctx context.Context, kind client.ObjectList, do func(client.Object) error) error {
	namespaces, failed := r.Namespaces, []error(nil)
	if len(namespaces) == 0 {
		namespaces = []string{""}
	}
	for _, namespace := range namespaces {
		list := kind.DeepCopyObject().(client.ObjectList)
		err := r.Client.List(ctx, list, client.InNamespace(namespace))
		switch {
		case apierrors.IsForbidden(err) && namespace != "":
			r.logOnce(namespace, "leaving out the namespace %s, because the operator may not read it: %v. If it exists, its runs may keep their finalizers\n", namespace, err)
		case err != nil:
			failed = append(failed, fmt.Errorf("listing the objects of namespace %q: %w", namespace, err))
		}
		_ = meta.EachListItem(list, func(o runtime.Object) error {
			failed = append(failed, do(o.(client.Object)))
			return ctx.Err()
		})
	}
	return errors.Join(failed...)
}

// isReleased reports whether the run does not need the operator any more.
func isReleased(b *v1alpha1.EtcdBenchmark) bool {
	return b.HasFinished() && !controllerutil.ContainsFinalizer(b, v1alpha1.Finalizer)
}
