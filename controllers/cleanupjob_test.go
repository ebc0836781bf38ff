package controllers

import (
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/controllers/internal/resources"
)

// TestAJobThatEndsWhileItsRunIsBeingDeleted: the reconcile that the Job's end triggers still sees the run. The result is
// announced once the run is gone, or held by the finalizer of others alone.
func TestAJobThatEndsWhileItsRunIsBeingDeleted(t *testing.T) {
	t.Parallel()
	for name, other := range map[string]string{"gone": "", "let go": "example.org/other"} {
		t.Run(name, func(t *testing.T) {
			s := &harness{t: t, api: cluster.api}
			ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "run-"}}
			s.must(s.api.Create(t.Context(), ns))
			s.run = newRun(ns.Name, "put", func(run *v1alpha1.EtcdBenchmark) {
				run.Finalizers = []string{v1alpha1.Finalizer}
				if other != "" {
					run.Finalizers = append(run.Finalizers, other)
				}
			})
			s.must(s.api.Create(t.Context(), s.run))
			s.run.Status.Target = &v1alpha1.TargetStatus{Endpoints: s.run.Spec.Target.Endpoints}
			job, err := resources.CleanupJob(s.run, "example.org/loadgen:v1", 0)
			s.must(err)
			s.must(s.api.Create(t.Context(), job))
			s.endJob(job, batchv1.JobStatus{Succeeded: 1})
			recorder := events.NewFakeRecorder(1)
			r := &CleanupJobReconciler{Client: s.api, APIReader: s.api, Recorder: recorder}
			request := ctrl.Request{NamespacedName: client.ObjectKeyFromObject(job)}
			if got, err := r.Reconcile(t.Context(), request); err != nil || got.RequeueAfter != 0 || len(recorder.Events) != 0 {
				t.Errorf("found %+v, %v and %d events for a run that is not being deleted", got, err, len(recorder.Events))
			}
			s.must(s.api.Delete(t.Context(), s.run))
			if got, err := r.Reconcile(t.Context(), request); err != nil || got.RequeueAfter == 0 || len(recorder.Events) != 0 {
				t.Errorf("found %+v, %v and %d events, wanted another look at the run", got, err, len(recorder.Events))
			}
			s.change(func(run *v1alpha1.EtcdBenchmark) { controllerutil.RemoveFinalizer(run, v1alpha1.Finalizer) })
			if got, err := r.Reconcile(t.Context(), request); err != nil || got.RequeueAfter != 0 || len(recorder.Events) != 1 {
				t.Errorf("found %+v, %v and %d events, wanted the result", got, err, len(recorder.Events))
			}
		})
	}
}
