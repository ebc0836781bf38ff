package install

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const strictMode = "admissionPolicies.strictSecrets=true"

// strictLabel marks the namespaces of the tests of strict mode: the other tests of this package run without it.
const strictLabel = "test/strict"

// strictPolicies are installed by the first test that needs them.
var strictPolicies sync.Once

// newStrictNamespace makes a namespace in which strict mode applies, and in which the operator has its rights.
func newStrictNamespace(t *testing.T) string {
	t.Helper()
	withPolicies(t)
	namespace := newNamespace(t)
	label := client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"labels":{"`+strictLabel+`":"true"}}}`))
	if err := clientAs(t, "").Patch(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}, label); err != nil {
		t.Fatal(err)
	}
	allowWholeOperator(t, namespace)
	strictPolicies.Do(func() { installStrictMode(t, namespace) })
	return namespace
}

// installStrictMode installs the policies that the chart adds in strict mode, and waits until each is enforced.
func installStrictMode(t *testing.T, namespace string) {
	t.Helper()
	isStrict := func(o object) bool { return strings.Contains(o.GetName(), "-strict-") }
	for _, kind := range []string{"ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding"} {
		for _, o := range ofKind(renderChart(t, strictMode), kind) {
			if !isStrict(o) {
				continue
			}
			if kind == "ValidatingAdmissionPolicyBinding" {
				if err := unstructured.SetNestedField(o.Object, "true", "spec", "matchResources", "namespaceSelector", "matchLabels", strictLabel); err != nil {
					t.Fatal(err)
				}
			}
			create(t, clientAs(t, ""), &o)
		}
	}
	for _, o := range []*object{
		newJob(t, namespace, "volumes: [{name: v, secret: {secretName: any}}]", ""),
		newRun(t, namespace, "tls: {secretName: any}", ""),
		newSuite(t, namespace, "", "tls: {secretName: any}"),
		newSuite(t, namespace, "", "auth: {secretName: any}"),
		newSuite(t, namespace, "imagePullSecrets: [{name: any}]", ""),
	} {
		waitUntilRefused(t, func(ctx context.Context) error {
			return clientAs(t, operatorUser).Create(ctx, o.DeepCopy(), client.DryRunAll)
		})
	}
}

// allowClients gives the service account of client pods the right to get Secrets.
func allowClients(t *testing.T, namespace string, names ...string) {
	t.Helper()
	// The first rule only shows when the role is effective.
	seen := rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"configmaps"}, Verbs: []string{"get"}}
	allow(t, "system:serviceaccount:"+namespace+":etcdbench-client", namespace, seen, secretRights(names...))
}

const mayNotGet = "the service account etcdbench-client may not get Secret private of namespace "

// With the identity of the operator, an object may name a Secret only if the service account etcdbench-client may get it.
func TestStrictModeRefusesOtherSecrets(t *testing.T) {
	namespace := newStrictNamespace(t)
	allowClients(t, namespace, "shared", "user")
	allow(t, "system:serviceaccount:"+namespace+":other", namespace, runRights(), secretRights("private"))
	job := func(pod string) *object { return newJob(t, namespace, pod, "") }
	run := func(target, pod string) *object {
		return ownedBy(newRun(t, namespace, target, pod), suiteOwner("one", "1"))
	}
	suite := func(pod string, targets ...string) *object {
		return ownedBy(newSuite(t, namespace, pod, targets...), controllerOf("EtcdBenchmarkSchedule", "one", "1"))
	}
	const both = "tls: {secretName: shared}, auth: {secretName: user}"
	tests := map[string]struct {
		object *object
		want   string
	}{
		"a Job without a Secret":         {job(""), ""},
		"a Job":                          {job("volumes: [{name: a, secret: {secretName: shared}}, {name: b, secret: {secretName: user}}, {name: c, configMap: {name: plan}}]"), ""},
		"a Job, another Secret":          {job("volumes: [{name: a, secret: {secretName: shared}}, {name: b, secret: {secretName: private}}]"), mayNotGet + namespace + ", named in spec.template.spec: give"},
		"a Job, to pull its image":       {job("imagePullSecrets: [{name: shared}]"), ""},
		"a Job, another to pull it":      {job("imagePullSecrets: [{name: shared}, {name: private}]"), mayNotGet},
		"a run":                          {run(both, "imagePullSecrets: [{name: shared}]"), ""},
		"a run, another certificate":     {run("tls: {secretName: private}", ""), mayNotGet + namespace + ", named in spec.target.tls: give"},
		"a run, another user":            {run("auth: {secretName: private}", ""), mayNotGet + namespace + ", named in spec.target.auth: give"},
		"a run, another to pull from":    {run("", "imagePullSecrets: [{name: private}]"), mayNotGet + namespace + ", named in spec.pod.imagePullSecrets[0]: give"},
		"a suite":                        {suite("imagePullSecrets: [{name: shared}]", both, ""), ""},
		"a suite, another certificate":   {suite("", both, "tls: {secretName: private}"), mayNotGet + namespace + ", named in spec.targets[1].target.tls: give"},
		"a suite, another user":          {suite("", both, "auth: {secretName: private}"), mayNotGet + namespace + ", named in spec.targets[1].target.auth: give"},
		"a suite, another to pull from":  {suite("imagePullSecrets: [{name: private}]", ""), mayNotGet + namespace + ", named in spec.template.pod.imagePullSecrets[0]: give"},
		"a run of no suite, another one": {newRun(t, namespace, "tls: {secretName: private}", ""), mayNotGet},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			checkCreation(t, tc.object, tc.want)
		})
	}
}

// The right of the service account counts in its own namespace only.
func TestStrictModeAsksInTheNamespace(t *testing.T) {
	namespace, elsewhere := newStrictNamespace(t), newStrictNamespace(t)
	allowClients(t, elsewhere, "private")
	allow(t, "system:serviceaccount:"+elsewhere+":etcdbench-client", namespace, runRights(), secretRights("private"))
	for _, o := range []*object{newJob(t, namespace, "volumes: [{name: a, secret: {secretName: private}}]", ""), newRun(t, namespace, "tls: {secretName: private}", "")} {
		checkRefusal(t, clientAs(t, operatorUser).Create(t.Context(), o, client.DryRunAll), mayNotGet)
	}
}

// TestStrictModeChecksTheLargestObjects shows that each Secret is checked, and that the policies keep the cost limits of
// the API server.
func TestStrictModeChecksTheLargestObjects(t *testing.T) {
	namespace := newStrictNamespace(t)
	targets, pulls := suiteLists(t)
	tls, auth, pull := longNames("tls", targets), longNames("auth", targets), longNames("pull", pulls)
	var all []string
	for _, names := range [][]string{tls, auth, pull} {
		all = append(all, names[:len(names)-1]...)
	}
	allowClients(t, namespace, all...)
	rename := func(names []string, last string) []string {
		return append(slices.Clone(names[:len(names)-1]), last)
	}
	for last, want := range map[string]string{all[0]: "", "private": mayNotGet} {
		for _, list := range []string{"tls", "auth", "pull"} {
			lists := map[string][]string{"tls": rename(tls, all[0]), "auth": rename(auth, all[0]), "pull": rename(pull, all[0])}
			lists[list] = rename(lists[list], last)
			checkLargest(t, namespace, lists["tls"], lists["auth"], lists["pull"], want)
		}
	}
	var more []string
	for i, name := range all[:11] {
		more = append(more, fmt.Sprintf("{name: v%d, secret: {secretName: %s}}", i, name))
	}
	job := newJob(t, namespace, "volumes: ["+strings.Join(more, ", ")+"]", "")
	checkRefusal(t, clientAs(t, operatorUser).Create(t.Context(), job, client.DryRunAll), "name at most 10 Secrets")
}

// checkLargest tries a suite with all these Secrets, and a run and a Job with the last of each list.
func checkLargest(t *testing.T, namespace string, tls, auth, pull []string, want string) {
	t.Helper()
	var targets, pulls []string
	for i := range tls {
		targets = append(targets, fmt.Sprintf("tls: {secretName: %s}, auth: {secretName: %s}", tls[i], auth[i]))
	}
	for _, name := range pull {
		pulls = append(pulls, "{name: "+name+"}")
	}
	pod := "imagePullSecrets: [" + strings.Join(pulls, ", ") + "]"
	last := len(tls) - 1
	volumes := fmt.Sprintf(", volumes: [{name: a, secret: {secretName: %s}}, {name: b, secret: {secretName: %s}}]", tls[last], auth[last])
	for _, o := range []*object{newSuite(t, namespace, pod, targets...), newRun(t, namespace, targets[last], pod), newJob(t, namespace, pod+volumes, "")} {
		checkRefusal(t, clientAs(t, operatorUser).Create(t.Context(), o, client.DryRunAll), want)
	}
}
