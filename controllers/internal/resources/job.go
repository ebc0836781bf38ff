package resources

import (
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
)

// Of the cleanup Job.
const (
	// cleanupSeconds, and a second more for so many keys, bound it, so that it
	// fails rather than waits for ever. Even an etcd that takes 100 ms for each
	// block of 1,000 keys is done by then.
	cleanupSeconds       = 120
	cleanupKeysPerSecond = 4000
	maxCleanupSeconds    = 3600
	// cleanupTTLSeconds removes it even if the operator is gone for good.
	cleanupTTLSeconds = 3600
)

// planAnnotation carries the plan to the cleanup pod.
const planAnnotation = "etcdbench.dev/plan"

// LoadJob returns the Job of the client pods. It is created once and never
// applied again. A pod that fails fails its index only: the others go on and
// report, and all take the plan of PlanConfigMap alone.
func LoadJob(run *v1alpha1.EtcdBenchmark, image string) (*batchv1.Job, error) {
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
			// While a deleted pod still lives, a second one would share its keys.
			PodReplacementPolicy: new(batchv1.Failed),
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{
					Labels:      podLabels(run, v1alpha1.ComponentLoad),
					Annotations: podAnnotations(nil),
				},
				Spec: loadPod(run, image, encoded),
			},
		},
	}, nil
}

// CleanupJob returns the Job that deletes the keys that client pods left. It
// has no owner: deleting the run must not delete what cleans up after it. Its
// plan comes as an annotation, for the plan's ConfigMap goes with the run.
func CleanupJob(run *v1alpha1.EtcdBenchmark, image string) (*batchv1.Job, error) {
	p, encoded, err := planOf(run)
	if err != nil {
		return nil, err
	}
	return &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{
			Name:      run.CleanupJobName(),
			Namespace: run.Namespace,
			Labels:    Labels(run, v1alpha1.ComponentCleanup),
		},
		Spec: batchv1.JobSpec{
			BackoffLimit:            new(int32(2)),
			ActiveDeadlineSeconds:   new(min(cleanupSeconds+p.Keys().Count/cleanupKeysPerSecond, maxCleanupSeconds)),
			TTLSecondsAfterFinished: new(int32(cleanupTTLSeconds)),
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{
					Labels:      podLabels(run, v1alpha1.ComponentCleanup),
					Annotations: podAnnotations(map[string]string{planAnnotation: string(encoded)}),
				},
				Spec: cleanupPod(run, image, encoded),
			},
		},
	}, nil
}
