package resources

import (
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
)

// Limits of the cleanup Job.
const (
	// cleanupSeconds plus one second per cleanupKeysPerSecond keys bound the cleanup Job, so that it fails instead of
	// waiting forever. It suffices for an etcd that takes 100 ms per block of 1,000 keys.
	cleanupSeconds       = 120
	cleanupKeysPerSecond = 4000
	maxCleanupSeconds    = 3600
	// cleanupTTLSeconds removes the Job even if the operator is gone.
	cleanupTTLSeconds = 3600
)

// planAnnotation holds the plan for the cleanup pod.
const planAnnotation = "etcdbench.dev/plan"

// LoadJob returns the Job of the client pods. It is created once and never applied again. A pod that fails only fails
// its index, so the other pods continue and report. All pods accept only the plan of PlanConfigMap. user is the group of volumes
// that the pods measure; 0 leaves it to the cluster.
func LoadJob(run *v1alpha1.EtcdBenchmark, image string, user int64) (*batchv1.Job, error) {
	_, encoded, err := planOf(run)
	if err != nil {
		return nil, err
	}
	pods := run.Resolved().Load.Pods
	return &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{
			Name:            run.LoadJobName(),
			Namespace:       run.Namespace,
			Labels:          Labels(run, v1alpha1.ComponentLoad),
			OwnerReferences: []metav1.OwnerReference{controllerOf(run)},
		},
		Spec: batchv1.JobSpec{
			CompletionMode:       new(batchv1.IndexedCompletion),
			Completions:          &pods,
			Parallelism:          &pods,
			BackoffLimitPerIndex: new(int32(0)),
			// A replacement would share the keys of a deleted pod that is still alive.
			PodReplacementPolicy: new(batchv1.Failed),
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{
					Labels:      podLabels(run, v1alpha1.ComponentLoad),
					Annotations: podAnnotations(run, nil),
				},
				Spec: loadPod(run, image, encoded, user),
			},
		},
	}, nil
}

// CleanupJob returns the Job that deletes the remaining keys. It has no owner, because it must survive the deletion of
// the run. Its plan is in an annotation, because the plan's ConfigMap is deleted with the run.
//
// podTimeout is how long it waits while a client pod shows that it lives. After that it fails at once, and is not repeated.
func CleanupJob(run *v1alpha1.EtcdBenchmark, image string, podTimeout time.Duration) (*batchv1.Job, error) {
	p, encoded, err := planOf(run)
	if err != nil {
		return nil, err
	}
	return &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{
			// The operator sets the name, which it has written into status before.
			GenerateName: run.CleanupJobPrefix(),
			Namespace:    run.Namespace,
			Labels:       Labels(run, v1alpha1.ComponentCleanup),
		},
		Spec: batchv1.JobSpec{
			BackoffLimit: new(int32(2)),
			PodFailurePolicy: &batchv1.PodFailurePolicy{Rules: []batchv1.PodFailurePolicyRule{{
				Action: batchv1.PodFailurePolicyActionFailJob,
				OnExitCodes: &batchv1.PodFailurePolicyOnExitCodesRequirement{
					Operator: batchv1.PodFailurePolicyOnExitCodesOpIn, Values: []int32{plan.ExitStillWrites},
				},
			}}},
			ActiveDeadlineSeconds:   new(cleanupDeadline(p, podTimeout)),
			TTLSecondsAfterFinished: new(int32(cleanupTTLSeconds)),
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{
					Labels:      podLabels(run, v1alpha1.ComponentCleanup),
					Annotations: podAnnotations(run, map[string]string{planAnnotation: string(encoded)}),
				},
				Spec: cleanupPod(run, image, encoded, podTimeout),
			},
		},
	}, nil
}

// PlanOf returns the plan of a cleanup Job.
func PlanOf(cleanup *batchv1.Job) (plan.Plan, error) {
	return plan.Decode([]byte(cleanup.Spec.Template.Annotations[planAnnotation]))
}

// cleanupDeadline returns how many seconds the cleanup Job may take: to wait for pods that may still write, and to delete.
func cleanupDeadline(p plan.Plan, podTimeout time.Duration) int64 {
	deletion := min(cleanupSeconds+max(p.Keys().Count, p.PreloadCount())/cleanupKeysPerSecond, maxCleanupSeconds)
	return deletion + int64((plan.StillFor(p.Load.RequestTimeout())+podTimeout)/time.Second)
}
