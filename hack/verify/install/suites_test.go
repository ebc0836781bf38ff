package install

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// suiteLists returns how many targets and imagePullSecrets the CRD admits in a suite.
func suiteLists(t *testing.T) (targets, pulls int) {
	t.Helper()
	rendered := only(t, renderChart(t), "CustomResourceDefinition", "", "etcdbenchmarksuites.etcdbench.dev")
	crd := &apiextensionsv1.CustomResourceDefinition{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(rendered.Object, crd); err != nil {
		t.Fatal(err)
	}
	spec := crd.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"].Properties
	pod := spec["template"].Properties["pod"].Properties
	return int(*spec["targets"].MaxItems), int(*pod["imagePullSecrets"].MaxItems)
}

// longNames returns the longest possible names of n Secrets.
func longNames(kind string, n int) (names []string) {
	for i := range n {
		name := fmt.Sprintf("%s-%d-", kind, i)
		names = append(names, name+strings.Repeat("x", 253-len(name)))
	}
	return names
}

// TestEverySecretOfTheLargestSuiteIsChecked, in a suite and in a schedule, also shows that the policies keep the cost limits of the API server: it admits
// such a suite.
func TestEverySecretOfTheLargestSuiteIsChecked(t *testing.T) {
	withPolicies(t)
	namespace := newNamespace(t)
	targets, pulls := suiteLists(t)
	tls, auth, pull := longNames("tls", targets), longNames("auth", targets), longNames("pull", pulls)
	all := slices.Concat(tls, auth, pull)
	var entries, pullEntries []string
	for i := range targets {
		entries = append(entries, fmt.Sprintf("tls: {secretName: %s}, auth: {secretName: %s}", tls[i], auth[i]))
	}
	for _, name := range pull {
		pullEntries = append(pullEntries, "{name: "+name+"}")
	}
	pod := "imagePullSecrets: [" + strings.Join(pullEntries, ", ") + "]"
	for kind, holder := range holders {
		lists := map[string][]string{holder.at + ".targets[%d].target.tls": tls, holder.at + ".targets[%d].target.auth": auth, holder.at + ".template.pod.imagePullSecrets[%d]": pull}
		// wantRefused are the users, each with the message that the user must get; empty: allowed.
		wantRefused := map[string]string{"": "", "reads-all": ""}
		allow(t, "reads-all", namespace, runRights(), secretRights(all...))
		for field, names := range lists {
			for _, i := range []int{0, len(names) - 1} {
				path := fmt.Sprintf(field, i)
				user := "reads-all-but-" + path
				allow(t, user, namespace, runRights(), secretRights(slices.DeleteFunc(slices.Clone(all), func(name string) bool { return name == names[i] })...))
				wantRefused[user] = user + " may not get Secret " + names[i] + " of namespace " + namespace + ", named in " + path + ": ask"
			}
		}
		for user, want := range wantRefused {
			t.Run(kind+" as "+user, func(t *testing.T) {
				checkRefusal(t, clientAs(t, user).Create(t.Context(), holder.make(t, namespace, pod, entries...)), want)
			})
		}
	}
}

func TestOnlyReadersOfASecretMayNameItInASuite(t *testing.T) {
	withPolicies(t)
	namespace := newNamespace(t)
	allow(t, "reader", namespace, runRights(), secretRights("client-tls", "user", "registry"))
	allow(t, "half-reader", namespace, runRights(), secretRights("client-tls"))
	allow(t, "all-verbs", namespace, groupRights())
	allowOperator(t, operatorUser, namespace)
	const tls, both, registry = "tls: {secretName: client-tls}", "tls: {secretName: client-tls}, auth: {secretName: user}", "imagePullSecrets: [{name: registry}]"
	tests := map[string]struct {
		user, pod string
		targets   []string
		// wantRefused is a part of the refusal; empty: allowed.
		wantRefused string
	}{
		"reads all":                  {user: "reader", pod: registry, targets: []string{tls, both}},
		"reads one of two":           {user: "half-reader", targets: []string{tls, both}, wantRefused: "Secret user of namespace " + namespace + ", named in spec.targets[1].target.auth: ask"},
		"reads no pull secret":       {user: "half-reader", pod: registry, targets: []string{tls}, wantRefused: "Secret registry of namespace " + namespace + ", named in spec.template.pod.imagePullSecrets[0]: ask"},
		"names none":                 {user: "all-verbs", targets: []string{"", ""}},
		"pull secret of no name":     {user: "all-verbs", pod: "imagePullSecrets: [{}]", targets: []string{""}},
		"has all verbs on suites":    {user: "all-verbs", targets: []string{"", tls}, wantRefused: "Secret client-tls of namespace " + namespace + ", named in spec.targets[1].target.tls: ask"},
		"all verbs, a pull secret":   {user: "all-verbs", pod: registry, targets: []string{""}, wantRefused: "Secret registry "},
		"the operator's own user":    {user: operatorUser, pod: registry, targets: []string{tls, both}},
		"an administrator's secrets": {pod: registry, targets: []string{both}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			suite := newSuite(t, namespace, tc.pod, tc.targets...)
			checkRefusal(t, clientAs(t, tc.user).Create(t.Context(), suite), tc.wantRefused)
		})
	}
}
