package install

import (
	"fmt"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"
)

// newRun returns a valid run with additional fields of its target and its pod settings, written as YAML.
func newRun(t *testing.T, namespace, target, pod string) *object {
	t.Helper()
	manifest := fmt.Sprintf(`{apiVersion: etcdbench.dev/v1alpha1, kind: EtcdBenchmark, metadata: {generateName: run-, namespace: %s}, spec: {
		target: {%s}, workload: {type: Put, put: {}}, load: {requests: 1}, pod: {%s}}}`, namespace, anyTarget(target), pod)
	return parse(t, manifest)
}

// anyTarget adds an address to the fields of a target that does not start its own members.
func anyTarget(fields string) string {
	if strings.HasPrefix(fields, "ephemeral:") {
		return fields
	}
	return `endpoints: ["127.0.0.1:2379"], ` + fields
}

// newSuite returns a valid suite with additional fields of its pod settings and of each of its targets, written as YAML.
func newSuite(t *testing.T, namespace, pod string, targets ...string) *object {
	t.Helper()
	var entries []string
	for i, target := range targets {
		entries = append(entries, fmt.Sprintf(`{name: t%d, target: {%s}}`, i, anyTarget(target)))
	}
	manifest := fmt.Sprintf(`{apiVersion: etcdbench.dev/v1alpha1, kind: EtcdBenchmarkSuite, metadata: {generateName: suite-, namespace: %s}, spec: {
		template: {pod: {%s}}, targets: [%s], workloads: [{name: put, workload: {type: Put, put: {}}}], loads: [{name: one, load: {requests: 1}}]}}`,
		namespace, pod, strings.Join(entries, ", "))
	return parse(t, manifest)
}

// newSchedule returns a valid schedule of the suite that newSuite returns.
func newSchedule(t *testing.T, namespace, pod string, targets ...string) *object {
	t.Helper()
	o := parse(t, fmt.Sprintf(`{apiVersion: etcdbench.dev/v1alpha1, kind: EtcdBenchmarkSchedule, metadata: {generateName: nightly-, namespace: %s}, spec: {
		schedule: "0 3 * * *", suspend: true}}`, namespace))
	o.Object["spec"].(map[string]any)["suiteTemplate"] = map[string]any{"spec": newSuite(t, namespace, pod, targets...).Object["spec"]}
	return o
}

// holders make the objects that hold a suite's spec, with the place of it.
var holders = map[string]struct {
	make func(t *testing.T, namespace, pod string, targets ...string) *object
	at   string
}{
	"suite":    {newSuite, "spec"},
	"schedule": {newSchedule, "spec.suiteTemplate.spec"},
}

func parse(t *testing.T, manifest string) *object {
	t.Helper()
	o := &object{}
	if err := yaml.Unmarshal([]byte(manifest), &o.Object); err != nil {
		t.Fatal(err)
	}
	return o
}

// ownedBy returns the object with owners.
func ownedBy(o *object, owners ...metav1.OwnerReference) *object {
	o.SetOwnerReferences(owners)
	return o
}

// suiteOwner is the reference to a suite as the controller of a run.
func suiteOwner(name string, uid types.UID) metav1.OwnerReference {
	return controllerOf("EtcdBenchmarkSuite", name, uid)
}

func controllerOf(kind, name string, uid types.UID) metav1.OwnerReference {
	isController := true
	return metav1.OwnerReference{APIVersion: "etcdbench.dev/v1alpha1", Kind: kind, Name: name, UID: uid, Controller: &isController}
}
