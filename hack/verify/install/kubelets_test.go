package install

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// By default the operator has no right on nodes; with the value it can read the metrics of kubelets, and nothing more.
func TestTheRightsOnNodes(t *testing.T) {
	metrics := []any{map[string]any{"apiGroups": []any{""}, "resources": []any{"nodes/metrics"}, "verbs": []any{"get"}}}
	for value, want := range map[string][]any{"kubeletMetrics.enabled=false": nil, "kubeletMetrics.enabled=true": metrics} {
		var found []any
		for _, role := range append(ofKind(renderChart(t, value), "ClusterRole"), ofKind(renderChart(t, value, "namespaces={one}"), "ClusterRole")...) {
			rules, _, _ := unstructured.NestedSlice(role.Object, "rules")
			for _, rule := range rules {
				resources, _ := rule.(map[string]any)["resources"].([]any)
				if slices.ContainsFunc(resources, func(r any) bool { return strings.HasPrefix(r.(string), "nodes") || r == "*" }) {
					found = append(found, rule)
				}
			}
		}
		if diff := cmp.Diff(append(slices.Clone(want), want...), found); diff != "" {
			t.Errorf("%s, twice (-want +got):\n%s", value, diff)
		}
	}
}

func TestTheOperatorTrustsTheCAOfKubelets(t *testing.T) {
	for values, want := range map[string][]string{
		"kubeletMetrics.caConfigMapName=ca":                                         nil,
		"kubeletMetrics.enabled=true":                                               {"--kubelet-port=10250"},
		"kubeletMetrics.enabled=true,kubeletMetrics.insecureSkipVerify=true":        {"--kubelet-port=10250", "--kubelet-insecure"},
		"kubeletMetrics.enabled=true,kubeletMetrics.caConfigMapName=ca,replicas=2":  {"--kubelet-port=10250", "--kubelet-ca=/etc/etcdbench/kubelets/ca.crt"},
		"kubeletMetrics.enabled=true,kubeletMetrics.port=1,memberUser=0,replicas=2": {"--kubelet-port=1"},
	} {
		deployment := only(t, renderChart(t, strings.Split(values, ",")...), "Deployment", systemName, operatorName)
		containers, _, _ := unstructured.NestedSlice(deployment.Object, "spec", "template", "spec", "containers")
		manager := containers[0].(map[string]any)
		args, _, _ := unstructured.NestedStringSlice(manager, "args")
		args = slices.DeleteFunc(args, func(a string) bool { return !strings.HasPrefix(a, "--kubelet") })
		if diff := cmp.Diff(want, args, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", values, diff)
		}
		volumes, _, _ := unstructured.NestedSlice(deployment.Object, "spec", "template", "spec", "volumes")
		var wantVolumes, wantMounts []any
		if slices.ContainsFunc(want, func(a string) bool { return strings.HasPrefix(a, "--kubelet-ca=") }) {
			wantVolumes = []any{map[string]any{"name": "kubelet-ca", "configMap": map[string]any{"name": "ca"}}}
			wantMounts = []any{map[string]any{"name": "kubelet-ca", "mountPath": "/etc/etcdbench/kubelets", "readOnly": true}}
		}
		mounts, _ := manager["volumeMounts"].([]any)
		if diff := cmp.Diff([][]any{wantVolumes, wantMounts}, [][]any{volumes, mounts}); diff != "" {
			t.Errorf("%s: volumes and mounts (-want +got):\n%s", values, diff)
		}
	}
}
