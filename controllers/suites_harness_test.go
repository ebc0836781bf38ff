package controllers

import (
	"context"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
)

// suiteHarness is a namespace with one suite. The test plays the controller of EtcdBenchmarks.
type suiteHarness struct {
	t     *testing.T
	api   client.Client
	suite *v1alpha1.EtcdBenchmarkSuite
	stop  func()
	// ended are the runs whose end the test has played.
	ended map[string]bool
}

// newSuiteHarness starts a controller of suites and creates a suite of two cells and two rounds.
func newSuiteHarness(t *testing.T, changes ...func(*v1alpha1.EtcdBenchmarkSuite)) *suiteHarness {
	t.Helper()
	t.Parallel()
	h := &suiteHarness{t: t, api: cluster.api, suite: &v1alpha1.EtcdBenchmarkSuite{}, ended: map[string]bool{}}
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "suite-"}}
	h.must(h.api.Create(t.Context(), ns))
	h.suite.Namespace, h.suite.Name = ns.Name, "nightly"
	h.suite.Spec = v1alpha1.EtcdBenchmarkSuiteSpec{
		Targets:   []v1alpha1.SuiteTarget{{Name: "etcd", Target: v1alpha1.Target{Endpoints: []string{"http://127.0.0.1:2379"}}}},
		Workloads: []v1alpha1.SuiteWorkload{{Name: "put", Workload: spec.Workload{Type: spec.WorkloadPut, Put: &spec.Put{}}}},
		Rounds:    2,
	}
	for _, clients := range []int32{1, 10} {
		load := spec.Load{Clients: clients, Requests: new(int64(100))}
		h.suite.Spec.Loads = append(h.suite.Spec.Loads, v1alpha1.SuiteLoad{Name: v1alpha1.EntryName(fmt.Sprint("c", clients)), Load: load})
	}
	for _, change := range changes {
		change(h.suite)
	}
	h.restart()
	return h
}

func (h *suiteHarness) create() *suiteHarness {
	h.t.Helper()
	h.must(h.api.Create(h.t.Context(), h.suite))
	return h
}

// restart ends the controller, if it is running, and starts another one. The functions change its client.
func (h *suiteHarness) restart(changes ...func(*EtcdBenchmarkSuiteReconciler)) {
	h.t.Helper()
	if h.stop != nil {
		h.stop()
	}
	m, err := ctrl.NewManager(cluster.config, ctrl.Options{
		Scheme: cluster.scheme, Cache: CacheOptions([]string{h.suite.Namespace}), Metrics: metricsserver.Options{BindAddress: "0"},
	})
	h.must(err)
	r := NewEtcdBenchmarkSuiteReconciler(m)
	for _, change := range changes {
		change(r)
	}
	h.must(r.SetupWithManager(m, controller.Options{SkipNameValidation: new(true)}))
	h.stop = runManager(h.t, m)
}

func (h *suiteHarness) must(err error) {
	h.t.Helper()
	if err != nil {
		h.t.Fatal(err)
	}
}

func (h *suiteHarness) status() v1alpha1.EtcdBenchmarkSuiteStatus {
	h.t.Helper()
	h.must(h.api.Get(h.t.Context(), client.ObjectKeyFromObject(h.suite), h.suite))
	return h.suite.Status
}

func (h *suiteHarness) await(what string, holds func() bool) {
	h.t.Helper()
	err := wait.PollUntilContextTimeout(h.t.Context(), poll, maxWait, true, func(context.Context) (bool, error) { return holds(), nil })
	if err != nil {
		h.t.Fatalf("wanted %s within %s, found status %+v", what, maxWait, h.status())
	}
}

// awaitFinished waits for the end, and returns the condition.
func (h *suiteHarness) awaitFinished(reason string) metav1.Condition {
	h.t.Helper()
	h.await("Finished by "+reason, func() bool {
		c := meta.FindStatusCondition(h.status().Conditions, v1alpha1.ConditionFinished)
		return c.Status == metav1.ConditionTrue && c.Reason == reason
	})
	return *meta.FindStatusCondition(h.suite.Status.Conditions, v1alpha1.ConditionFinished)
}

// next waits for the next run, and returns it.
func (h *suiteHarness) next() *v1alpha1.EtcdBenchmark {
	h.t.Helper()
	run := &v1alpha1.EtcdBenchmark{}
	h.await("a run that has not finished", func() bool {
		name := h.status().Current
		return name != "" && !h.ended[name] && h.api.Get(h.t.Context(), client.ObjectKey{Namespace: h.suite.Namespace, Name: name}, run) == nil
	})
	return run
}

// finish plays the end of a run.
func (h *suiteHarness) finish(run *v1alpha1.EtcdBenchmark, reason string, changes ...func(*v1alpha1.EtcdBenchmarkStatus)) {
	h.t.Helper()
	h.ended[run.Name] = true
	before := run.DeepCopy()
	now := metav1.Now()
	run.Status.Conditions = []metav1.Condition{
		{Type: v1alpha1.ConditionFinished, Status: metav1.ConditionTrue, Reason: reason, Message: "The run ended.", LastTransitionTime: now},
		{Type: v1alpha1.ConditionCleaned, Status: metav1.ConditionTrue, Reason: v1alpha1.ReasonKeysDeleted, LastTransitionTime: now},
	}
	if reason == v1alpha1.ReasonCompleted {
		run.Status.Summary = &v1alpha1.Summary{
			Fingerprint: &v1alpha1.Fingerprint{ID: "usual", Client: "usual"},
			Transport:   spec.TransportClient, MeasuredRequests: 100, ThroughputPerSecond: "1000",
			Operations: []v1alpha1.OperationSummary{{Operation: spec.OperationPut, Succeeded: 100, ThroughputPerSecond: "1000"}},
		}
	}
	for _, change := range changes {
		change(&run.Status)
	}
	h.must(h.api.Status().Patch(h.t.Context(), run, client.MergeFrom(before)))
}

func (h *suiteHarness) runs() []v1alpha1.EtcdBenchmark {
	h.t.Helper()
	list := &v1alpha1.EtcdBenchmarkList{}
	h.must(h.api.List(h.t.Context(), list, client.InNamespace(h.suite.Namespace)))
	return list.Items
}

func (h *suiteHarness) change(o client.Object, f func()) {
	h.t.Helper()
	h.must(h.api.Get(h.t.Context(), client.ObjectKeyFromObject(o), o))
	before := o.DeepCopyObject().(client.Object)
	f()
	h.must(h.api.Patch(h.t.Context(), o, client.MergeFrom(before)))
}

func names(results []v1alpha1.SuiteResult) (out []string) {
	for _, r := range results {
		out = append(out, strings.TrimSpace(r.Name+" "+r.Reason))
	}
	return out
}

// newSuiteHarnessOf makes another suite in a namespace that has a controller already.
func newSuiteHarnessOf(t *testing.T, namespace, name string) *suiteHarness {
	first := &suiteHarness{t: t, api: cluster.api, suite: &v1alpha1.EtcdBenchmarkSuite{}, ended: map[string]bool{}}
	template := &v1alpha1.EtcdBenchmarkSuite{}
	first.must(first.api.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: "nightly"}, template))
	first.suite.Namespace, first.suite.Name, first.suite.Spec = namespace, name, template.Spec
	return first
}
