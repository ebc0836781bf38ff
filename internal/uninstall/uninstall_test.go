package uninstall_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/uninstall"
)

// api is a client of a real API server.
var api client.Client

func TestMain(m *testing.M) {
	os.Exit(withAPIServer(m.Run))
}

func withAPIServer(run func() int) int {
	env := &envtest.Environment{
		CRDDirectoryPaths:     []string{filepath.Join("..", "..", "config", "crd", "bases")},
		ErrorIfCRDPathMissing: true,
	}
	config, err := env.Start()
	if err != nil {
		fmt.Fprintln(os.Stderr, "starting an API server (`make test` builds it and sets KUBEBUILDER_ASSETS):", err)
		return 1
	}
	defer func() { _ = env.Stop() }()
	scheme := runtime.NewScheme()
	_ = clientgoscheme.AddToScheme(scheme)
	_ = v1alpha1.AddToScheme(scheme)
	if api, err = client.New(config, client.Options{Scheme: scheme}); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return run()
}

func TestReleaseWaitsForTheOperator(t *testing.T) {
	ctx := t.Context()
	namespace := newNamespace(t)
	going := createRun(t, namespace, "going", true)
	log := &bytes.Buffer{}
	released := make(chan error, 1)
	go func() { released <- runs(log, namespace).Release(ctx, time.Minute) }()

	waitUntil(t, going, "asked to stop", func() bool { return going.Spec.Stop })
	finish(t, going)
	removeFinalizer(t, going)

	if err := <-released; err != nil {
		t.Fatal(err)
	}
	if got := log.String(); strings.Contains(got, "not cleaned") {
		t.Errorf("a run that was cleaned is reported as not cleaned:\n%s", got)
	}
}

func TestReleaseTakesTheFinalizerWhenTheOperatorIsSilent(t *testing.T) {
	namespace := newNamespace(t)
	stuck := createRun(t, namespace, "stuck", true)
	log := &bytes.Buffer{}

	if err := runs(log, namespace).Release(t.Context(), 300*time.Millisecond); err != nil {
		t.Fatal(err)
	}

	get(t, stuck)
	if controllerutil.ContainsFinalizer(stuck, v1alpha1.Finalizer) {
		t.Error("the finalizer is still there: the object could never be deleted")
	}
	if !strings.Contains(log.String(), stuck.KeyPrefix()) {
		t.Errorf("log does not name the prefix %q:\n%s", stuck.KeyPrefix(), log)
	}
}

func TestReleaseLeavesOthersAlone(t *testing.T) {
	ours, theirs := newNamespace(t), newNamespace(t)
	foreign := createRun(t, theirs, "foreign", true)
	finished := createRun(t, ours, "finished", false)
	finish(t, finished)

	if err := runs(&bytes.Buffer{}, ours).Release(t.Context(), time.Minute); err != nil {
		t.Fatal(err)
	}

	get(t, foreign)
	if foreign.Spec.Stop || !controllerutil.ContainsFinalizer(foreign, v1alpha1.Finalizer) {
		t.Errorf("a run of another namespace was changed: stop=%v finalizers=%v", foreign.Spec.Stop, foreign.Finalizers)
	}
	get(t, finished)
	if finished.Spec.Stop {
		t.Error("a finished run was told to stop")
	}
}

func runs(log *bytes.Buffer, namespaces ...string) uninstall.Runs {
	return uninstall.Runs{Client: api, Namespaces: namespaces, Poll: 20 * time.Millisecond, Log: log}
}

func newNamespace(t *testing.T) string {
	t.Helper()
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "uninstall-"}}
	if err := api.Create(t.Context(), namespace); err != nil {
		t.Fatal(err)
	}
	return namespace.Name
}

func createRun(t *testing.T, namespace, name string, holdsKeys bool) *v1alpha1.EtcdBenchmark {
	t.Helper()
	requests := int64(1)
	b := &v1alpha1.EtcdBenchmark{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec: v1alpha1.EtcdBenchmarkSpec{
			Target:   v1alpha1.Target{Endpoints: []string{"127.0.0.1:2379"}},
			Workload: v1alpha1.Workload{Type: v1alpha1.WorkloadPut, Put: &v1alpha1.PutWorkload{KeySize: 8, Keys: v1alpha1.KeySpace{Count: 1}}},
			Load:     v1alpha1.Load{Requests: &requests},
		},
	}
	if holdsKeys {
		controllerutil.AddFinalizer(b, v1alpha1.Finalizer)
	}
	if err := api.Create(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	return b
}

func finish(t *testing.T, b *v1alpha1.EtcdBenchmark) {
	t.Helper()
	meta.SetStatusCondition(&b.Status.Conditions, metav1.Condition{
		Type: v1alpha1.ConditionFinished, Status: metav1.ConditionTrue, Reason: v1alpha1.ReasonStopped,
	})
	if err := api.Status().Update(t.Context(), b); err != nil {
		t.Fatal(err)
	}
}

func removeFinalizer(t *testing.T, b *v1alpha1.EtcdBenchmark) {
	t.Helper()
	controllerutil.RemoveFinalizer(b, v1alpha1.Finalizer)
	if err := api.Update(t.Context(), b); err != nil {
		t.Fatal(err)
	}
}

func get(t *testing.T, b *v1alpha1.EtcdBenchmark) {
	t.Helper()
	if err := api.Get(t.Context(), client.ObjectKeyFromObject(b), b); err != nil {
		t.Fatal(err)
	}
}

func waitUntil(t *testing.T, b *v1alpha1.EtcdBenchmark, what string, seen func() bool) {
	t.Helper()
	err := wait.PollUntilContextTimeout(t.Context(), 20*time.Millisecond, 30*time.Second, true, func(ctx context.Context) (bool, error) {
		err := api.Get(ctx, client.ObjectKeyFromObject(b), b)
		return seen(), err
	})
	if err != nil {
		t.Fatalf("run %s was not %s: %v", b.Name, what, err)
	}
}
