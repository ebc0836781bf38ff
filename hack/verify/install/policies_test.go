package install

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	operatorUser = "system:serviceaccount:" + systemName + ":" + operatorName
	managedBy    = "app.kubernetes.io/managed-by"
)

// policies are installed by the first test that needs them.
var policies sync.Once

func withPolicies(t *testing.T) {
	t.Helper()
	policies.Do(func() { installPolicies(t) })
}

// installPolicies installs the chart's policies and waits until the API server
// enforces each.
func installPolicies(t *testing.T) {
	t.Helper()
	admin := clientAs(t, "")
	objects := renderChart(t, "limits.memberImages={"+memberImages+"}")
	for _, kind := range []string{"ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding"} {
		for _, o := range ofKind(objects, kind) {
			create(t, admin, &o)
		}
	}
	namespace := newNamespace(t)
	allowOperator(t, operatorUser, namespace)
	allow(t, "probe", namespace, runRights())
	pod := newPod(namespace, map[string]string{managedBy: operatorName}, nil)
	create(t, admin, pod)
	waitUntilRefused(t, func(ctx context.Context) error {
		return patchPod(ctx, clientAs(t, operatorUser), pod, `{"metadata":{"labels":{"probe":"x"}}}`, client.DryRunAll)
	})
	for _, refused := range []*object{
		newRun(t, namespace, "tls: {secretName: any}", ""),
		newSuite(t, namespace, "", "tls: {secretName: any}"),
		newSuite(t, namespace, "", "auth: {secretName: any}"),
		newSuite(t, namespace, "imagePullSecrets: [{name: any}]", ""),
		newSchedule(t, namespace, "", "tls: {secretName: any}"),
		newSchedule(t, namespace, "", "auth: {secretName: any}"),
		newSchedule(t, namespace, "imagePullSecrets: [{name: any}]", ""),
		newRun(t, namespace, "", "affinity: {podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: zone, namespaceSelector: {}}]}}"),
		ownedBy(newRun(t, namespace, "", ""), suiteOwner("any", "any")),
	} {
		waitUntilRefused(t, func(ctx context.Context) error {
			return clientAs(t, "probe").Create(ctx, refused.DeepCopy(), client.DryRunAll)
		})
	}
	allowWholeOperator(t, namespace)
	for _, refused := range []*object{
		newJob(t, namespace, "hostNetwork: true", ""),
		parse(t, fmt.Sprintf("{apiVersion: v1, kind: ConfigMap, metadata: {namespace: %s, name: any}}", namespace)),
		parse(t, fmt.Sprintf("{apiVersion: v1, kind: Service, metadata: {namespace: %s, name: any}, spec: {ports: [{port: 1}]}}", namespace)),
	} {
		waitUntilRefused(t, func(ctx context.Context) error {
			return clientAs(t, operatorUser).Create(ctx, refused.DeepCopy(), client.DryRunAll)
		})
	}
}

// waitUntilRefused waits until the API server enforces a policy.
func waitUntilRefused(t *testing.T, attempt func(context.Context) error) {
	t.Helper()
	var last error
	err := wait.PollUntilContextTimeout(t.Context(), 100*time.Millisecond, time.Minute, true, func(ctx context.Context) (bool, error) {
		last = attempt(ctx)
		return last != nil && strings.Contains(last.Error(), "ValidatingAdmissionPolicy"), nil
	})
	if err != nil {
		t.Fatalf("the policy is not enforced: %v; last answer: %v", err, last)
	}
}

func TestOnlyReadersOfASecretMayNameIt(t *testing.T) {
	withPolicies(t)
	namespace := newNamespace(t)
	allow(t, "reader", namespace, runRights(), secretRights("client-tls", "user", "registry"))
	allow(t, "half-reader", namespace, runRights(), secretRights("client-tls"))
	allow(t, "no-rights", namespace, runRights())
	allow(t, "collector", namespace, runRights(), secretRights("client-tls", "user", "pull-0", "pull-1", "pull-2", "pull-3", "pull-4", "pull-5", "pull-6", "pull-7"))
	allow(t, "all-verbs", namespace, groupRights())
	allow(t, "operator-elsewhere", namespace, runRights())
	allowOperator(t, "operator-elsewhere", newNamespace(t))
	allowOperator(t, operatorUser, namespace)
	const both = "tls: {secretName: client-tls}, auth: {secretName: user}"
	tests := map[string]struct {
		user, target, pod string
		// wantRefused is the Secret that the refusal must name; empty: allowed.
		wantRefused string
	}{
		"reads both":              {user: "reader", target: both},
		"reads one of two":        {user: "half-reader", target: both, wantRefused: "Secret user "},
		"reads none":              {user: "no-rights", target: "tls: {secretName: client-tls}", wantRefused: "Secret client-tls "},
		"names none":              {user: "no-rights"},
		"pull secret, reads it":   {user: "reader", pod: "imagePullSecrets: [{name: registry}]"},
		"pull secret, may not":    {user: "no-rights", pod: "imagePullSecrets: [{name: registry}]", wantRefused: "Secret registry of namespace " + namespace + ", named in spec.pod.imagePullSecrets[0]: ask"},
		"pull secret of no name":  {user: "no-rights", pod: "imagePullSecrets: [{}]"},
		"the operator's own user": {user: operatorUser, target: both},
		"operator elsewhere only": {user: "operator-elsewhere", target: both, wantRefused: "Secret client-tls "},
		"has all verbs on runs":   {user: "all-verbs", target: both, wantRefused: "Secret client-tls "},
		"as many as there may be": {user: "collector", target: both, pod: pullSecrets(8, "")},
		"an administrator's":      {target: both, pod: pullSecrets(8, "")},
		"all but the last":        {user: "collector", target: both, pod: pullSecrets(7, "private"), wantRefused: "Secret private of namespace " + namespace + ", named in spec.pod.imagePullSecrets[7]: ask"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			run := newRun(t, namespace, tc.target, tc.pod)
			checkRefusal(t, clientAs(t, tc.user).Create(t.Context(), run), tc.wantRefused)
		})
	}
}

// pullSecrets names so many Secrets, and one more if more is set.
func pullSecrets(n int, more string) string {
	var names []string
	for i := range n {
		names = append(names, fmt.Sprintf("{name: pull-%d}", i))
	}
	if more != "" {
		names = append(names, "{name: "+more+"}")
	}
	return "imagePullSecrets: [" + strings.Join(names, ", ") + "]"
}

func TestTheOperatorChangesOnlyItsAnnotations(t *testing.T) {
	withPolicies(t)
	namespace := newNamespace(t)
	allowOperator(t, operatorUser, namespace)
	ours := map[string]string{managedBy: operatorName}
	foreign := map[string]string{managedBy: "another-program"}
	tests := map[string]struct {
		labels      map[string]string
		patch       string
		wantRefused string
	}{
		"adds its annotation":           {ours, `{"metadata":{"annotations":{"etcdbench.dev/start-at":"now"}}}`, ""},
		"replaces its annotation":       {ours, `{"metadata":{"annotations":{"etcdbench.dev/stop":"true"}}}`, ""},
		"removes its annotation":        {ours, `{"metadata":{"annotations":{"etcdbench.dev/stop":null}}}`, ""},
		"pod of another program":        {foreign, `{"metadata":{"annotations":{"etcdbench.dev/stop":"true"}}}`, "own client pods"},
		"pod without labels":            {nil, `{"metadata":{"annotations":{"etcdbench.dev/stop":"true"}}}`, "own client pods"},
		"adds a foreign annotation":     {ours, `{"metadata":{"annotations":{"example.org/x":"1"}}}`, "annotations"},
		"changes a foreign annotation":  {ours, `{"metadata":{"annotations":{"example.org/kept":"2"}}}`, "annotations"},
		"removes a foreign annotation":  {ours, `{"metadata":{"annotations":{"example.org/kept":null}}}`, "annotations"},
		"changes the image":             {ours, `{"spec":{"containers":[{"name":"main","image":"example.org/evil"}]}}`, "spec"},
		"makes a pod its own by label":  {foreign, `{"metadata":{"labels":{"` + managedBy + `":"` + operatorName + `"}}}`, "own client pods"},
		"removes its label":             {ours, `{"metadata":{"labels":{"` + managedBy + `":null}}}`, "labels"},
		"adds a finalizer":              {ours, `{"metadata":{"finalizers":["example.org/x"]}}`, "finalizers"},
		"annotation with a near prefix": {ours, `{"metadata":{"annotations":{"etcdbench.developer/x":"1"}}}`, "annotations"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			pod := newPod(namespace, tc.labels, map[string]string{"etcdbench.dev/stop": "", "example.org/kept": "1"})
			create(t, clientAs(t, ""), pod)
			checkRefusal(t, patchPod(t.Context(), clientAs(t, operatorUser), pod, tc.patch), tc.wantRefused)
		})
	}
}

// A user with all rights also has the verb that identifies the operator.
func TestOthersMayChangePods(t *testing.T) {
	withPolicies(t)
	namespace := newNamespace(t)
	allow(t, "editor", namespace, podRights())
	allow(t, "tenant", namespace, podRights(), rbacv1.PolicyRule{APIGroups: []string{"*"}, Resources: []string{"*"}, Verbs: []string{"*"}})
	for _, user := range []string{"editor", "tenant", ""} {
		pod := newPod(namespace, nil, nil)
		create(t, clientAs(t, ""), pod)
		if err := patchPod(t.Context(), clientAs(t, user), pod, `{"metadata":{"labels":{"a":"b"}}}`); err != nil {
			t.Errorf("%q: %v", user, err)
		}
	}
}

// A kustomize overlay may change the namespace and the names. What the policies allow the operator depends on neither.
func TestAnOverlayKeepsThePolicies(t *testing.T) {
	withPolicies(t)
	namespace := newNamespace(t)
	dir := t.TempDir()
	overlay := "namespace: elsewhere\nnamePrefix: our-\nresources: [" + below(t, dir, "config/default") + "]\n"
	if err := os.WriteFile(filepath.Join(dir, "kustomization.yaml"), []byte(overlay), 0o600); err != nil {
		t.Fatal(err)
	}
	manifests, err := runTool(t, "kustomize", "build", dir)
	if err != nil {
		t.Fatal(err)
	}
	rules := only(t, decode(t, manifests), "ClusterRole", "", "our-"+operatorName)
	role := &rbacv1.ClusterRole{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(rules.Object, role); err != nil {
		t.Fatal(err)
	}
	const user = "system:serviceaccount:elsewhere:our-" + operatorName
	allow(t, user, namespace, role.Rules...)
	pod := newPod(namespace, nil, map[string]string{"example.org/kept": "1"})
	create(t, clientAs(t, ""), pod)
	checkRefusal(t, patchPod(t.Context(), clientAs(t, user), pod, `{"metadata":{"annotations":{"example.org/kept":"2"}}}`), "own client pods")
	child := ownedBy(newRun(t, namespace, "tls: {secretName: client-tls}", ""), suiteOwner("one", "1"))
	checkRefusal(t, clientAs(t, user).Create(t.Context(), child), "")
}

// checkRefusal checks that err is a refusal whose message contains want, or
// nil if want is empty.
func checkRefusal(t *testing.T, err error, want string) {
	t.Helper()
	switch {
	case want == "" && err != nil:
		t.Errorf("refused: %v", err)
	case want != "" && !apierrors.IsForbidden(err):
		t.Errorf("want a refusal with %q, got %v", want, err)
	case want != "" && !strings.Contains(err.Error(), want):
		t.Errorf("the refusal does not contain %q: %v", want, err)
	}
}

func runRights(more ...string) rbacv1.PolicyRule {
	resources := []string{"etcdbenchmarks", "etcdbenchmarksuites", "etcdbenchmarkschedules"}
	return rbacv1.PolicyRule{APIGroups: []string{"etcdbench.dev"}, Resources: resources, Verbs: append([]string{"create"}, more...)}
}

// groupRights are all verbs on runs and suites. One of them is the verb that identifies the operator.
func groupRights() rbacv1.PolicyRule {
	return rbacv1.PolicyRule{APIGroups: []string{"etcdbench.dev"}, Resources: []string{"*"}, Verbs: []string{"*"}}
}

// allowOperator gives a user the right to change pods and runs, and the verb that identifies the operator.
func allowOperator(t *testing.T, user, namespace string) {
	t.Helper()
	allow(t, user, namespace, runRights("create-children", "get", "patch"), podRights())
}

func podRights() rbacv1.PolicyRule {
	return rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"pods"}, Verbs: []string{"get", "patch"}}
}

func secretRights(names ...string) rbacv1.PolicyRule {
	return rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"secrets"}, ResourceNames: names, Verbs: []string{"get"}}
}

func patchPod(ctx context.Context, c client.Client, pod *corev1.Pod, patch string, options ...client.PatchOption) error {
	return c.Patch(ctx, pod.DeepCopy(), client.RawPatch(types.StrategicMergePatchType, []byte(patch)), options...)
}

func newPod(namespace string, labels, annotations map[string]string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{GenerateName: "pod-", Namespace: namespace, Labels: labels, Annotations: annotations},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "example.org/image"}}},
	}
}
