package controllers

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/rand"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/controllers/internal/resources"
	"github.com/etcdbench/etcd-benchmark-operator/internal/lifecycle"
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
)

// fieldOwner is the field manager for everything that the operator applies.
const fieldOwner = client.FieldOwner("etcd-benchmark-operator")

// refusal is an answer of the API server that a retry would not change.
type refusal struct {
	problem lifecycle.Problem
	cause   error
}

func (r *refusal) Error() string { return r.cause.Error() }
func (r *refusal) Unwrap() error { return r.cause }

func refusalOf(err error) *lifecycle.Problem {
	var r *refusal
	if errors.As(err, &r) {
		return &r.problem
	}
	return nil
}

// parallelPods is how many pods of a run get their annotations at a time. Otherwise the last of a thousand pods would get
// its start seconds after the first.
const parallelPods = 32

// act executes the decision's actions in order and stops at the first error. Actions on pods that follow each other are
// executed together, and an error of one of them does not stop it: the other pods get their annotations. It returns the
// Jobs that were created.
func (r *EtcdBenchmarkReconciler) act(ctx context.Context, o lifecycle.Observed, d lifecycle.Decision) (made jobs, failed error) {
	confirmed := false
	// The notes come first: the object may be gone with its finalizer, and no later reconcile would record them.
	r.note(ctx, o.Run, d.Notes)
	for actions := d.Actions; len(actions) > 0; {
		if a := actions[0].Act; !confirmed && (a == lifecycle.CreateMembers || a == lifecycle.CreateJob || a == lifecycle.CreateCleanup || a == lifecycle.Start) {
			if err := r.confirm(ctx, o.Run); err != nil {
				return jobs{}, err
			}
			confirmed = true
		}
		if n := onPods(actions); n > 0 {
			failed = errors.Join(failed, r.tellPods(ctx, o, actions[:n]))
			actions = actions[n:]
			continue
		}
		var err error
		a := actions[0]
		actions = actions[1:]
		switch a.Act {
		case lifecycle.CreateJob:
			made.load, err = r.createLoadJob(ctx, o.Run)
		case lifecycle.CreateMembers:
			made.members, err = r.createMembers(ctx, o.Run)
		case lifecycle.NameCleanup:
			made.cleanup = nameCleanupJob(o.Run)
		case lifecycle.CreateCleanup:
			made.cleanup, err = r.createCleanupJob(ctx, o.Run, a.PodTimeout)
		default:
			err = r.take(ctx, o, a)
		}
		if err != nil {
			return made, errors.Join(failed, fmt.Errorf("%s: %w", a.Act, err))
		}
	}
	return made, failed
}

// jobs are the Jobs that a reconcile has created or named: status identifies a Job by its UID, because others can create Jobs with
// any name and label.
type jobs struct{ members, load, cleanup *v1alpha1.JobReference }

// onPods counts the actions of one kind on pods with which a list begins.
func onPods(actions []lifecycle.Action) int {
	n := 0
	for n < len(actions) && actions[n].Pod != "" && actions[n].Act == actions[0].Act {
		n++
	}
	return n
}

// tellPods executes actions on pods, some at a time.
func (r *EtcdBenchmarkReconciler) tellPods(ctx context.Context, o lifecycle.Observed, actions []lifecycle.Action) error {
	pods := map[string]lifecycle.Pod{}
	for _, p := range slices.Concat(o.Pods, o.ExtraPods) {
		pods[p.Name] = p
	}
	failed := make([]error, len(actions))
	room := make(chan struct{}, parallelPods)
	var all sync.WaitGroup
	for i, a := range actions {
		room <- struct{}{}
		all.Go(func() {
			defer func() { <-room }()
			if err := r.tellPod(ctx, o.Run.Namespace, pods[a.Pod], a); err != nil {
				failed[i] = fmt.Errorf("%s of %s: %w", a.Act, a.Pod, err)
			}
		})
	}
	all.Wait()
	return errors.Join(failed...)
}

// confirm checks that the run in the cache is up to date. Actions that must happen only once must not follow from an
// old state.
func (r *EtcdBenchmarkReconciler) confirm(ctx context.Context, run *v1alpha1.EtcdBenchmark) error {
	live := &v1alpha1.EtcdBenchmark{}
	if err := r.APIReader.Get(ctx, client.ObjectKeyFromObject(run), live); err != nil {
		return err
	}
	if live.ResourceVersion != run.ResourceVersion {
		return errStale
	}
	return nil
}

func (r *EtcdBenchmarkReconciler) take(ctx context.Context, o lifecycle.Observed, a lifecycle.Action) error {
	switch a.Act {
	case lifecycle.AddFinalizer:
		return r.changeFinalizer(ctx, o.Run, addFinalizer)
	case lifecycle.RemoveFinalizer:
		return client.IgnoreNotFound(r.changeFinalizer(ctx, o.Run, controllerutil.RemoveFinalizer))
	case lifecycle.ApplyPlan:
		return r.applyPlan(ctx, o.Run)
	case lifecycle.DeleteMembers:
		return r.deleteMembers(ctx, o)
	case lifecycle.DeleteJob:
		return r.deleteJob(ctx, o.Run.Namespace, o.Run.LoadJobName(), o.Job.UID)
	case lifecycle.DeleteCleanup:
		job := o.Run.Status.CleanupJob
		return r.deleteJob(ctx, o.Run.Namespace, job.Name, job.UID)
	case lifecycle.DeleteRun:
		return client.IgnoreNotFound(r.Client.Delete(ctx, o.Run, client.Preconditions{UID: &o.Run.UID}))
	}
	return fmt.Errorf("wanted a known action, found %q", a.Act)
}

// addFinalizer adds the finalizer and the label that selects runs by workload.
func addFinalizer(o client.Object, finalizer string) bool {
	labels := o.GetLabels()
	if labels == nil {
		labels = map[string]string{}
	}
	labels[v1alpha1.LabelWorkload] = string(o.(*v1alpha1.EtcdBenchmark).Resolved().Workload.Type)
	o.SetLabels(labels)
	return controllerutil.AddFinalizer(o, finalizer)
}

func (r *EtcdBenchmarkReconciler) changeFinalizer(ctx context.Context, run *v1alpha1.EtcdBenchmark, change func(client.Object, string) bool) error {
	before := run.DeepCopy()
	if !change(run, v1alpha1.Finalizer) {
		return nil
	}
	return r.Client.Patch(ctx, run, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}))
}

func (r *EtcdBenchmarkReconciler) applyPlan(ctx context.Context, run *v1alpha1.EtcdBenchmark) error {
	configMap, err := resources.PlanConfigMap(run)
	if err != nil {
		return invalidPlan(err)
	}
	return refused("the ConfigMap with the plan", r.Client.Apply(ctx, configMap, fieldOwner, client.ForceOwnership))
}

func invalidPlan(err error) error {
	return &refusal{lifecycle.Problem{Reason: v1alpha1.ReasonInvalidPlan, Message: err.Error()}, err}
}

// createLoadJob adopts a Job that the operator created but did not record before a restart.
func (r *EtcdBenchmarkReconciler) createLoadJob(ctx context.Context, run *v1alpha1.EtcdBenchmark) (*v1alpha1.JobReference, error) {
	job, err := resources.LoadJob(run, r.ClientImage, r.MemberUser)
	if err != nil {
		return nil, invalidPlan(err)
	}
	if err := r.createOwned(ctx, job, run, "the load Job"); err != nil {
		return nil, err
	}
	return &v1alpha1.JobReference{Name: job.Name, UID: job.UID}, nil
}

// refused separates permanent refusals from temporary errors. A namespace that is being deleted is temporary here: the
// run is deleted with it.
func refused(what string, err error) error {
	if apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause) {
		return err
	}
	return refusedForGood(what, err)
}

func refusedForGood(what string, err error) error {
	if !apierrors.IsForbidden(err) && !apierrors.IsInvalid(err) {
		return err
	}
	message := fmt.Sprintf("The API server refuses %s: %v", what, err)
	return &refusal{lifecycle.Problem{Reason: v1alpha1.ReasonPodsForbidden, Message: message}, err}
}

// tellPod ignores pods that are gone; the next reconcile handles them. The API server answers with the metadata alone,
// which costs it less.
//
// Marks are only ever added, so any version of the pod gets them. A start must not replace another one, which the pod may
// have read: an operator can be stopped for so long that another one leads and chooses a start.
func (r *EtcdBenchmarkReconciler) tellPod(ctx context.Context, namespace string, p lifecycle.Pod, a lifecycle.Action) error {
	pod := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: a.Pod}}
	pod.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Pod"))
	if a.Act == lifecycle.Start {
		pod.ResourceVersion = p.Version
		return client.IgnoreNotFound(r.startPod(ctx, pod, p.UID, a))
	}
	return client.IgnoreNotFound(r.annotate(ctx, pod, a, client.MergeFromWithOptions(pod.DeepCopy())))
}

// startPod looks at a pod that has changed since it was read, and gives it the start if it has none.
func (r *EtcdBenchmarkReconciler) startPod(ctx context.Context, pod *metav1.PartialObjectMetadata, uid types.UID, a lifecycle.Action) error {
	return retry.RetryOnConflict(retry.DefaultRetry, func() error {
		err := r.annotate(ctx, pod, a, client.MergeFromWithOptions(pod.DeepCopy(), client.MergeFromWithOptimisticLock{}))
		if !apierrors.IsConflict(err) {
			return err
		}
		if err := r.APIReader.Get(ctx, client.ObjectKeyFromObject(pod), pod); err != nil {
			return err
		}
		if pod.UID != uid || pod.Annotations[plan.AnnotationStartAt] != "" {
			return nil
		}
		return err
	})
}

func (r *EtcdBenchmarkReconciler) annotate(ctx context.Context, pod *metav1.PartialObjectMetadata, a lifecycle.Action, patch client.Patch) error {
	for key, value := range a.Annotations {
		metav1.SetMetaDataAnnotation(&pod.ObjectMeta, key, value)
	}
	return r.Client.Patch(ctx, pod, patch, fieldOwner)
}

// nameCleanupJob chooses a name that others could not know before. Its last letter counts the names that were taken.
func nameCleanupJob(run *v1alpha1.EtcdBenchmark) *v1alpha1.JobReference {
	return &v1alpha1.JobReference{Name: run.CleanupJobPrefix() + rand.String(4) + "a"}
}

// afterTakenName returns the name of the next cleanup Job if another Job has the name of this one. The operator does not
// believe that Job: status has no UID of it, so another user can have created it. It may also be the operator's, if status
// could not be written after the creation. Both do the same work then, and hold the same lock. Three names bound the Jobs of
// a run. A run that is being deleted is released at once, because its status may stay unwritable.
func afterTakenName(run *v1alpha1.EtcdBenchmark) (*v1alpha1.JobReference, error) {
	name := run.Status.CleanupJob.Name
	last := len(name) - 1
	if run.DeletionTimestamp == nil && name[last] < 'c' {
		return &v1alpha1.JobReference{Name: name[:last] + string(name[last]+1)}, nil
	}
	err := fmt.Errorf("a Job %s exists, and status does not say that the operator created it", name)
	return nil, &refusal{lifecycle.Problem{Reason: v1alpha1.ReasonPodsForbidden, Message: err.Error()}, err}
}

// createCleanupJob creates the Job that status names. A namespace that is being deleted is a permanent refusal: no pod can be
// created there any more, and waiting would only block the deletion of the namespace.
func (r *EtcdBenchmarkReconciler) createCleanupJob(ctx context.Context, run *v1alpha1.EtcdBenchmark, podTimeout time.Duration) (*v1alpha1.JobReference, error) {
	job, err := resources.CleanupJob(run, r.ClientImage, podTimeout)
	if err != nil {
		return nil, invalidPlan(err)
	}
	job.Name = run.Status.CleanupJob.Name
	err = r.Client.Create(ctx, job, fieldOwner)
	if apierrors.IsAlreadyExists(err) {
		return afterTakenName(run)
	}
	if err != nil {
		return nil, refusedForGood("the cleanup Job", err)
	}
	return &v1alpha1.JobReference{Name: job.Name, UID: job.UID}, nil
}

// deleteJob deletes the Job with this UID, and its pods, which batch/v1 keeps by default.
func (r *EtcdBenchmarkReconciler) deleteJob(ctx context.Context, namespace, name string, uid types.UID) error {
	job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	err := r.Client.Delete(ctx, job, client.PropagationPolicy(metav1.DeletePropagationBackground), client.Preconditions{UID: &uid})
	if apierrors.IsConflict(err) {
		// Another Job has the name now.
		return nil
	}
	return client.IgnoreNotFound(err)
}
