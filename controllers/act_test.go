package controllers

import (
	"context"
	"errors"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/lifecycle"
)

// refusing is a reconciler whose API server refuses to change objects with these names. A real API server would refuse
// all pods of the client, or none.
func refusing(t *testing.T, name string, objects ...client.Object) (*EtcdBenchmarkReconciler, *events.FakeRecorder) {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := errors.Join(clientgoscheme.AddToScheme(scheme), v1alpha1.AddToScheme(scheme)); err != nil {
		t.Fatal(err)
	}
	patch := func(ctx context.Context, c client.WithWatch, o client.Object, p client.Patch, opts ...client.PatchOption) error {
		if o.GetName() == name {
			return errors.New("refused")
		}
		return c.Patch(ctx, o, p, opts...)
	}
	recorder := events.NewFakeRecorder(10)
	return &EtcdBenchmarkReconciler{
		Client:   fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).WithInterceptorFuncs(interceptor.Funcs{Patch: patch}).Build(),
		Recorder: recorder,
	}, recorder
}

func TestAFailedAnnotationDoesNotStopTheOthers(t *testing.T) {
	names := []string{"first", "second", "third"}
	var pods []client.Object
	var decision lifecycle.Decision
	for _, name := range names {
		pods = append(pods, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}})
		decision.Actions = append(decision.Actions, lifecycle.Action{Act: lifecycle.Annotate, Pod: name, Annotations: map[string]string{"mark": "yes"}})
	}
	r, _ := refusing(t, "first", pods...)
	run := &v1alpha1.EtcdBenchmark{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "run"}}
	if _, err := r.act(t.Context(), lifecycle.Observed{Run: run}, decision); err == nil {
		t.Error("wanted the error of the first pod, found none")
	}
	var list corev1.PodList
	if err := r.Client.List(t.Context(), &list); err != nil {
		t.Fatal(err)
	}
	var annotated []string
	for _, pod := range list.Items {
		if pod.Annotations["mark"] != "" {
			annotated = append(annotated, pod.Name)
		}
	}
	if !slices.Equal(annotated, names[1:]) {
		t.Errorf("%v have the annotation, wanted %v", annotated, names[1:])
	}
}

// The operator may end, or the write of status may be refused, after the finalizer is removed.
func TestNotesAreRecordedBeforeTheObjectIsReleased(t *testing.T) {
	run := &v1alpha1.EtcdBenchmark{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "run", Finalizers: []string{v1alpha1.Finalizer}}}
	r, recorder := refusing(t, "run", run)
	_, err := r.act(t.Context(), lifecycle.Observed{Run: run}, lifecycle.Decision{
		Actions: []lifecycle.Action{{Act: lifecycle.RemoveFinalizer}},
		Notes:   []lifecycle.Note{{Reason: v1alpha1.ReasonKeysLeft, Message: "Keys may be left."}},
	})
	if err == nil || len(recorder.Events) != 1 {
		t.Errorf("wanted an error and one event, found %v and %d", err, len(recorder.Events))
	}
}
