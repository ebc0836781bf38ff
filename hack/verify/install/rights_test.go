package install

import (
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
)

// secretFields are the fields of a run that name Secrets, and how a manifest sets each: in the target, or in the pod
// settings.
var secretFields = map[string]struct{ target, pod string }{
	"target.tls.secretName":     {target: "tls: {secretName: private}"},
	"target.auth.secretName":    {target: "auth: {secretName: private}"},
	"pod.imagePullSecrets.name": {pod: "imagePullSecrets: [{name: other}, {name: private}]"},
}

// TestEveryFieldThatNamesASecretIsChecked walks the type of a run. It tries each field that can name a Secret as users without
// the right to read that Secret.
func TestEveryFieldThatNamesASecretIsChecked(t *testing.T) {
	withPolicies(t)
	found := secretPaths(reflect.TypeFor[v1alpha1.EtcdBenchmarkSpec](), "", false)
	slices.Sort(found)
	if diff := cmp.Diff(slices.Sorted(maps.Keys(secretFields)), slices.Compact(found)); diff != "" {
		t.Fatalf("fields that name Secrets: let the policy check each, and add it here (-checked +found):\n%s", diff)
	}
	namespace, elsewhere := newNamespace(t), newNamespace(t)
	allow(t, "without", namespace, runRights())
	allow(t, "elsewhere", namespace, runRights(), secretRights("other"))
	allow(t, "elsewhere", elsewhere, runRights(), secretRights("private", "other"))
	allow(t, "creator", namespace, runRights(), rbacv1.PolicyRule{
		APIGroups: []string{""}, Resources: []string{"secrets"}, ResourceNames: []string{"private"}, Verbs: []string{"create", "update", "delete"},
	})
	allow(t, "reader", namespace, runRights(), secretRights("private", "other"))
	for path, field := range secretFields {
		for user, refused := range map[string]string{"without": "may not get", "elsewhere": "may not get", "creator": "may not get", "reader": ""} {
			t.Run(path+" as "+user, func(t *testing.T) {
				checkRefusal(t, clientAs(t, user).Create(t.Context(), newRun(t, namespace, field.target, field.pod), client.DryRunAll), refused)
			})
		}
	}
}

// secretPaths returns the fields of a type that can name a Secret. inSecret: all names below name Secrets.
func secretPaths(of reflect.Type, path string, inSecret bool) (paths []string) {
	switch of.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Map:
		return secretPaths(of.Elem(), path, inSecret)
	case reflect.String:
		if inSecret {
			return []string{strings.TrimPrefix(path, ".")}
		}
	case reflect.Struct:
		isReference := of == reflect.TypeFor[corev1.LocalObjectReference]() || strings.Contains(of.Name(), "Secret")
		for i := range of.NumField() {
			f := of.Field(i)
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			if f.IsExported() {
				named := strings.Contains(strings.ToLower(f.Name), "secret")
				paths = append(paths, secretPaths(f.Type, path+"."+name, inSecret || isReference || named)...)
			}
		}
	}
	return paths
}

// A run that was admitted must not get its Secret later.
func TestASecretCannotBeNamedLater(t *testing.T) {
	withPolicies(t)
	namespace := newNamespace(t)
	allow(t, "patient", namespace, rbacv1.PolicyRule{APIGroups: []string{"etcdbench.dev"}, Resources: []string{"etcdbenchmarks"}, Verbs: []string{"create", "patch", "get"}})
	user := clientAs(t, "patient")
	run := newRun(t, namespace, "", "")
	create(t, user, run)
	for _, patch := range []string{
		`{"spec":{"target":{"tls":{"secretName":"private"}}}}`, `{"spec":{"target":{"auth":{"secretName":"private"}}}}`,
		`{"spec":{"pod":{"imagePullSecrets":[{"name":"private"}]}}}`, `{"spec":{"pod":{"affinity":{"podAffinity":{}}}}}`,
	} {
		err := user.Patch(t.Context(), run.DeepCopy(), client.RawPatch(types.MergePatchType, []byte(patch)))
		if !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), "immutable") {
			t.Errorf("%s: wanted it refused as immutable, found %v", patch, err)
		}
	}
}

func TestOnlyPodCreatorsMayReferToOtherNamespaces(t *testing.T) {
	withPolicies(t)
	namespace := newNamespace(t)
	allow(t, "runner", namespace, runRights())
	allow(t, "podmaker", namespace, runRights(), rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"pods"}, Verbs: []string{"create"}})
	const refused = "refer to pods of other namespaces"
	term := func(more string) string { return "{topologyKey: zone, labelSelector: {}" + more + "}" }
	tests := map[string]struct{ affinity, want string }{
		"none":                     {"", ""},
		"of nodes":                 {"nodeAffinity: {}", ""},
		"in its own namespace":     {"podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [" + term("") + "]}", ""},
		"its own by name":          {"podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [" + term(", namespaces: ["+namespace+"]") + "]}", ""},
		"beside others":            {"podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [" + term("") + ", " + term(", namespaces: [kube-system]") + "]}", refused},
		"away from others":         {"podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [" + term(", namespaces: [kube-system]") + "]}", refused},
		"away from all":            {"podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [" + term(", namespaceSelector: {}") + "]}", refused},
		"rather beside others":     {"podAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: 1, podAffinityTerm: " + term(", namespaceSelector: {}") + "}]}", refused},
		"rather away from others":  {"podAntiAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: 1, podAffinityTerm: " + term(", namespaces: [kube-system]") + "}]}", refused},
		"both, one of them beyond": {"podAffinity: {}, podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [" + term(", namespaceSelector: {}") + "]}", refused},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			run := newRun(t, namespace, "", "affinity: {"+tc.affinity+"}")
			checkRefusal(t, clientAs(t, "runner").Create(t.Context(), run.DeepCopy(), client.DryRunAll), tc.want)
			checkRefusal(t, clientAs(t, "podmaker").Create(t.Context(), run, client.DryRunAll), "")
		})
	}
}
