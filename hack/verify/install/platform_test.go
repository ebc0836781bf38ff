package install

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"
)

// typed is a rendered object as a type of the Kubernetes API, without unknown fields.
func typed[T any](t *testing.T, o object) *T {
	t.Helper()
	out := new(T)
	if err := runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(o.Object, out, true); err != nil {
		t.Fatalf("%s %s: %v", o.GetKind(), o.GetName(), err)
	}
	return out
}

// Several replicas are on several nodes if possible, and evictions leave one of them.
func TestSeveralReplicas(t *testing.T) {
	one, two := renderChart(t), renderChart(t, "replicas=2")
	if found := ofKind(one, "PodDisruptionBudget"); len(found) != 0 {
		t.Errorf("wanted no budget for one replica, found %v", found)
	}
	pod := typed[appsv1.Deployment](t, only(t, two, "Deployment", systemName, operatorName)).Spec.Template
	budget := typed[policyv1.PodDisruptionBudget](t, only(t, two, "PodDisruptionBudget", systemName, operatorName)).Spec
	if !selects(t, budget.Selector, pod.Labels) || budget.MaxUnavailable.IntValue() != 1 {
		t.Errorf("wanted a budget that allows one eviction of the operator's pods, found %+v", budget)
	}
	apart := pod.Spec.Affinity.PodAntiAffinity.PreferredDuringSchedulingIgnoredDuringExecution
	if len(apart) != 1 || apart[0].PodAffinityTerm.TopologyKey != "kubernetes.io/hostname" || !selects(t, apart[0].PodAffinityTerm.LabelSelector, pod.Labels) {
		t.Errorf("wanted replicas on different nodes, found %+v", apart)
	}
	const own = "affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].topologyKey=zone"
	chosen := typed[appsv1.Deployment](t, only(t, renderChart(t, "replicas=2", own), "Deployment", systemName, operatorName)).Spec.Template.Spec.Affinity
	if chosen.PodAntiAffinity != nil || chosen.PodAffinity == nil {
		t.Errorf("wanted only the affinity of the values, found %+v", chosen)
	}
}

// All objects have the name and the labels of the values, and the labels that others rely on.
func TestNamesAndLabels(t *testing.T) {
	objects := renderChart(t, "nameOverride=bench", "commonLabels.team=storage", "commonLabels.app\\.kubernetes\\.io/name=other", "podLabels.a=b",
		"metrics.serviceMonitor.enabled=true", "metrics.podMonitor.enabled=true", "metrics.prometheusRule.enabled=true", "metrics.prometheusRule.labels.team=alerts", "grafana.dashboards.enabled=true")
	for _, o := range objects {
		if got := o.GetLabels(); got["team"] != "storage" || got["app.kubernetes.io/name"] != operatorName || got["app.kubernetes.io/instance"] != "bench" {
			t.Errorf("%s %s has the labels %v", o.GetKind(), o.GetName(), got)
		}
	}
	operator := typed[appsv1.Deployment](t, only(t, objects, "Deployment", systemName, "bench"))
	if got := labels.Set(operator.Spec.Template.Labels); got["team"] != "storage" || got["a"] != "b" || !selects(t, operator.Spec.Selector, got) {
		t.Errorf("the operator's pods have the labels %v", got)
	}
	only(t, objects, "ClusterRole", "", systemName+"-bench")
	only(t, renderChart(t, "nameOverride=bench", "fullnameOverride=own"), "Deployment", systemName, "own")
}

func TestAServiceAccountOfOthers(t *testing.T) {
	objects := renderChart(t, "serviceAccount.create=false", "serviceAccount.name=theirs", "namespaces={one}", "kubeletMetrics.enabled=true")
	if found := ofKind(objects, "ServiceAccount"); len(found) != 0 {
		t.Errorf("wanted no service account, found %v", found)
	}
	for _, kind := range []string{"ClusterRoleBinding", "RoleBinding"} {
		for _, o := range ofKind(objects, kind) {
			want := []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: systemName, Name: "theirs"}}
			if diff := cmp.Diff(want, typed[rbacv1.RoleBinding](t, o).Subjects); diff != "" {
				t.Errorf("%s %s (-want +got):\n%s", kind, o.GetName(), diff)
			}
		}
	}
	for _, o := range slices.Concat(ofKind(objects, "Deployment"), ofKind(objects, "Job")) {
		if account, _, _ := unstructured.NestedString(o.Object, "spec", "template", "spec", "serviceAccountName"); account != "theirs" {
			t.Errorf("%s %s runs as %q", o.GetKind(), o.GetName(), account)
		}
	}
}

// Rules of relabeling reach the monitors, and native histograms do not replace the buckets that dashboards read.
func TestMonitorsHaveTheValues(t *testing.T) {
	objects := renderChart(t, "metrics.serviceMonitor.enabled=true", "metrics.podMonitor.enabled=true", "metrics.podMonitor.scrapeNativeHistograms=true",
		"metrics.serviceMonitor.relabelings[0].action=keep", "metrics.serviceMonitor.metricRelabelings[0].action=drop",
		"metrics.podMonitor.relabelings[0].action=keep", "metrics.podMonitor.metricRelabelings[0].action=drop")
	monitors := map[string]object{
		"endpoints":           only(t, objects, "ServiceMonitor", systemName, operatorName),
		"podMetricsEndpoints": only(t, objects, "PodMonitor", systemName, operatorName+"-clients"),
	}
	rule := func(action string) []any { return []any{map[string]any{"action": action}} }
	for field, o := range monitors {
		endpoints, _, _ := unstructured.NestedSlice(o.Object, "spec", field)
		got := endpoints[0].(map[string]any)
		if diff := cmp.Diff([]any{rule("keep"), rule("drop")}, []any{got["relabelings"], got["metricRelabelings"]}); diff != "" {
			t.Errorf("%s (-want +got):\n%s", o.GetKind(), diff)
		}
	}
	for _, field := range []string{"scrapeNativeHistograms", "scrapeClassicHistograms"} {
		if on, _, _ := unstructured.NestedBool(monitors["podMetricsEndpoints"].Object, "spec", field); !on {
			t.Errorf("the PodMonitor lacks %s", field)
		}
	}
}

// The sources limit who reaches the metrics; probes stay possible.
func TestSourcesOfTheNetworkPolicy(t *testing.T) {
	objects := renderChart(t, "networkPolicy.enabled=true", "networkPolicy.metricsFrom[0].podSelector.matchLabels.app=prometheus")
	policy := typed[networkingv1.NetworkPolicy](t, only(t, objects, "NetworkPolicy", systemName, operatorName))
	sources := map[int32]int{}
	for _, rule := range policy.Spec.Ingress {
		for _, port := range rule.Ports {
			sources[port.Port.IntVal] = len(rule.From)
		}
	}
	if diff := cmp.Diff(map[int32]int{8081: 0, 8443: 1}, sources); diff != "" {
		t.Errorf("sources by port (-want +got):\n%s", diff)
	}
}

func TestFlagsOfLogAndProfiles(t *testing.T) {
	flagsOf := func(values ...string) []string {
		return typed[appsv1.Deployment](t, only(t, renderChart(t, values...), "Deployment", systemName, operatorName)).Spec.Template.Spec.Containers[0].Args
	}
	got := flagsOf("log.level=debug", "log.format=text", "pprof.enabled=true")
	for _, want := range []string{"--log-level=debug", "--log-format=text", "--pprof-bind-address=localhost:6060"} {
		if !slices.Contains(got, want) {
			t.Errorf("wanted %s, found %v", want, got)
		}
	}
	if got := flagsOf(); slices.Contains(got, "--pprof-bind-address=localhost:6060") {
		t.Errorf("wanted no profiles by default, found %v", got)
	}
}

// Artifact Hub shows the kinds of the CRDs, and an icon of this repository.
func TestArtifactHubKnowsTheCRDs(t *testing.T) {
	var chart struct {
		Icon        string
		Annotations map[string]string
	}
	if err := yaml.Unmarshal([]byte(readText(t, "charts/etcd-benchmark-operator/Chart.yaml")), &chart); err != nil {
		t.Fatal(err)
	}
	var listed []struct{ Kind, Version, Name, DisplayName, Description string }
	if err := yaml.UnmarshalStrict([]byte(chart.Annotations["artifacthub.io/crds"]), &listed); err != nil {
		t.Fatal(err)
	}
	var got, want []string
	for _, l := range listed {
		got = append(got, strings.Join([]string{l.Kind, l.Version, l.Name}, " "))
	}
	for _, crd := range readCRDs(t) {
		kind, _, _ := unstructured.NestedString(crd.Object, "spec", "names", "kind")
		versions, _, _ := unstructured.NestedSlice(crd.Object, "spec", "versions")
		want = append(want, strings.Join([]string{kind, versions[0].(map[string]any)["name"].(string), crd.GetName()}, " "))
	}
	slices.Sort(got)
	slices.Sort(want)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("kinds (-want +got):\n%s", diff)
	}
	_, icon, found := strings.Cut(chart.Icon, "/main/")
	if !found || !strings.HasPrefix(readText(t, icon), "<svg ") {
		t.Errorf("wanted an icon of this repository, found %s", chart.Icon)
	}
}
