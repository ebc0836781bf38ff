package install

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"
)

const (
	operatorName = "etcd-benchmark-operator"
	systemName   = "etcdbench-system"
)

func TestRulesAreTheGeneratedOnes(t *testing.T) {
	want := only(t, readObjects(t, "config/rbac/role.yaml"), "ClusterRole", "", operatorName).Object["rules"]
	narrowed := renderChart(t, "namespaces={one,two}")
	tests := map[string]object{
		"kustomize":           only(t, renderKustomize(t), "ClusterRole", "", operatorName),
		"chart":               only(t, renderChart(t), "ClusterRole", "", operatorName),
		"chart in namespaces": only(t, narrowed, "Role", "one", operatorName),
		"each namespace":      only(t, narrowed, "Role", "two", operatorName),
	}
	for name, got := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(want, got.Object["rules"]); diff != "" {
				t.Errorf("rules differ from config/rbac/role.yaml; `make manifests` writes both (-generated +rendered):\n%s", diff)
			}
		})
	}
}

func TestANamespacedInstallHasNoClusterWideRights(t *testing.T) {
	for _, role := range ofKind(renderChart(t, "namespaces={one}"), "ClusterRole") {
		if role.GetName() == operatorName {
			t.Errorf("ClusterRole %s gives the operator all namespaces", role.GetName())
		}
	}
}

// readCRDs returns the generated CRDs.
func readCRDs(t *testing.T) []object {
	t.Helper()
	var crds []object
	for _, file := range filesOf(t, "config/crd/bases/*.yaml") {
		crds = append(crds, readObjects(t, file)...)
	}
	return crds
}

func TestCRDsAreTheGeneratedOnes(t *testing.T) {
	for tool, objects := range map[string][]object{"kustomize": renderKustomize(t), "chart": renderChart(t)} {
		for _, want := range readCRDs(t) {
			t.Run(tool+" "+want.GetName(), func(t *testing.T) {
				got := only(t, objects, "CustomResourceDefinition", "", want.GetName())
				if !cmp.Equal(want.Object["spec"], got.Object["spec"]) { // the difference would be a thousand lines
					t.Error("the CRD differs from config/crd/bases: `make manifests` writes both")
				}
			})
		}
	}
}

func TestUninstallingKeepsTheCRDs(t *testing.T) {
	const policy = "helm.sh/resource-policy"
	kept, removed := renderChart(t), renderChart(t, "crds.keep=false")
	for _, crd := range readCRDs(t) {
		keeps, loses := only(t, kept, crd.GetKind(), "", crd.GetName()), only(t, removed, crd.GetKind(), "", crd.GetName())
		if got := keeps.GetAnnotations()[policy]; got != "keep" {
			t.Errorf("%s: %s is %q: uninstalling would delete every result", crd.GetName(), policy, got)
		}
		if got, ok := loses.GetAnnotations()[policy]; ok {
			t.Errorf("%s: %s is %q although crds.keep is false", crd.GetName(), policy, got)
		}
	}
}

// The roles of users name their verbs. With create-children, a policy would treat a user as the operator.
func TestUsersHaveRightsOnEveryKind(t *testing.T) {
	readers := []string{"get", "list", "watch"}
	tests := map[string][]string{
		"viewer": readers, "editor": append([]string{"create", "delete", "deletecollection", "patch", "update"}, readers...),
	}
	var kinds []string
	for _, crd := range readCRDs(t) {
		plural, _, _ := strings.Cut(crd.GetName(), ".")
		kinds = append(kinds, plural)
	}
	for tool, objects := range map[string][]object{"kustomize": renderKustomize(t), "chart": renderChart(t)} {
		for role, verbs := range tests {
			t.Run(tool+" "+role, func(t *testing.T) {
				got := &rbacv1.ClusterRole{}
				rendered := only(t, objects, "ClusterRole", "", operatorName+"-"+role)
				if err := runtime.DefaultUnstructuredConverter.FromUnstructured(rendered.Object, got); err != nil {
					t.Fatal(err)
				}
				want := []rbacv1.PolicyRule{{APIGroups: []string{"etcdbench.dev"}, Resources: kinds, Verbs: verbs}}
				inAnyOrder := cmpopts.SortSlices(func(a, b string) bool { return a < b })
				if diff := cmp.Diff(want, got.Rules, inAnyOrder); diff != "" {
					t.Errorf("rules (-want +got):\n%s", diff)
				}
			})
		}
	}
}

// TestChartAndKustomizeInstallTheSame compares every object that kustomize builds. The chart's additional objects, such
// as its uninstall hook, are not possible in kustomize.
func TestChartAndKustomizeInstallTheSame(t *testing.T) {
	chart := renderChart(t)
	for _, want := range renderKustomize(t) {
		if want.GetKind() == "Namespace" {
			continue // Helm creates it
		}
		t.Run(want.GetKind()+" "+want.GetName(), func(t *testing.T) {
			got := only(t, chart, want.GetKind(), want.GetNamespace(), want.GetName())
			if diff := cmp.Diff(content(want), content(got)); diff != "" {
				t.Errorf("chart and kustomize differ (-kustomize +chart):\n%s", diff)
			}
		})
	}
}

// The chart's value and the component of kustomize add the same policies, and change no other object.
func TestChartAndKustomizeHaveTheSameStrictMode(t *testing.T) {
	chart, before := renderChart(t, strictMode), renderChart(t)
	dir := t.TempDir()
	kustomization := "resources: [" + below(t, dir, "config/default") + "]\ncomponents: [" + below(t, dir, "config/policies/strict") + "]\n"
	if err := os.WriteFile(filepath.Join(dir, "kustomization.yaml"), []byte(kustomization), 0o600); err != nil {
		t.Fatal(err)
	}
	manifests, err := runTool(t, "kustomize", "build", dir)
	if err != nil {
		t.Fatal(err)
	}
	strict := 0
	for _, want := range decode(t, manifests) {
		if want.GetKind() == "Namespace" {
			continue // Helm creates it
		}
		got := only(t, chart, want.GetKind(), want.GetNamespace(), want.GetName())
		if diff := cmp.Diff(content(want), content(got)); diff != "" {
			t.Errorf("%s %s: chart and kustomize differ (-kustomize +chart):\n%s", want.GetKind(), want.GetName(), diff)
		}
		if strings.Contains(want.GetName(), "-strict-") {
			strict++
		}
	}
	// Five policies, each with its binding.
	if strict != 10 || len(chart) != len(before)+strict {
		t.Errorf("strict mode has %d objects in kustomize, and adds %d to the chart, wanted 10", strict, len(chart)-len(before))
	}
	if _, err := helmTemplate(t, strictMode, "admissionPolicies.enabled=false"); err == nil || !strings.Contains(err.Error(), "set both to true") {
		t.Errorf("wanted strict mode without policies to be refused, found %v", err)
	}
}

// below is the path of a folder of the checkout, as seen from another folder: kustomize wants relative paths.
func below(t *testing.T, dir, path string) string {
	t.Helper()
	absolute, err := filepath.Abs(filepath.Join(root, path))
	if err != nil {
		t.Fatal(err)
	}
	relative, err := filepath.Rel(dir, absolute)
	if err != nil {
		t.Fatal(err)
	}
	return relative
}

// content is all of an object except descriptive metadata.
func content(o object) map[string]any {
	content := o.DeepCopy().Object
	delete(content, "metadata")
	return content
}

func TestValuesAreChecked(t *testing.T) {
	tests := map[string]string{
		"unknown value":      "replica=2",
		"unknown below":      "image.tags=1",
		"wrong type":         "replicas=many",
		"out of range":       "replicas=-1",
		"less than none":     "limits.podsPerRun=-1",
		"quotes in an image": "limits.memberImages={a'b}",
		"two images in one":  "limits.memberImages={a b}",
		"no size":            "limits.memberStorage=much",
		"no user":            "memberUser=-1",
		"two hosts in one":   "limits.endpoints={a b}",
		"a host with a port": "limits.endpoints={etcd:2379}",
		"an address's port":  "limits.endpoints={10.0.0.1:2379}",
		"an IPv6 port":       "limits.endpoints={[fd00::1]:2379}",
		"a URL of endpoints": "limits.endpoints={https://etcd}",
		"a path":             "limits.endpoints={etcd/24}",
		"no port of etcd":    "controlPlaneEndpoints={etcd:client}",
		"a URL of etcd":      "controlPlaneEndpoints={https://etcd}",
		"invalid namespace":  "namespaces={Not_A_Name}",
		"unknown pullPolicy": "image.pullPolicy=Sometimes",
		"two places of a CA": "metrics.certificate.ca.secretName=a,metrics.certificate.ca.configMapName=b",
		"no name":            "metrics.certificate.secretName=A b",
		"no key of a token":  "metrics.serviceMonitor.token.key=",
		"Kubernetes' unit":   "goMemoryLimit=300Mi",
		"no memory at all":   "goMemoryLimit=0B",
		"unknown level":      "log.level=loud",
		"unknown format":     "log.format=xml",
		"no account":         "serviceAccount.create=false",
		"a word as a source": "networkPolicy.metricsFrom={monitoring}",
		"two ways to trust":  "kubeletMetrics.caConfigMapName=a,kubeletMetrics.insecureSkipVerify=true",
	}
	for name, value := range tests {
		t.Run(name, func(t *testing.T) {
			if _, err := helmTemplate(t, value); err == nil {
				t.Errorf("helm accepts %s, wanted an error", value)
			}
		})
	}
}

func TestEveryOptionRenders(t *testing.T) {
	objects := renderChart(t, "metrics.serviceMonitor.enabled=true", "metrics.podMonitor.enabled=true", "metrics.prometheusRule.enabled=true", "networkPolicy.enabled=true",
		"priorityClassName=high", "nodeSelector.disk=ssd", "tolerations[0].operator=Exists", "imagePullSecrets[0].name=registry",
		"limits.endpoints={10.0.0.0/8,192.0.2.1,*.etcd.svc,fd00::/8,::1,::ffff:192.0.2.0/120}", "limits.podsPerRun=3", "limits.runsPerNamespace=2", "limits.requestsPerSecondPerRun=1000000",
		"controlPlaneEndpoints={10.0.0.0/28,192.0.2.1:2379,*.etcd.example:2379,fd00::/8,[fd00::1]:2379,10.0.0.0/28:2379}",
		"replicas=2", "goMemoryLimit=1GiB", "extraArgs={--leader-election-namespace=x}", "clientImage=example.org/client:1", "podAnnotations.a=b", "podLabels.c=d")
	for _, kind := range []string{"ServiceMonitor", "PodMonitor", "PrometheusRule", "NetworkPolicy"} {
		if len(ofKind(objects, kind)) != 1 {
			t.Errorf("want one %s, got %d", kind, len(ofKind(objects, kind)))
		}
	}
	without := renderChart(t, "admissionPolicies.enabled=false", "crds.install=false", "uninstall.stopRuns=false", "metrics.enabled=false")
	for _, kind := range []string{"ValidatingAdmissionPolicy", "CustomResourceDefinition", "Job", "Service", "ServiceMonitor"} {
		if got := len(ofKind(without, kind)); got != 0 {
			t.Errorf("want no %s, got %d", kind, got)
		}
	}
}

// helm upgrade --reuse-values takes the old release's values without the defaults of values that a newer chart has added, and
// templates fail for them.
func TestDocumentedUpgradesHaveTheDefaultsOfNewValues(t *testing.T) {
	for _, file := range append(filesOf(t, "docs/*.md"), filesOf(t, "*.md")...) {
		if strings.Contains(readText(t, file), " --reuse-values") {
			t.Errorf("%s has --reuse-values, wanted --reset-then-reuse-values", file)
		}
	}
}

// maxCRDBytes of JSON: all annotations of an object together may have 262,144 bytes, and a plain `kubectl apply` stores
// the whole object in one. The rest is for the annotations of others.
const maxCRDBytes = 250_000

// A plain `kubectl apply` of each CRD works, under a group that is new to the API server.
func TestKubectlAppliesTheCRDs(t *testing.T) {
	for _, file := range filesOf(t, "config/crd/bases/*.yaml") {
		t.Run(filepath.Base(file), func(t *testing.T) {
			crd := readText(t, file)
			data, err := yaml.YAMLToJSON([]byte(crd))
			if err != nil {
				t.Fatal(err)
			}
			if len(data) > maxCRDBytes {
				t.Errorf("the CRD has %d bytes as JSON, wanted at most %d", len(data), maxCRDBytes)
			}
			dir := t.TempDir()
			manifest, config := filepath.Join(dir, "crd.yaml"), filepath.Join(dir, "kubeconfig")
			for path, content := range map[string][]byte{
				manifest: []byte(strings.ReplaceAll(crd, "etcdbench.dev", "applied.example.org")), config: kubeconfig,
			} {
				if err := os.WriteFile(path, content, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			for _, want := range []string{"created", "unchanged"} {
				out, err := runTool(t, "kubectl", "--kubeconfig="+config, "apply", "-f", manifest)
				if err != nil || !strings.Contains(out, want) {
					t.Errorf("wanted it to be %s, found %q and %v", want, out, err)
				}
			}
		})
	}
}
