package controllers

import (
	"context"
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
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

// Reconcile announces the end of a Job whose run is gone. The Job itself is deleted by its TTL. An operator that restarts
// before that announces it again.
func (r *CleanupJobReconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	job := &batchv1.Job{}
	if err := r.Client.Get(ctx, request.NamespacedName, job); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	run := &v1alpha1.EtcdBenchmark{}
	name := job.Labels[v1alpha1.LabelRunName]
	err := r.Client.Get(ctx, types.NamespacedName{Namespace: job.Namespace, Name: name}, run)
	if client.IgnoreNotFound(err) != nil || err == nil && string(run.UID) == job.Labels[v1alpha1.LabelRunUID] {
		return ctrl.Result{}, err
	}
	reason, note := v1alpha1.ReasonKeysDeleted, fmt.Sprintf("The cleanup Job has deleted what the deleted EtcdBenchmark %s had left.", name)
	if failure := failureOf(job); failure != "" {
		c := lifecycle.Cleanup{Failed: failure}
		explainCleanup(ctx, r.APIReader, job, &c)
		reason, note = v1alpha1.ReasonKeysLeft, fmt.Sprintf("Keys of the deleted EtcdBenchmark %s may be left: %s. %s", name, c.Failed, r.advice(ctx, job))
	}
	emit(r.Recorder, job, reason == v1alpha1.ReasonKeysLeft, reason, note)
	return ctrl.Result{}, nil
}

// advice returns what a user does about the keys. It is best effort. The cache lacks the Job's spec.
func (r *CleanupJobReconciler) advice(ctx context.Context, job *batchv1.Job) string {
	live := &batchv1.Job{}
	if err := r.APIReader.Get(ctx, client.ObjectKeyFromObject(job), live); err != nil {
		return ""
	}
	p, err := resources.PlanOf(live)
	if err != nil {
		return ""
	}
	return p.Run.Leftover(p.Target.Datastore, p.Target.Endpoints).String()
}
