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

// secretFields are the fields of runs, suites and schedules that name Secrets, and how a manifest sets each: in the target, or in the
// pod settings.
var secretFields = map[string]struct{ target, pod string }{
	"run.target.tls.secretName":                {target: "tls: {secretName: private}"},
	"run.target.auth.secretName":               {target: "auth: {secretName: private}"},
	"run.pod.imagePullSecrets.name":            {pod: "imagePullSecrets: [{name: other}, {name: private}]"},
	"suite.targets.target.tls.secretName":      {target: "tls: {secretName: private}"},
	"suite.targets.target.auth.secretName":     {target: "auth: {secretName: private}"},
	"suite.template.pod.imagePullSecrets.name": {pod: "imagePullSecrets: [{name: other}, {name: private}]"},

	"schedule.suiteTemplate.spec.targets.target.tls.secretName":      {target: "tls: {secretName: private}"},
	"schedule.suiteTemplate.spec.targets.target.auth.secretName":     {target: "auth: {secretName: private}"},
	"schedule.suiteTemplate.spec.template.pod.imagePullSecrets.name": {pod: "imagePullSecrets: [{name: other}, {name: private}]"},
}

// TestEveryFieldThatNamesASecretIsChecked walks the types of a run, of a suite and of a schedule. It tries each field that can name a
// Secret as users without the right to read that Secret.
func TestEveryFieldThatNamesASecretIsChecked(t *testing.T) {
	withPolicies(t)
	found := secretPaths(reflect.TypeFor[v1alpha1.EtcdBenchmarkSpec](), "run", false)
	found = append(found, secretPaths(reflect.TypeFor[v1alpha1.EtcdBenchmarkSuiteSpec](), "suite", false)...)
	found = append(found, secretPaths(reflect.TypeFor[v1alpha1.EtcdBenchmarkScheduleSpec](), "schedule", false)...)
	slices.Sort(found)
	if diff := cmp.Diff(slices.Sorted(maps.Keys(secretFields)), slices.Compact(found)); diff != "" {
		t.Fatalf("fields that name Secrets: let a policy check each, and add it here (-checked +found):\n%s", diff)
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
				o := newRun(t, namespace, field.target, field.pod)
				kind, _, _ := strings.Cut(path, ".")
				if holder, found := holders[kind]; found {
					o = holder.make(t, namespace, field.pod, "", field.target)
				}
				checkRefusal(t, clientAs(t, user).Create(t.Context(), o, client.DryRunAll), refused)
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
			return []string{path}
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

// A run or suite that was admitted must not get its Secret later.
func TestASecretCannotBeNamedLater(t *testing.T) {
	withPolicies(t)
	namespace := newNamespace(t)
	allow(t, "patient", namespace, runRights("patch", "get"))
	user := clientAs(t, "patient")
	run, suite := newRun(t, namespace, "", ""), newSuite(t, namespace, "", "")
	create(t, user, run)
	create(t, user, suite)
	target := func(more string) string {
		return `{"spec":{"targets":[{"name":"t0","target":{"endpoints":["127.0.0.1:2379"],` + more + `}}]}}`
	}
	tests := map[*object][]string{
		run: {
			`{"spec":{"target":{"tls":{"secretName":"private"}}}}`, `{"spec":{"target":{"auth":{"secretName":"private"}}}}`,
			`{"spec":{"pod":{"imagePullSecrets":[{"name":"private"}]}}}`, `{"spec":{"pod":{"affinity":{"podAffinity":{}}}}}`,
		},
		suite: {
			target(`"tls":{"secretName":"private"}`), target(`"auth":{"secretName":"private"}`),
			`{"spec":{"template":{"pod":{"imagePullSecrets":[{"name":"private"}]}}}}`,
			`{"spec":{"template":{"pod":{"affinity":{"podAffinity":{}}}}}}`,
		},
	}
	for o, patches := range tests {
		for _, patch := range patches {
			err := user.Patch(t.Context(), o.DeepCopy(), client.RawPatch(types.MergePatchType, []byte(patch)))
			if !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), "immutable") {
				t.Errorf("%s: wanted it refused as immutable, found %v", patch, err)
			}
		}
	}
}

// The template of a schedule can change later, so its changes are checked like a new schedule; other changes are not.
func TestChangesOfAScheduleAreChecked(t *testing.T) {
	withPolicies(t)
	namespace := newNamespace(t)
	allow(t, "editor", namespace, runRights("patch", "get"))
	admin, user := clientAs(t, ""), clientAs(t, "editor")
	const affinity = `"affinity":{"podAntiAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[{"topologyKey":"zone","namespaceSelector":{}}]}}`
	plain, secret := newSchedule(t, namespace, "", ""), newSchedule(t, namespace, "", "tls: {secretName: private}")
	create(t, admin, plain)
	create(t, admin, secret)
	members := newSchedule(t, namespace, "", "ephemeral: {image: i}")
	create(t, admin, members)
	target := func(more string) string {
		return `{"spec":{"suiteTemplate":{"spec":{"targets":[{"name":"t0","target":{"endpoints":["127.0.0.2:2379"],` + more + `}}]}}}}`
	}
	const suspend = `{"spec":{"suspend":false}}`
	for name, tc := range map[string]struct {
		schedule    *object
		patch, want string
	}{
		"names a Secret":                 {plain, target(`"tls":{"secretName":"private"}`), "may not get Secret private"},
		"names a user":                   {plain, target(`"auth":{"secretName":"private"}`), "may not get Secret private"},
		"names a pull secret":            {plain, `{"spec":{"suiteTemplate":{"spec":{"template":{"pod":{"imagePullSecrets":[{"name":"private"}]}}}}}}`, "may not get Secret private"},
		"starts members":                 {plain, `{"spec":{"suiteTemplate":{"spec":{"targets":[{"name":"t0","target":{"ephemeral":{"image":"i"}}}]}}}}`, "may not create pods"},
		"resumes one with members":       {members, suspend, ""},
		"refers to other namespaces":     {plain, `{"spec":{"suiteTemplate":{"spec":{"template":{"pod":{` + affinity + `}}}}}}`, "spec.suiteTemplate.spec.template.pod.affinity must not refer to pods of other namespaces"},
		"sets a label":                   {plain, `{"spec":{"suiteTemplate":{"spec":{"template":{"pod":{"labels":{"a":"b"}}}}}}}`, "spec.suiteTemplate.spec.template.pod must have neither labels nor annotations"},
		"sends a Secret elsewhere":       {secret, target(`"tls":{"secretName":"private"}`), "may not get Secret private"},
		"sends none elsewhere":           {plain, target(`"keyPrefix":"a/"`), ""},
		"resumes":                        {plain, suspend, ""},
		"resumes one with a Secret":      {secret, suspend, ""},
		"removes the Secret":             {secret, target(`"keyPrefix":"a/"`), ""},
		"changes labels beside a Secret": {secret, `{"metadata":{"labels":{"a":"b"}}}`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			err := user.Patch(t.Context(), tc.schedule.DeepCopy(), client.RawPatch(types.MergePatchType, []byte(tc.patch)), client.DryRunAll)
			checkRefusal(t, err, tc.want)
		})
	}
}

// Labels and annotations can attract traffic and let webhooks change pods: only users who may create such pods anyway may
// set them.
func TestOnlyPodCreatorsMaySetLabelsAndAnnotations(t *testing.T) {
	withPolicies(t)
	namespace := newNamespace(t)
	allow(t, "runner", namespace, runRights())
	allow(t, "all-verbs", namespace, groupRights())
	allowOperator(t, operatorUser, namespace)
	allow(t, "podmaker", namespace, runRights(), rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"pods"}, Verbs: []string{"create"}})
	for pod, marked := range map[string]bool{"labels: {team: a}": true, "annotations: {team: a}": true, "labels: {}, annotations: {}": false} {
		for field, o := range map[string]*object{
			"spec.pod": newRun(t, namespace, "", pod), "spec.template.pod": newSuite(t, namespace, pod, ""),
			"spec.suiteTemplate.spec.template.pod": newSchedule(t, namespace, pod, ""),
		} {
			want := ""
			if marked {
				want = "so " + field + " must have neither labels nor annotations"
			}
			for user, want := range map[string]string{"runner": want, "all-verbs": want, "podmaker": "", operatorUser: ""} {
				checkRefusal(t, clientAs(t, user).Create(t.Context(), o.DeepCopy(), client.DryRunAll), want)
			}
		}
	}
}

func TestOnlyPodCreatorsMayReferToOtherNamespaces(t *testing.T) {
	withPolicies(t)
	namespace := newNamespace(t)
	allow(t, "runner", namespace, runRights())
	allow(t, "all-verbs", namespace, groupRights())
	allowOperator(t, operatorUser, namespace)
	allow(t, "podmaker", namespace, runRights(), rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"pods"}, Verbs: []string{"create"}})
	const refused = ".affinity must not refer to pods of other namespaces"
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
			pod := "affinity: {" + tc.affinity + "}"
			for field, o := range map[string]*object{"spec.pod": newRun(t, namespace, "", pod), "spec.template.pod": newSuite(t, namespace, pod, "")} {
				want := ""
				if tc.want != "" {
					want = field + tc.want
				}
				for user, want := range map[string]string{"runner": want, "all-verbs": want, "podmaker": "", operatorUser: ""} {
					checkRefusal(t, clientAs(t, user).Create(t.Context(), o.DeepCopy(), client.DryRunAll), want)
				}
			}
		})
	}
}
