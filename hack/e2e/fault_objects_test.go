//go:build e2e

package e2e

import (
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
)

// objectFaults are changes that users and others make to the run's objects.
func objectFaults() map[string]fault {
	tooEarly := outcome{reason: v1alpha1.ReasonStopped, result: early}
	stopped := outcome{reason: v1alpha1.ReasonStopped, result: partial, reported: []int{0, 1}, counted: true}
	// The load was over, so the stop has only accelerated the deletion of keys.
	measured := outcome{reason: v1alpha1.ReasonCompleted, reported: []int{0, 1}, did: []int{0, 1}, measured: collectingRequests}
	completed := outcome{reason: v1alpha1.ReasonCompleted, counted: true}
	jobless := outcome{reason: v1alpha1.ReasonJobDeleted, result: partial}
	joblessEarly := outcome{reason: v1alpha1.ReasonJobDeleted, result: early}
	gone := map[string]outcome{
		v1alpha1.StageQueued: {}, v1alpha1.StagePreparing: {}, v1alpha1.StageArmed: {},
		v1alpha1.StageRunning: {}, v1alpha1.StageCollecting: {},
	}
	return map[string]fault{
		"stopped": {inject: stop, in: map[string]outcome{
			v1alpha1.StageQueued: tooEarly, v1alpha1.StagePreparing: tooEarly, v1alpha1.StageArmed: tooEarly,
			v1alpha1.StageRunning: stopped, v1alpha1.StageCollecting: measured,
		}},
		"deleted in background": {inject: deleteRun(metav1.DeletePropagationBackground), in: gone},
		"deleted in foreground": {inject: deleteRun(metav1.DeletePropagationForeground), in: gone},
		"load job deleted": {inject: deleteLoadJob, in: map[string]outcome{
			v1alpha1.StagePreparing: joblessEarly, v1alpha1.StageArmed: joblessEarly,
			v1alpha1.StageRunning: jobless, v1alpha1.StageCollecting: jobless,
		}},
		"plan deleted": {inject: deletePlan, in: map[string]outcome{
			v1alpha1.StagePreparing: completed, v1alpha1.StageRunning: completed,
		}},
		"spec patched": {inject: patchSpec, in: map[string]outcome{v1alpha1.StageRunning: completed}},
	}
}

func stop(t *testing.T, v victim) {
	patch := client.RawPatch("application/merge-patch+json", []byte(`{"spec":{"stop":true}}`))
	if err := suite.client.Patch(suite.ctx, v.run.DeepCopy(), patch); err != nil {
		t.Fatal(err)
	}
}

func deleteRun(how metav1.DeletionPropagation) func(*testing.T, victim) {
	return func(t *testing.T, v victim) {
		if err := suite.client.Delete(suite.ctx, v.run.DeepCopy(), client.PropagationPolicy(how)); err != nil {
			t.Fatal(err)
		}
	}
}

func deleteLoadJob(t *testing.T, v victim) {
	job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: v.run.Namespace, Name: v.run.LoadJobName()}}
	if err := suite.client.Delete(suite.ctx, job, client.PropagationPolicy(metav1.DeletePropagationBackground)); err != nil {
		t.Fatal(err)
	}
}

// deletePlan deletes the ConfigMaps of the run; the pods have already read theirs.
func deletePlan(t *testing.T, v victim) {
	if err := suite.client.DeleteAllOf(suite.ctx, &corev1.ConfigMap{}, client.InNamespace(v.run.Namespace),
		client.MatchingLabels{v1alpha1.LabelRunUID: string(v.run.UID)}); err != nil {
		t.Fatal(err)
	}
}

// patchSpec requires the API server to refuse a change of a run's load.
func patchSpec(t *testing.T, v victim) {
	patch := client.RawPatch("application/merge-patch+json", []byte(`{"spec":{"load":{"clients":99}}}`))
	if err := suite.client.Patch(suite.ctx, v.run.DeepCopy(), patch); err == nil {
		t.Fatal("wanted the API server to refuse the changed spec, but it was accepted")
	}
}
