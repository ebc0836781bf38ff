package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	"sigs.k8s.io/yaml"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/apiservertest"
	"github.com/etcdbench/etcd-benchmark-operator/internal/freeport"
	"github.com/etcdbench/etcd-benchmark-operator/internal/namespaces"
)

const (
	root = "../.."
	// asManager makes this test binary the manager: a manager that starts again executes its own file.
	asManager = "ETCDBENCH_TEST_AS_MANAGER"
	user      = "operator"
)

// cluster is a real API server with RBAC.
var cluster struct {
	api client.Client
	// operator and kubeconfig are those of a user without rights of its own.
	operator   *rest.Config
	kubeconfig []byte
}

func TestMain(m *testing.M) {
	lookEvery = 100 * time.Millisecond
	if os.Getenv(asManager) != "" {
		main()
	}
	os.Exit(apiservertest.Run(root, func(env *envtest.Environment, config *rest.Config) int {
		operator, err := env.AddUser(envtest.User{Name: user}, nil)
		if err == nil {
			cluster.operator = operator.Config()
			cluster.kubeconfig, err = operator.KubeConfig()
		}
		if err == nil {
			cluster.api, err = client.New(config, client.Options{Scheme: newScheme()})
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		return m.Run()
	}))
}

// process is a manager that runs as a process of its own.
type process struct {
	own, url string
	log      *bytes.Buffer
}

// startManager starts a manager in its own namespace, with the rights that the chart gives it there.
func startManager(t *testing.T, args ...string) process {
	t.Helper()
	folder, own := t.TempDir(), newNamespace(t, "")
	allow(t, own, []rbacv1.PolicyRule{
		{APIGroups: []string{"coordination.k8s.io"}, Resources: []string{"leases"}, Verbs: []string{"create", "get", "list", "watch", "update", "patch"}},
		{APIGroups: []string{"events.k8s.io"}, Resources: []string{"events"}, Verbs: []string{"create", "patch"}},
	})
	kubeconfig := filepath.Join(folder, "kubeconfig")
	addresses, err := freeport.Addresses(1)
	if err = cmp.Or(err, os.WriteFile(kubeconfig, cluster.kubeconfig, 0o600)); err != nil {
		t.Fatal(err)
	}
	p := process{own: own, url: "http://" + addresses[0], log: &bytes.Buffer{}}
	command := exec.Command(os.Args[0], append(args, "--kubeconfig="+kubeconfig, "--client-image=example.org/loadgen:v1",
		"--leader-elect", "--leader-election-namespace="+own, "--metrics-bind-address=0", "--health-probe-bind-address="+addresses[0])...)
	command.Env, command.Stderr = append(os.Environ(), asManager+"=1"), p.log
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = command.Process.Kill()
		_ = command.Wait()
		if t.Failed() {
			t.Log(p.log.String())
		}
	})
	return p
}

func await(t *testing.T, what string, holds func(context.Context) bool) {
	t.Helper()
	err := wait.PollUntilContextTimeout(t.Context(), 100*time.Millisecond, time.Minute, true, func(ctx context.Context) (bool, error) { return holds(ctx), nil })
	if err != nil {
		t.Fatalf("wanted %s within a minute", what)
	}
}

// readiness is the status of the readiness probe; 0 if the manager does not answer.
func (p process) readiness() int {
	response, err := http.Get(p.url + "/readyz")
	if err != nil {
		return 0
	}
	response.Body.Close()
	return response.StatusCode
}

// leftOut reports whether an event names a namespace that the manager leaves out.
func (p process) leftOut(ctx context.Context, namespace string) bool {
	list := &eventsv1.EventList{}
	if err := cluster.api.List(ctx, list, client.InNamespace(p.own)); err != nil {
		return false
	}
	for _, e := range list.Items {
		if e.Reason == "NamespaceLeftOut" && strings.Contains(e.Note, namespace) {
			return true
		}
	}
	return false
}

func newNamespace(t *testing.T, name string) string {
	t.Helper()
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
	if name == "" {
		ns.GenerateName = "manager-"
	}
	if err := cluster.api.Create(t.Context(), ns); err != nil {
		t.Fatal(err)
	}
	return ns.Name
}

// operatorRules are the operator's rights, as the chart grants them.
func operatorRules(t *testing.T) []rbacv1.PolicyRule {
	t.Helper()
	role := &rbacv1.ClusterRole{}
	text, err := os.ReadFile(root + "/config/rbac/role.yaml")
	if err = cmp.Or(err, yaml.Unmarshal(text, role)); err != nil {
		t.Fatal(err)
	}
	return role.Rules
}

// allow gives the operator rights in a namespace, and returns what takes them away.
func allow(t *testing.T, namespace string, rules []rbacv1.PolicyRule) (withdraw func()) {
	t.Helper()
	name := metav1.ObjectMeta{Name: "operator", Namespace: namespace}
	binding := &rbacv1.RoleBinding{
		ObjectMeta: name, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: name.Name},
		Subjects: []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: user}},
	}
	for _, o := range []client.Object{&rbacv1.Role{ObjectMeta: name, Rules: rules}, binding} {
		if err := cluster.api.Create(t.Context(), o); err != nil {
			t.Fatal(err)
		}
	}
	return func() {
		t.Helper()
		if err := cluster.api.Delete(t.Context(), binding); err != nil {
			t.Fatal(err)
		}
	}
}

// awaitHandled creates a run and waits until the operator has seen it.
func awaitHandled(t *testing.T, namespace, name string) {
	t.Helper()
	run := &v1alpha1.EtcdBenchmark{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}, Spec: v1alpha1.EtcdBenchmarkSpec{
		Target: v1alpha1.Target{Endpoints: []string{"127.0.0.1:2379"}}, Workload: spec.Workload{Type: spec.WorkloadPut, Put: &spec.Put{}},
		Load: spec.Load{Requests: new(int64(1))},
	}}
	if err := cluster.api.Create(t.Context(), run); err != nil {
		t.Fatal(err)
	}
	await(t, "the operator to handle the run "+namespace+"/"+name, func(ctx context.Context) bool {
		err := cluster.api.Get(ctx, client.ObjectKeyFromObject(run), run)
		return err == nil && run.Status.StartTime != nil
	})
}

// TestANamespaceThatTheOperatorMayNotRead: the operator works in the others. It takes the namespace in when it may read it,
// and leaves it out again when it may not.
func TestANamespaceThatTheOperatorMayNotRead(t *testing.T) {
	readable := newNamespace(t, "")
	missing := readable + "-later"
	allow(t, readable, operatorRules(t))
	p := startManager(t, "--namespaces="+missing+","+readable)
	awaitHandled(t, readable, "first")
	await(t, "the operator to be ready", func(context.Context) bool { return p.readiness() == http.StatusOK })
	await(t, "an event about the namespace that is left out", func(ctx context.Context) bool { return p.leftOut(ctx, missing) })

	newNamespace(t, missing)
	withdraw := allow(t, missing, operatorRules(t))
	awaitHandled(t, missing, "second")

	withdraw()
	if err := cluster.api.DeleteAllOf(t.Context(), &eventsv1.Event{}, client.InNamespace(p.own)); err != nil {
		t.Fatal(err)
	}
	await(t, "an event about the namespace that is left out again", func(ctx context.Context) bool { return p.leftOut(ctx, missing) })
	awaitHandled(t, readable, "third")
}

// TestAnOperatorThatMayReadNothingIsNotReady, and becomes ready by itself when it may.
func TestAnOperatorThatMayReadNothingIsNotReady(t *testing.T) {
	for name, limited := range map[string]bool{"in its namespaces": true, "in the cluster": false} {
		t.Run(name, func(t *testing.T) {
			namespace, args := newNamespace(t, ""), []string(nil)
			if limited {
				args = []string{"--namespaces=" + namespace}
			}
			p := startManager(t, args...)
			await(t, "the operator to answer", func(context.Context) bool { return p.readiness() != 0 })
			if got := p.readiness(); got == http.StatusOK {
				t.Errorf("an operator that may read nothing is ready: %d", got)
			}
			if limited {
				allow(t, namespace, operatorRules(t))
				await(t, "the operator to be ready", func(context.Context) bool { return p.readiness() == http.StatusOK })
			}
		})
	}
}

// TestRightsThatEndDuringTheStart: the cache waits for a namespace that was readable a moment ago.
func TestRightsThatEndDuringTheStart(t *testing.T) {
	own, namespace := newNamespace(t, ""), newNamespace(t, "")
	o := options{clientImage: "i", metricsAddress: "0", probeAddress: "0", leaderElect: true, leaderElectionNamespace: own, namespaces: []string{namespace}, workers: 1}
	s, err := lookAt(t.Context(), cluster.operator, o.namespaces)
	if err != nil || s.Refused[namespace] == nil {
		t.Fatalf("wanted the namespace refused, found %v and %+v", err, s.View)
	}
	refused := s
	s.View = namespaces.View{Readable: []string{namespace}}
	// The names of controllers can be used once in a process.
	m, err := ctrl.NewManager(cluster.operator, managerOptions(o, s))
	if err != nil {
		t.Fatal(err)
	}
	isReady, err := syncedOf(m.GetCache())
	if err != nil {
		t.Fatal(err)
	}
	for want, is := range map[float64]scope{0: refused, 1: s} {
		is.announce(m, o)
		if got := testutil.ToFloat64(namespaceReadable.WithLabelValues(namespace)); got != want {
			t.Errorf("found %v in the metric of %+v, wanted %v", got, is.View, want)
		}
	}
	if err := s.run(t.Context(), m, isReady); !errors.Is(err, errNamespacesChanged) {
		t.Errorf("wanted another start, found %v", err)
	}
}
