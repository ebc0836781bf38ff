package controllers

import (
	"context"
	"fmt"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/controllers/internal/resources"
	"github.com/etcdbench/etcd-benchmark-operator/internal/lifecycle"
)

// CleanupJobReconciler announces the results of cleanup Jobs that outlive their run. Those of other cleanup Jobs go into
// the status of their run.
type CleanupJobReconciler struct {
	Client    client.Client
	APIReader client.Reader
	Recorder  events.EventRecorder
}

// NewCleanupJobReconciler returns a reconciler that uses the manager's clients.
func NewCleanupJobReconciler(m ctrl.Manager) *CleanupJobReconciler {
	return &CleanupJobReconciler{Client: m.GetClient(), APIReader: m.GetAPIReader(), Recorder: m.GetEventRecorder(string(fieldOwner))}
}

// SetupWithManager registers the reconciler with the manager.
func (r *CleanupJobReconciler) SetupWithManager(m ctrl.Manager, options controller.Options) error {
	isEnded := func(o client.Object) bool {
		job, ok := o.(*batchv1.Job)
		return ok && job.Labels[v1alpha1.LabelComponent] == v1alpha1.ComponentCleanup && (job.Status.Succeeded > 0 || failureOf(job) != "")
	}
	return ctrl.NewControllerManagedBy(m).
		Named("cleanupjob").
		For(&batchv1.Job{}, builder.WithPredicates(predicate.NewPredicateFuncs(isEnded))).
		WithOptions(options).
		Complete(r)
}

// deletionPause is the time between two looks at a run that is being deleted.
const deletionPause = time.Second

// Reconcile announces the end of a Job whose run is gone, or let go. The Job itself is deleted by its TTL. An operator that restarts
// before that announces it again.
func (r *CleanupJobReconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	job := &batchv1.Job{}
	if err := r.Client.Get(ctx, request.NamespacedName, job); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	run := &v1alpha1.EtcdBenchmark{}
	name := job.Labels[v1alpha1.LabelRunName]
	err := r.Client.Get(ctx, types.NamespacedName{Namespace: job.Namespace, Name: name}, run)
	if client.IgnoreNotFound(err) != nil {
		return ctrl.Result{}, err
	}
	if err == nil && string(run.UID) == job.Labels[v1alpha1.LabelRunUID] {
		switch {
		case run.DeletionTimestamp == nil:
			return ctrl.Result{}, nil
		case controllerutil.ContainsFinalizer(run, v1alpha1.Finalizer):
			// The cache may be behind: no other event would follow when it has seen that the run is let go.
			return ctrl.Result{RequeueAfter: deletionPause}, nil
		}
	}
	reason, note := v1alpha1.ReasonKeysDeleted, fmt.Sprintf("The cleanup Job has deleted what the deleted EtcdBenchmark %s had left.", name)
	if failure := failureOf(job); failure != "" {
		c := lifecycle.Cleanup{Failed: failure}
		explainCleanup(ctx, r.APIReader, job, &c)
		reason, note = v1alpha1.ReasonKeysLeft, fmt.Sprintf("Keys of the deleted EtcdBenchmark %s may be left. %s", name, r.left(ctx, job, c))
	}
	emit(r.Recorder, job, reason == v1alpha1.ReasonKeysLeft, reason, note)
	return ctrl.Result{}, nil
}

// left says why, and what a user does about the keys. It is best effort. The cache lacks the Job's spec.
func (r *CleanupJobReconciler) left(ctx context.Context, job *batchv1.Job, c lifecycle.Cleanup) string {
	live := &batchv1.Job{}
	if err := r.APIReader.Get(ctx, client.ObjectKeyFromObject(job), live); err != nil {
		return c.Failed
	}
	p, err := resources.PlanOf(live)
	if err != nil {
		return c.Failed
	}
	return c.WhyKeysLeft(p.Run.Prefix, p.Run.Leftover(p.Target.Datastore, p.Target.Endpoints))
}
