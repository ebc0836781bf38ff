package controllers

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/etcdbench/etcd-benchmark-operator/internal/lifecycle"
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
)

// An operator that was stopped for a while, and does not know yet that another one leads, must not replace the start that
// pods have got meanwhile: some of them have read it.
func TestAnOldOperatorDoesNotReplaceAStart(t *testing.T) {
	s := newHarness(t)
	s.playPreparing()
	const newer = "2030-01-02T03:04:05Z"
	s.restart(func(r *EtcdBenchmarkReconciler) {
		r.Client = faultyClient{r.Client, func(o client.Object) error {
			if at := o.GetAnnotations()[plan.AnnotationStartAt]; at != "" && at != newer {
				s.annotate(o.GetName(), newer)
			}
			return nil
		}}
	})
	s.playReady()
	s.await("a start on every pod", func() bool { return s.allHave(plan.AnnotationStartAt) })
	for _, a := range s.pods {
		if got := a.seen().Annotations[plan.AnnotationStartAt]; got != newer {
			t.Errorf("the start of a pod was replaced by %s", got)
		}
	}
}

// annotate gives a pod a start, as another operator does.
func (s *harness) annotate(name, at string) {
	s.t.Helper()
	for _, a := range s.pods {
		if a.pod.Name == name {
			pod := a.seen()
			before := pod.DeepCopy()
			metav1.SetMetaDataAnnotation(&pod.ObjectMeta, plan.AnnotationStartAt, at)
			s.must(s.api.Patch(s.t.Context(), pod, client.MergeFrom(before)))
		}
	}
}

// The kubelet writes the status of a pod at any time: the pod gets its start in the same step.
func TestAPodThatHasChangedGetsItsStart(t *testing.T) {
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", GenerateName: "changed-"},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "loadgen", Image: "loadgen"}}},
	}
	if err := cluster.api.Create(t.Context(), pod); err != nil {
		t.Fatal(err)
	}
	known := lifecycle.Pod{Name: pod.Name, UID: pod.UID, Version: pod.ResourceVersion}
	pod.Status.Phase = corev1.PodRunning
	if err := cluster.api.Status().Update(t.Context(), pod); err != nil {
		t.Fatal(err)
	}
	start := lifecycle.Action{Act: lifecycle.Start, Pod: pod.Name, Annotations: map[string]string{plan.AnnotationStartAt: "now"}}
	r := &EtcdBenchmarkReconciler{Client: cluster.api, APIReader: cluster.api}
	for _, tc := range []struct {
		uid  types.UID
		want string
	}{{"that of an earlier pod", ""}, {pod.UID, "now"}} {
		known.UID = tc.uid
		if err := r.tellPod(t.Context(), pod.Namespace, known, start); err != nil {
			t.Fatal(err)
		}
		if err := cluster.api.Get(t.Context(), client.ObjectKeyFromObject(pod), pod); err != nil {
			t.Fatal(err)
		}
		if got := pod.Annotations[plan.AnnotationStartAt]; got != tc.want {
			t.Errorf("the pod known by the UID %s has the start %q, wanted %q", tc.uid, got, tc.want)
		}
	}
}
