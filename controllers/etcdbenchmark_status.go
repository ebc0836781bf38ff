package controllers

import (
	"cmp"
	"context"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/benchmark"
	"github.com/etcdbench/etcd-benchmark-operator/internal/lifecycle"
	"github.com/etcdbench/etcd-benchmark-operator/internal/suite"
	"github.com/etcdbench/etcd-benchmark-operator/internal/text"
)

// nextStatus returns the complete status after the decision. The report of a finishing run is written before status, so
// that status never names a missing report.
func (r *EtcdBenchmarkReconciler) nextStatus(ctx context.Context, o lifecycle.Observed, d lifecycle.Decision, made jobs, now time.Time) (*v1alpha1.EtcdBenchmarkStatus, error) {
	run := o.Run.DeepCopy()
	s := &run.Status
	s.Job = cmp.Or(made.load, s.Job)
	if made.members != nil {
		s.Ephemeral = &v1alpha1.EphemeralStatus{Job: *made.members, ClassUnread: o.Members.ClassUnread}
	}
	if made.load != nil && run.Spec.Target.Disk != nil && s.Target != nil {
		s.Target.ClassUnread = o.Members.ClassUnread
	}
	s.CleanupJob = cmp.Or(made.cleanup, s.CleanupJob)
	recent := r.sightings.recent(run)
	sum := lifecycle.SetStatus(run, o, d, recent, now)
	if run.HasFinished() {
		*recent = benchmark.Recent{}
	}
	if d.Finish != nil && s.Summary != nil && suite.WantsReport(run) {
		return s, r.keepReport(ctx, run, o, sum, now)
	}
	return s, nil
}

// writeStatus writes only changes, and only if the object is unchanged since it was read: a start must never replace
// one that this reconcile has not seen.
func (r *EtcdBenchmarkReconciler) writeStatus(ctx context.Context, run *v1alpha1.EtcdBenchmark, status *v1alpha1.EtcdBenchmarkStatus) error {
	if equality.Semantic.DeepEqual(run.Status, *status) {
		return nil
	}
	err := r.patchStatus(ctx, run, status)
	if apierrors.IsInvalid(err) || isTooLarge(err) {
		dropResults(status, err)
		err = r.patchStatus(ctx, run, status)
	}
	// The object may be gone with its finalizer.
	return client.IgnoreNotFound(err)
}

func (r *EtcdBenchmarkReconciler) patchStatus(ctx context.Context, run *v1alpha1.EtcdBenchmark, status *v1alpha1.EtcdBenchmarkStatus) error {
	after := run.DeepCopy()
	status.DeepCopyInto(&after.Status)
	written, err := patchStatus(ctx, r.Client, after, run.DeepCopy())
	if err != nil {
		return err
	}
	written.DeepCopyInto(run)
	return nil
}

// patchStatus writes the status of an object, unless somebody has changed the object since before was read. It returns
// the object as the API server has it then; after stays as it is.
func patchStatus[T client.Object](ctx context.Context, c client.Client, after, before T) (T, error) {
	written := after.DeepCopyObject().(T)
	lock := client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})
	return written, c.Status().Patch(ctx, written, lock, fieldOwner)
}

// dropResults removes results that the API server refuses as part of the status, so that the run can finish. Client
// pods of this version do not send such results.
func dropResults(s *v1alpha1.EtcdBenchmarkStatus, cause error) {
	s.Progress, s.Summary, s.RequestCounts, s.Objectives, s.Guard, s.Display = nil, nil, nil, nil, nil, nil
	if s.Target != nil {
		s.Target.Members = nil
	}
	for i, p := range s.Pods {
		s.Pods[i] = v1alpha1.PodStatus{Index: p.Index, Name: p.Name, Node: p.Node, KeysDeleted: p.KeysDeleted}
	}
	meta.RemoveStatusCondition(&s.Conditions, v1alpha1.ConditionPassed)
	finished := meta.FindStatusCondition(s.Conditions, v1alpha1.ConditionFinished)
	if finished == nil || finished.Reason != v1alpha1.ReasonCompleted && finished.Reason != v1alpha1.ReasonPartlyCompleted {
		return
	}
	finished.Reason = v1alpha1.ReasonInvalidPlan
	finished.Message = text.Shorten("The API server refused a status with the results of the client pods. "+
		"Check that the client pods and the operator have the same version. The error: "+cause.Error(), v1alpha1.MaxPodMessageLength)
	stalled := *finished
	stalled.Type = v1alpha1.ConditionStalled
	meta.SetStatusCondition(&s.Conditions, stalled)
}
