package controllers

import (
	"encoding/json"
	"errors"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/controllers/internal/resources"
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
)

// decided is why a field that users can set on client pods gives them no additional right.
type decided struct {
	// hostile is a YAML value that an attacker might use.
	hostile string
	// reaches is the only field of the pod's spec that it may change.
	reaches []string
	why     string
}

// podSettings has an entry for each field of v1alpha1.PodSettings.
var podSettings = map[string]decided{
	"labels": {`{app: etcd}`, []string{"metadata", "labels", "app"},
		"the policy on placement requires the right to create pods, with which the user could create such pods anyway"},
	"annotations": {`{vault.hashicorp.com/agent-inject: "true"}`, []string{"metadata", "annotations", "vault.hashicorp.com/agent-inject"},
		"as for labels"},
	"resources": {`{limits: {cpu: "64", example.org/device: "8"}, requests: {memory: 1Ti}}`, []string{"spec", "containers", "0", "resources"},
		"quotas and limit ranges judge the pod"},
	"nodeSelector": {`{node-role.kubernetes.io/control-plane: ""}`, []string{"spec", "nodeSelector"},
		"the pod has no right on its node; PodNodeSelector narrows it"},
	"tolerations": {`[{operator: Exists}]`, []string{"spec", "tolerations"},
		"the pod has no right on its node; PodTolerationRestriction narrows them"},
	"affinity": {`{podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: zone, namespaceSelector: {}}]}}`, []string{"spec", "affinity"},
		"the policy on placement requires the right to create pods for other namespaces"},
	"topologySpreadConstraints": {`[{maxSkew: 1, topologyKey: zone, whenUnsatisfiable: DoNotSchedule, labelSelector: {}}]`, []string{"spec", "topologySpreadConstraints"},
		"it counts pods of its own namespace"},
	"imagePullSecrets": {`[{name: registry}]`, []string{"spec", "imagePullSecrets"},
		"the policy on Secrets asks whether the run's creator may get each"},
}

func TestEveryPodSettingIsDecided(t *testing.T) {
	want := slices.Sorted(maps.Keys(podSettings))
	if diff := cmp.Diff(want, slices.Sorted(maps.Keys(jsonFields(reflect.TypeFor[v1alpha1.PodSettings]())))); diff != "" {
		t.Errorf("fields that users may set of client pods: decide for each what right it could give, and add it to podSettings (-decided +there):\n%s", diff)
	}
}

// jsonFields are the JSON names of a struct's fields.
func jsonFields(of reflect.Type) map[string]reflect.Type {
	fields := map[string]reflect.Type{}
	for i := range of.NumField() {
		if name, _, _ := strings.Cut(of.Field(i).Tag.Get("json"), ","); name != "" && name != "-" {
			fields[name] = of.Field(i).Type
		}
	}
	return fields
}

// TestPodSettingsReachOnlyTheirFields: a setting changes only its own field of the pod, for any value. Metadata of the
// run changes nothing.
func TestPodSettingsReachOnlyTheirFields(t *testing.T) {
	bare := newHarness(t, alone("bare.example.org:1"))
	baseline := bare.template()
	for name, setting := range podSettings {
		run := bare.join("set-"+strings.ToLower(name), alone(strings.ToLower(name)+".example.org:1"), func(run *v1alpha1.EtcdBenchmark) {
			run.Spec.Pod = &v1alpha1.PodSettings{}
			bare.must(yaml.UnmarshalStrict([]byte("{"+name+": "+setting.hostile+"}"), run.Spec.Pod))
		})
		got := run.template()
		if cmp.Equal(got, baseline) {
			t.Errorf("%s changes nothing: the test shows nothing", name)
		}
		without(got, setting.reaches)
		want := runtime.DeepCopyJSON(baseline)
		without(want, setting.reaches)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s changes more of the pod than %v (-without +with):\n%s", name, setting.reaches, diff)
		}
	}
	run := bare.join("marked", alone("marked.example.org:1"), func(run *v1alpha1.EtcdBenchmark) {
		run.Labels = map[string]string{"app": "etcd", "sidecar.istio.io/inject": "true"}
		run.Annotations = map[string]string{"etcdbench.dev/start-at": "now", "container.apparmor.security.beta.kubernetes.io/loadgen": "unconfined"}
	})
	if diff := cmp.Diff(baseline, run.template()); diff != "" {
		t.Errorf("labels or annotations of the run reach its pods (-without +with):\n%s", diff)
	}
}

// alone makes a run not wait for other runs.
func alone(endpoint string) func(*v1alpha1.EtcdBenchmark) {
	return func(run *v1alpha1.EtcdBenchmark) {
		run.Spec.Target = v1alpha1.Target{Endpoints: []string{endpoint}, ConcurrentRuns: v1alpha1.ConcurrentRunsAllow}
	}
}

// template is the run's pod template, without the names, UIDs and the plan's digest that differ between runs.
func (s *harness) template() map[string]any {
	s.t.Helper()
	job, configMap := s.loadJob(), &corev1.ConfigMap{}
	s.must(s.api.Get(s.t.Context(), client.ObjectKey{Namespace: s.run.Namespace, Name: s.run.PlanName()}, configMap))
	text, err := json.Marshal(job.Spec.Template)
	s.must(err)
	replace := strings.NewReplacer(plan.Digest([]byte(configMap.Data[plan.File])), "PLAN-DIGEST", string(job.UID), "JOB-UID", job.Name, "JOB", s.run.PlanName(), "PLAN", string(s.run.UID), "UID", `"`+s.run.Name+`"`, `"NAME"`)
	var out map[string]any
	s.must(json.Unmarshal([]byte(replace.Replace(string(text))), &out))
	return out
}

// without removes a field; a number in the path is an index of a list.
func without(in map[string]any, path []string) {
	switch next := in[path[0]].(type) {
	case map[string]any:
		if len(path) > 1 {
			without(next, path[1:])
			return
		}
	case []any:
		if len(path) > 2 {
			without(next[0].(map[string]any), path[2:])
			return
		}
	}
	delete(in, path[0])
}

// TestNoOtherFieldOfAPodCanBeSet tries each field of a pod and of its container that is not a setting: it must be
// refused or dropped.
func TestNoOtherFieldOfAPodCanBeSet(t *testing.T) {
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "rights-"}}
	if err := cluster.api.Create(t.Context(), ns); err != nil {
		t.Fatal(err)
	}
	fields := jsonFields(reflect.TypeFor[corev1.PodSpec]())
	maps.Copy(fields, jsonFields(reflect.TypeFor[corev1.Container]()))
	maps.Copy(fields, jsonFields(reflect.TypeFor[corev1.PodTemplateSpec]()))
	if len(fields) < 60 || fields["hostPID"] == nil || fields["envFrom"] == nil {
		t.Fatalf("wanted all fields of a pod and a container, found %d", len(fields))
	}
	for name := range fields {
		for _, path := range [][]string{{"spec", "pod", name}, {"spec", name}} {
			if _, ok := podSettings[name]; !ok || len(path) == 2 {
				tryField(t, ns.Name, path)
			}
		}
	}
}

func tryField(t *testing.T, namespace string, path []string) {
	t.Helper()
	object, err := runtime.DefaultUnstructuredConverter.ToUnstructured(newRun(namespace, "try"))
	if err == nil {
		object["apiVersion"], object["kind"] = v1alpha1.GroupVersion.String(), "EtcdBenchmark"
		delete(object, "status")
		err = unstructured.SetNestedField(object, "hostile", path...)
	}
	if err != nil {
		t.Fatal(err)
	}
	strict := &unstructured.Unstructured{Object: runtime.DeepCopyJSON(object)}
	if err := cluster.api.Create(t.Context(), strict, client.DryRunAll, client.FieldValidation("Strict")); !apierrors.IsBadRequest(err) || !contains(err.Error(), "unknown field") {
		t.Errorf("%v: wanted it refused as unknown, found %v", path, err)
	}
	lenient := &unstructured.Unstructured{Object: object}
	if err := cluster.api.Create(t.Context(), lenient, client.DryRunAll, client.FieldValidation("Ignore")); err != nil {
		t.Errorf("%v: wanted it dropped, found %v", path, err)
	}
	if _, kept, _ := unstructured.NestedFieldNoCopy(lenient.Object, path...); kept {
		t.Errorf("%v is kept", path)
	}
}

// TestReferencesStayInTheNamespace: objects that a run names are read from its own namespace, and no name can refer to
// another one.
func TestReferencesStayInTheNamespace(t *testing.T) {
	other := newHarness(t, targets(byService(intstr.FromString("client"))))
	other.makeService(service("etcd"), slice("etcd", "198.18.9.1"))
	other.makeMember("etcd-0", "198.18.9.1", corev1.ConditionTrue)
	other.awaitEndpoints("198.18.9.1:12379")
	for name, target := range map[string]v1alpha1.Target{"service": byService(intstr.FromString("client")), "pods": byPods()} {
		t.Run(name, func(t *testing.T) {
			s := newHarness(t, targets(target))
			s.awaitSeen()
			s.later(31 * time.Second)
			s.awaitFinished(v1alpha1.ReasonTargetNotFound)
		})
	}
	for name, change := range map[string]func(*v1alpha1.Target, string){
		"service": func(t *v1alpha1.Target, name string) {
			*t = byService(intstr.FromString("client"))
			t.Service.Name = name
		},
		"tls Secret":  func(t *v1alpha1.Target, name string) { t.TLS = &v1alpha1.TargetTLS{SecretName: name} },
		"auth Secret": func(t *v1alpha1.Target, name string) { t.Auth = &v1alpha1.TargetAuth{SecretName: name} },
	} {
		for _, reference := range []string{other.run.Namespace + "/etcd", "../" + other.run.Namespace + "/etcd", "etcd\n", "%2e%2e"} {
			run := newRun(other.run.Namespace, "crossing", func(run *v1alpha1.EtcdBenchmark) {
				run.Spec.Target.Endpoints = []string{"etcd:2379"}
				change(&run.Spec.Target, reference)
			})
			if err := cluster.api.Create(t.Context(), run, client.DryRunAll); !apierrors.IsInvalid(err) {
				t.Errorf("%s named %q: wanted it refused, found %v", name, reference, err)
			}
		}
	}
}

// TestPodsAreAdmittedWhereRestrictedIsEnforced creates the pods of all Jobs, with all settings, in a namespace that
// enforces the restricted Pod Security Standard.
func TestPodsAreAdmittedWhereRestrictedIsEnforced(t *testing.T) {
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
		GenerateName: "restricted-", Labels: map[string]string{"pod-security.kubernetes.io/enforce": "restricted"},
	}}
	if err := cluster.api.Create(t.Context(), ns); err != nil {
		t.Fatal(err)
	}
	run := newRun(ns.Name, "put", func(run *v1alpha1.EtcdBenchmark) {
		run.Spec.Target.TLS, run.Spec.Target.Auth = &v1alpha1.TargetTLS{SecretName: "certs"}, &v1alpha1.TargetAuth{SecretName: "user"}
		run.Spec.Target.Endpoints, run.Spec.Pod = []string{"etcd:2379"}, &v1alpha1.PodSettings{}
		for name, setting := range podSettings {
			if err := yaml.Unmarshal([]byte("{"+name+": "+setting.hostile+"}"), run.Spec.Pod); err != nil {
				t.Fatal(err)
			}
		}
	})
	if err := cluster.api.Create(t.Context(), run); err != nil {
		t.Fatal(err)
	}
	run.Status.Target = &v1alpha1.TargetStatus{Endpoints: []string{"etcd:2379"}}
	load, loadErr := resources.LoadJob(run, "example.org/loadgen:v1", 65532)
	cleanup, cleanupErr := resources.CleanupJob(run, "example.org/loadgen:v1", 0)
	if err := errors.Join(loadErr, cleanupErr); err != nil {
		t.Fatal(err)
	}
	withMembers(claim("any"))(run)
	for _, job := range []*batchv1.Job{load, cleanup, resources.MembersJob(run, "example.org/loadgen:v1", 65532), resources.MembersJob(run, "example.org/loadgen:v1", 0)} {
		if err := cluster.api.Create(t.Context(), podOf(job), client.DryRunAll); err != nil {
			t.Errorf("a pod of %s is refused: %v", job.Name, err)
		}
		for i := range job.Spec.Template.Spec.Containers {
			loose := podOf(job)
			loose.Spec.Containers[i].SecurityContext.AllowPrivilegeEscalation = new(true)
			if err := cluster.api.Create(t.Context(), loose, client.DryRunAll); !apierrors.IsForbidden(err) {
				t.Errorf("wanted a pod with less care to be refused, or the test shows nothing, found %v", err)
			}
		}
	}
}

func podOf(job *batchv1.Job) *corev1.Pod {
	pod := &corev1.Pod{ObjectMeta: *job.Spec.Template.ObjectMeta.DeepCopy(), Spec: *job.Spec.Template.Spec.DeepCopy()}
	pod.Namespace, pod.GenerateName = job.Namespace, "pod-"
	return pod
}
