package uninstall_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/apiservertest"
	"github.com/etcdbench/etcd-benchmark-operator/internal/uninstall"
)

// api is a client of a real API server, and config its configuration.
var (
	api    client.WithWatch
	config *rest.Config
)

func TestMain(m *testing.M) {
	os.Exit(withAPIServer(m.Run))
}

func withAPIServer(run func() int) int {
	return apiservertest.Run(filepath.Join("..", ".."), func(_ *envtest.Environment, started *rest.Config) int {
		config = started
		// As in ctrl.GetConfig.
		config.QPS = -1
		scheme := runtime.NewScheme()
		_ = clientgoscheme.AddToScheme(scheme)
		_ = v1alpha1.AddToScheme(scheme)
		var err error
		if api, err = client.NewWithWatch(config, client.Options{Scheme: scheme}); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		return run()
	})
}

func TestReleaseWaitsForTheOperator(t *testing.T) {
	ctx := t.Context()
	namespace := newNamespace(t)
	going := createRun(t, namespace, "going", true)
	log := &bytes.Buffer{}
	released := make(chan error, 1)
	go func() { released <- runs(log, namespace).Release(ctx, time.Minute) }()

	waitUntil(t, going, "stopped", func() bool { return going.Spec.Stop })
	finish(t, going)
	removeFinalizer(t, going)

	if err := <-released; err != nil {
		t.Fatal(err)
	}
	if got := log.String(); strings.Contains(got, "not cleaned") {
		t.Errorf("a run that was cleaned is reported as not cleaned:\n%s", got)
	}
}

func TestReleaseRemovesTheFinalizerWithoutTheOperator(t *testing.T) {
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

// What the cleanup has found is said, instead of a command that it speaks against.
func TestReleaseSaysWhatTheCleanupHasFound(t *testing.T) {
	namespace := newNamespace(t)
	spared := createRun(t, namespace, "spared", true)
	meta.SetStatusCondition(&spared.Status.Conditions, metav1.Condition{
		Type: v1alpha1.ConditionCleaned, Status: metav1.ConditionFalse, Reason: v1alpha1.ReasonKeysLeft, Message: "There are keys of others.",
	})
	finish(t, spared)
	log := &bytes.Buffer{}
	if err := runs(log, namespace).Release(t.Context(), 100*time.Millisecond); err != nil {
		t.Fatal(err)
	}
	if got := log.String(); !strings.Contains(got, "keys of others") || strings.Contains(got, "kubectl") {
		t.Errorf("found the log\n%s", got)
	}
}

// A run that violates a rule newer than itself cannot be changed any more.
func TestReleaseContinuesIfARunCannotBeStopped(t *testing.T) {
	namespace := newNamespace(t)
	old, young := createRun(t, namespace, "a-old", true), createRun(t, namespace, "b-young", true)
	log := &bytes.Buffer{}
	release := runs(log, namespace)
	release.Client = interceptor.NewClient(api, interceptor.Funcs{
		Patch: func(ctx context.Context, c client.WithWatch, o client.Object, patch client.Patch, options ...client.PatchOption) error {
			if b, is := o.(*v1alpha1.EtcdBenchmark); is && b.Spec.Stop && b.Name == old.Name {
				return apierrors.NewInvalid(v1alpha1.GroupVersion.WithKind("EtcdBenchmark").GroupKind(), b.Name, nil)
			}
			return c.Patch(ctx, o, patch, options...)
		},
	})

	if err := release.Release(t.Context(), 300*time.Millisecond); err != nil {
		t.Fatal(err)
	}

	for _, b := range []*v1alpha1.EtcdBenchmark{old, young} {
		get(t, b)
		if controllerutil.ContainsFinalizer(b, v1alpha1.Finalizer) || b.Spec.Stop != (b == young) {
			t.Errorf("%s: stop is %v and the finalizers are %v, wanted it stopped if possible, and released", b.Name, b.Spec.Stop, b.Finalizers)
		}
	}
	if got := strings.Count(log.String(), "cannot be stopped, because the API server refuses the change"); got != 1 {
		t.Errorf("the log reports the refused stop %d times, wanted once:\n%s", got, log)
	}
}

// An API server that does not answer takes no time from what follows: each request ends with the time of its part.
func TestReleaseWhileTheAPIServerHangs(t *testing.T) {
	for name, tc := range map[string]struct {
		hangs func(*v1alpha1.EtcdBenchmark) bool
		left  bool
	}{
		"for stops":   {func(b *v1alpha1.EtcdBenchmark) bool { return b.Spec.Stop && len(b.Finalizers) > 0 && b.Generation == 1 }, false},
		"for release": {func(*v1alpha1.EtcdBenchmark) bool { return true }, true},
	} {
		t.Run(name, func(t *testing.T) {
			namespace := newNamespace(t)
			all := []*v1alpha1.EtcdBenchmark{createRun(t, namespace, "a", true), createRun(t, namespace, "b", true), createRun(t, namespace, "c", true)}
			log, hung := &bytes.Buffer{}, 0
			release := runs(log, namespace)
			release.Retry = 3 * time.Second
			release.Client = interceptor.NewClient(api, interceptor.Funcs{
				Patch: func(ctx context.Context, c client.WithWatch, o client.Object, patch client.Patch, options ...client.PatchOption) error {
					if !tc.hangs(o.(*v1alpha1.EtcdBenchmark)) {
						return c.Patch(ctx, o, patch, options...)
					}
					hung++
					if _, ends := ctx.Deadline(); !ends {
						return errors.New("the request would last beyond the time")
					}
					<-ctx.Done()
					return ctx.Err()
				},
			})
			err := release.Release(t.Context(), 300*time.Millisecond)
			if tc.left != (err != nil) || tc.left && !strings.Contains(err.Error(), namespace+"/a") {
				t.Errorf("finalizers left: %v, found the error %v", tc.left, err)
			}
			if want := map[bool]int{false: 1, true: 2}[tc.left]; hung != want {
				t.Errorf("%d requests hung, wanted one in each part: %d", hung, want)
			}
			for _, b := range all {
				if get(t, b); controllerutil.ContainsFinalizer(b, v1alpha1.Finalizer) != tc.left {
					t.Errorf("%s has the finalizers %v", b.Name, b.Finalizers)
				}
			}
			if strings.Contains(log.String(), "trying again") {
				t.Errorf("the end of the time is logged as a failure:\n%s", log)
			}
		})
	}
}

// A failure with one object is tried again, and delays no other.
func TestReleaseTriesEachObjectAlone(t *testing.T) {
	conflict := apierrors.NewConflict(v1alpha1.GroupVersion.WithResource("etcdbenchmarks").GroupResource(), "a", nil)
	for name, tc := range map[string]struct {
		// fails decides which patches of the run a fail.
		fails func(n int) bool
		left  bool
	}{
		"at first": {func(n int) bool { return n <= 5 }, false},
		"always":   {func(int) bool { return true }, true},
	} {
		t.Run(name, func(t *testing.T) {
			namespace := newNamespace(t)
			runsOf := []*v1alpha1.EtcdBenchmark{createRun(t, namespace, "a", true), createRun(t, namespace, "b", true)}
			lists, patches := 0, 0
			release := runs(&bytes.Buffer{}, namespace)
			release.Retry = 2 * time.Second
			release.Client = interceptor.NewClient(api, interceptor.Funcs{
				List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
					if lists++; lists <= 4 {
						return apierrors.NewInternalError(errors.New("etcdserver: leader changed"))
					}
					return c.List(ctx, list, options...)
				},
				Patch: func(ctx context.Context, c client.WithWatch, o client.Object, patch client.Patch, options ...client.PatchOption) error {
					if o.GetName() != "a" {
						return c.Patch(ctx, o, patch, options...)
					}
					if patches++; tc.fails(patches) {
						return conflict
					}
					return c.Patch(ctx, o, patch, options...)
				},
			})

			err := release.Release(t.Context(), 200*time.Millisecond)
			if tc.left != (err != nil) || tc.left && !strings.Contains(err.Error(), namespace+"/a") {
				t.Errorf("finalizers left: %v, found the error %v", tc.left, err)
			}
			for _, b := range runsOf {
				get(t, b)
				if held := controllerutil.ContainsFinalizer(b, v1alpha1.Finalizer); held != (tc.left && b.Name == "a") || b.Name == "b" && !b.Spec.Stop {
					t.Errorf("%s: stopped %v, finalizers %v", b.Name, b.Spec.Stop, b.Finalizers)
				}
			}
		})
	}
}

// The operator still works, and writes the progress of runs.
func TestReleaseOfARunThatChanges(t *testing.T) {
	namespace := newNamespace(t)
	busy := createRun(t, namespace, "busy", true)
	release := runs(&bytes.Buffer{}, namespace)
	release.Client = interceptor.NewClient(api, interceptor.Funcs{
		Patch: func(ctx context.Context, c client.WithWatch, o client.Object, patch client.Patch, options ...client.PatchOption) error {
			get(t, busy)
			busy.Status.ObservedGeneration++
			if err := api.Status().Update(t.Context(), busy); err != nil {
				t.Error(err)
			}
			return c.Patch(ctx, o, patch, options...)
		},
	})
	if err := release.Release(t.Context(), 100*time.Millisecond); err != nil {
		t.Error(err)
	}
	if get(t, busy); controllerutil.ContainsFinalizer(busy, v1alpha1.Finalizer) {
		t.Error("the finalizer is still there")
	}
}

// A namespace that was deleted is not readable, because the operator's role was deleted with it.
func TestReleaseLeavesOutANamespaceThatItMayNotRead(t *testing.T) {
	namespace := newNamespace(t)
	stuck := createRun(t, namespace, "stuck", true)
	log := &bytes.Buffer{}
	release := runs(log, "deleted-namespace", namespace)
	release.Client = operatorOf(t, namespace)
	if err := release.Release(t.Context(), 100*time.Millisecond); err != nil {
		t.Error(err)
	}
	if get(t, stuck); controllerutil.ContainsFinalizer(stuck, v1alpha1.Finalizer) {
		t.Error("the finalizer in the readable namespace is still there")
	}
	if got := strings.Count(log.String(), "deleted-namespace, because the operator may not read it"); got != 1 {
		t.Errorf("the log names the namespace %d times, wanted once:\n%s", got, log)
	}
}

// operatorOf returns a client with rights in one namespace only.
func operatorOf(t *testing.T, namespace string) client.Client {
	t.Helper()
	impersonating := rest.CopyConfig(config)
	impersonating.Impersonate.UserName = "operator"
	name := metav1.ObjectMeta{Namespace: namespace, Name: "operator"}
	for _, o := range []client.Object{
		&rbacv1.Role{ObjectMeta: name, Rules: []rbacv1.PolicyRule{{APIGroups: []string{v1alpha1.GroupVersion.Group}, Resources: []string{"*"}, Verbs: []string{"list", "patch"}}}},
		&rbacv1.RoleBinding{
			ObjectMeta: name, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: name.Name},
			Subjects: []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: "operator"}},
		},
	} {
		if err := api.Create(t.Context(), o); err != nil {
			t.Fatal(err)
		}
	}
	c, err := client.New(impersonating, client.Options{Scheme: api.Scheme()})
	if err != nil {
		t.Fatal(err)
	}
	err = wait.PollUntilContextTimeout(t.Context(), 20*time.Millisecond, time.Minute, true, func(ctx context.Context) (bool, error) {
		return c.List(ctx, &v1alpha1.EtcdBenchmarkList{}, client.InNamespace(namespace)) == nil, nil
	})
	if err != nil {
		t.Fatal("the rights are not effective")
	}
	return c
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
		t.Error("a finished run was stopped")
	}
}

func runs(log *bytes.Buffer, namespaces ...string) uninstall.Runs {
	return uninstall.Runs{Client: api, Namespaces: namespaces, Poll: 20 * time.Millisecond, Retry: 10 * time.Second, Log: log}
}

func newNamespace(t *testing.T) string {
	t.Helper()
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "uninstall-"}}
	if err := api.Create(t.Context(), namespace); err != nil {
		t.Fatal(err)
	}
	return namespace.Name
}

// A suite creates runs, so it is stopped too, and awaited.
// A schedule is suspended before suites are stopped, so that it starts no other one.
func TestReleaseStopsSuites(t *testing.T) {
	namespace := newNamespace(t)
	requests := int64(1)
	suite := &v1alpha1.EtcdBenchmarkSuite{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "nightly"}, Spec: v1alpha1.EtcdBenchmarkSuiteSpec{
		Targets:   []v1alpha1.SuiteTarget{{Name: "etcd", Target: v1alpha1.Target{Endpoints: []string{"127.0.0.1:2379"}}}},
		Workloads: []v1alpha1.SuiteWorkload{{Name: "put", Workload: spec.Workload{Type: spec.WorkloadPut, Put: &spec.Put{}}}},
		Loads:     []v1alpha1.SuiteLoad{{Name: "one", Load: spec.Load{Requests: &requests}}},
	}}
	schedule := &v1alpha1.EtcdBenchmarkSchedule{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "nightly"}, Spec: v1alpha1.EtcdBenchmarkScheduleSpec{
		Schedule: "0 3 * * *", SuiteTemplate: v1alpha1.SuiteTemplateSpec{Spec: *suite.Spec.DeepCopy()},
	}}
	for _, o := range []client.Object{suite, schedule} {
		if err := api.Create(t.Context(), o); err != nil {
			t.Fatal(err)
		}
	}
	released := make(chan error, 1)
	go func() { released <- runs(&bytes.Buffer{}, namespace).Release(t.Context(), time.Minute) }()
	err := wait.PollUntilContextTimeout(t.Context(), 20*time.Millisecond, 30*time.Second, true, func(ctx context.Context) (bool, error) {
		err := api.Get(ctx, client.ObjectKeyFromObject(suite), suite)
		return suite.Spec.Stop, err
	})
	if err != nil {
		t.Fatalf("the suite was not stopped: %v", err)
	}
	if err := api.Get(t.Context(), client.ObjectKeyFromObject(schedule), schedule); err != nil || !schedule.Spec.Suspend {
		t.Errorf("the schedule was not suspended: %v", err)
	}
	select {
	case err := <-released:
		t.Errorf("released before the suite had ended: %v", err)
	default:
	}
	meta.SetStatusCondition(&suite.Status.Conditions, metav1.Condition{Type: v1alpha1.ConditionFinished, Status: metav1.ConditionTrue, Reason: v1alpha1.ReasonStopped})
	if err := api.Status().Update(t.Context(), suite); err != nil {
		t.Fatal(err)
	}
	if err := <-released; err != nil {
		t.Error(err)
	}
}

func createRun(t *testing.T, namespace, name string, hasFinalizer bool) *v1alpha1.EtcdBenchmark {
	t.Helper()
	requests := int64(1)
	b := &v1alpha1.EtcdBenchmark{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec: v1alpha1.EtcdBenchmarkSpec{
			Target:   v1alpha1.Target{Endpoints: []string{"127.0.0.1:2379"}},
			Workload: spec.Workload{Type: spec.WorkloadPut, Put: &spec.Put{Keys: spec.Keys{Count: 1, SizeBytes: 8}}},
			Load:     spec.Load{Requests: &requests},
		},
	}
	if hasFinalizer {
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
