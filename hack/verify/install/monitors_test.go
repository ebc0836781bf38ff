package install

import (
	"encoding/json"
	"regexp"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// ofPrometheus matches the fields of monitors that name a file of Prometheus's own container. A Prometheus that several
// users share refuses them (arbitraryFSAccessThroughSMs.deny).
var ofPrometheus = regexp.MustCompile(`"(bearerTokenFile|bearerTokenSecret|credentialsFile|caFile|certFile|keyFile)"`)

// endpoint is that of the only ServiceMonitor.
func endpoint(t *testing.T, objects []object) map[string]any {
	t.Helper()
	monitor := only(t, objects, "ServiceMonitor", systemName, operatorName)
	endpoints, _, err := unstructured.NestedSlice(monitor.Object, "spec", "endpoints")
	if err != nil || len(endpoints) != 1 {
		t.Fatalf("wanted one endpoint, found %v, %v", endpoints, err)
	}
	return endpoints[0].(map[string]any)
}

func TestTheServiceMonitorVerifiesAndAuthenticates(t *testing.T) {
	const monitor, own = "metrics.serviceMonitor.enabled=true", operatorName + "-scraper"
	verified := func(ca map[string]any) map[string]any {
		return map[string]any{"serverName": operatorName + "-metrics." + systemName + ".svc", "ca": ca}
	}
	for name, tc := range map[string]struct {
		values      []string
		secret, key string
		tls         map[string]any
	}{
		"without a certificate": {nil, own, "token", map[string]any{"insecureSkipVerify": true}},
		"with a certificate": {[]string{"metrics.certificate.secretName=tls"}, own, "token",
			verified(map[string]any{"secret": map[string]any{"name": "tls", "key": "ca.crt"}})},
		"with a CA elsewhere": {[]string{"metrics.certificate.secretName=tls", "metrics.certificate.ca.configMapName=cas", "metrics.certificate.ca.key=service-ca.crt"}, own, "token",
			verified(map[string]any{"configMap": map[string]any{"name": "cas", "key": "service-ca.crt"}})},
		"with a token": {[]string{"metrics.certificate.secretName=tls", "metrics.certificate.ca.secretName=ca", "metrics.serviceMonitor.token.secretName=mine", "metrics.serviceMonitor.token.key=t"}, "mine", "t",
			verified(map[string]any{"secret": map[string]any{"name": "ca", "key": "ca.crt"}})},
	} {
		t.Run(name, func(t *testing.T) {
			objects := renderChart(t, append(tc.values, monitor, "metrics.podMonitor.enabled=true")...)
			got := endpoint(t, objects)
			want := map[string]any{"credentials": map[string]any{"name": tc.secret, "key": tc.key}}
			if diff := cmp.Diff(want, got["authorization"]); diff != "" {
				t.Errorf("authorization (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tc.tls, got["tlsConfig"]); diff != "" {
				t.Errorf("tlsConfig (-want +got):\n%s", diff)
			}
			for _, kind := range []string{"ServiceMonitor", "PodMonitor"} {
				data, err := json.Marshal(ofKind(objects, kind))
				if found := ofPrometheus.FindString(string(data)); err != nil || found != "" {
					t.Errorf("the %s has %s, which names a file of Prometheus or is deprecated: %v", kind, found, err)
				}
			}
			if created := len(ofKind(objects, "Secret")) > 0; created != (tc.secret == own) {
				t.Errorf("the chart creates a Secret: %v, and the ServiceMonitor names %s", created, tc.secret)
			}
		})
	}
}

// The token that the chart creates belongs to a service account that may get /metrics, and nothing else.
func TestTheTokenOfTheServiceMonitorOnlyReadsMetrics(t *testing.T) {
	const name = operatorName + "-scraper"
	objects := renderChart(t, "metrics.serviceMonitor.enabled=true")
	secret := only(t, objects, "Secret", systemName, name)
	if kind := secret.Object["type"]; kind != "kubernetes.io/service-account-token" || secret.GetAnnotations()["kubernetes.io/service-account.name"] != name {
		t.Errorf("wanted a token of %s, found the type %v and %v", name, kind, secret.GetAnnotations())
	}
	only(t, objects, "ServiceAccount", systemName, name)
	var roles []any
	for _, kind := range []string{"ClusterRoleBinding", "RoleBinding"} {
		for _, binding := range ofKind(objects, kind) {
			subjects, _, _ := unstructured.NestedSlice(binding.Object, "subjects")
			for _, s := range subjects {
				if subject := s.(map[string]any); subject["name"] == name && subject["namespace"] == systemName {
					roles = append(roles, binding.Object["roleRef"])
				}
			}
		}
	}
	want := []any{map[string]any{"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": operatorName + "-metrics-reader"}}
	if diff := cmp.Diff(want, roles); diff != "" {
		t.Errorf("roles of the token (-want +got):\n%s", diff)
	}
	reader := only(t, objects, "ClusterRole", "", operatorName+"-metrics-reader")
	if diff := cmp.Diff([]any{map[string]any{"nonResourceURLs": []any{"/metrics"}, "verbs": []any{"get"}}}, reader.Object["rules"]); diff != "" {
		t.Errorf("rules (-want +got):\n%s", diff)
	}
}

// The operator serves the certificate that the ServiceMonitor verifies.
func TestTheOperatorServesTheCertificate(t *testing.T) {
	deployment := only(t, renderChart(t, "metrics.certificate.secretName=tls"), "Deployment", systemName, operatorName)
	containers, _, _ := unstructured.NestedSlice(deployment.Object, "spec", "template", "spec", "containers")
	volumes, _, _ := unstructured.NestedSlice(deployment.Object, "spec", "template", "spec", "volumes")
	const folder = "/etc/etcdbench/metrics"
	want := []any{map[string]any{"name": "metrics-certificate", "secret": map[string]any{"secretName": "tls"}}}
	if diff := cmp.Diff(want, volumes); diff != "" {
		t.Errorf("volumes (-want +got):\n%s", diff)
	}
	manager := containers[0].(map[string]any)
	want = []any{map[string]any{"name": "metrics-certificate", "mountPath": folder, "readOnly": true}}
	if diff := cmp.Diff(want, manager["volumeMounts"]); diff != "" {
		t.Errorf("mounts (-want +got):\n%s", diff)
	}
	if args, _, _ := unstructured.NestedStringSlice(manager, "args"); !slices.Contains(args, "--metrics-certificate="+folder) {
		t.Errorf("the operator's flags do not name the certificate: %v", args)
	}
}
