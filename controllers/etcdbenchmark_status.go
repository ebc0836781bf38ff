package controllers

import (
	"cmp"
	"context"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/benchmark"
	"github.com/etcdbench/etcd-benchmark-operator/internal/lifecycle"
	"github.com/etcdbench/etcd-benchmark-operator/internal/render"
	"github.com/etcdbench/etcd-benchmark-operator/internal/text"
	"github.com/etcdbench/etcd-benchmark-operator/internal/verdict"
)

// nextStatus returns the complete status after the decision. The report of a finishing run is written first, so that
// status never names a missing report.
func (r *EtcdBenchmarkReconciler) nextStatus(ctx context.Context, o lifecycle.Observed, d lifecycle.Decision, made jobs, now time.Time) (*v1alpha1.EtcdBenchmarkStatus, error) {
	run := o.Run.DeepCopy()
	keepDecision(run, d, made, now)
	if isFinished(run) {
		r.recent.forget(client.ObjectKeyFromObject(run))
		setCleaned(run, d.Cleaned, now)
		return &run.Status, nil
	}
	summary := keepResults(run, o, d.Finish, now)
	r.recent.update(run, snapshotsOf(o.Pods))
	if d.Finish == nil {
		setStage(run, d, now)
	} else {
		if wantsReport(run, *d.Finish, now) {
			if err := r.keepReport(ctx, run, o, summary, now); err != nil {
				return nil, err
			}
		}
		setFinished(run, *d.Finish, now)
		setCleaned(run, d.Cleaned, now)
	}
	run.Status.Display = render.Display(run)
	return &run.Status, nil
}

// keepDecision copies the decision's values into status.
func keepDecision(run *v1alpha1.EtcdBenchmark, d lifecycle.Decision, made jobs, now time.Time) {
	s := &run.Status
	s.ObservedGeneration = run.Generation
	if s.StartTime == nil {
		s.StartTime = &metav1.Time{Time: now.Truncate(time.Second)}
		s.CreatedVersion = run.ResourceVersion
		// The CRD's default conditions mean that the run has not been seen; their time is 1970.
		s.Conditions = nil
	}
	run.KeepResolved()
	if len(d.Endpoints) > 0 {
		s.Target = benchmark.TargetStatus(run, d.Endpoints, nil)
		s.Target.Nodes, s.Target.NotReady = d.Nodes, int32(d.NotReady)
	}
	s.Queue = d.Queue
	if d.Admission != nil {
		s.Admission = d.Admission
	}
	s.Job = cmp.Or(made.load, s.Job)
	s.CleanupJob = cmp.Or(made.cleanup, s.CleanupJob)
	if d.StartAt != nil {
		s.StartAt = d.StartAt
	}
	if s.Ending == nil {
		s.Ending = d.Ending
	}
}

func isFinished(run *v1alpha1.EtcdBenchmark) bool {
	return meta.IsStatusConditionTrue(run.Status.Conditions, v1alpha1.ConditionFinished)
}

func setStage(run *v1alpha1.EtcdBenchmark, d lifecycle.Decision, now time.Time) {
	setCondition(run, v1alpha1.ConditionFinished, metav1.ConditionFalse, d.Stage, d.Message, now)
	setCondition(run, v1alpha1.ConditionReconciling, metav1.ConditionTrue, d.Stage, d.Message, now)
}

func setFinished(run *v1alpha1.EtcdBenchmark, p lifecycle.Problem, now time.Time) {
	s := &run.Status
	s.CompletionTime = &metav1.Time{Time: now.Truncate(time.Second)}
	s.Progress = nil
	p.Message = benchmark.EndingMessage(run, p.Reason, p.Message)
	setCondition(run, v1alpha1.ConditionFinished, metav1.ConditionTrue, p.Reason, p.Message, now)
	meta.RemoveStatusCondition(&s.Conditions, v1alpha1.ConditionReconciling)
	if verdict.CouldNotRun(p.Reason) {
		setCondition(run, v1alpha1.ConditionStalled, metav1.ConditionTrue, p.Reason, p.Message, now)
	}
}

func setCleaned(run *v1alpha1.EtcdBenchmark, c *lifecycle.Cleaned, now time.Time) {
	if c != nil {
		setCondition(run, v1alpha1.ConditionCleaned, c.Status, c.Reason, c.Message, now)
	}
}

func setCondition(run *v1alpha1.EtcdBenchmark, kind string, status metav1.ConditionStatus, reason, message string, now time.Time) {
	benchmark.SetCondition(&run.Status.Conditions, metav1.Condition{Type: kind, Status: status, Reason: reason, Message: message}, run.Generation, now)
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
