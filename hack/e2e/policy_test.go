//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"maps"
	"strconv"
	"strings"
	"testing"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
)

// blockedMessage is the error message of the blocking policy.
const blockedMessage = "blocked by the end-to-end test"

// writeBlock makes the API server refuse certain writes of the operator.
type writeBlock struct {
	// ns is the namespace of the blocked objects, and name the policy's name.
	ns, name string
	// labels select the objects; none means all.
	labels map[string]string
	group  string
	// version and resources of the objects.
	version   string
	resources []string
	// allowed is the CEL expression for writes that are not refused.
	allowed string
	// probe is an object that only this policy refuses.
	probe client.Object
}

// blockAnnotation blocks an annotation on all pods of a run.
func blockAnnotation(ns, run, annotation string) writeBlock {
	h := writeBlock{ns: ns, name: run + "-annotation", version: "v1", resources: []string{"pods"}}
	h.labels = map[string]string{v1alpha1.LabelComponent: v1alpha1.ComponentLoad, v1alpha1.LabelRunName: run}
	h.allowed = fmt.Sprintf("!has(object.metadata.annotations) || !(%q in object.metadata.annotations)", annotation)
	h.probe = annotatedPod(h, annotation)
	return h
}

// ofPod limits a block to one pod, by its index in the Job.
func (h writeBlock) ofPod(index int) writeBlock {
	h.labels = maps.Clone(h.labels)
	h.labels[batchv1.JobCompletionIndexAnnotation] = strconv.Itoa(index)
	h.probe.SetLabels(h.labels)
	return h
}

// blockStage blocks a stage in the status of the runs of a namespace.
func blockStage(ns, stage string) writeBlock {
	const asked = "e2e.etcdbench.dev/probe"
	h := writeBlock{ns: ns, name: "stage", group: v1alpha1.GroupVersion.Group, version: v1alpha1.GroupVersion.Version}
	h.resources = []string{"etcdbenchmarks", "etcdbenchmarks/status"}
	h.allowed = fmt.Sprintf("!(has(object.metadata.labels) && %q in object.metadata.labels) && "+
		"!(has(object.status) && has(object.status.conditions) && object.status.conditions.exists(c, c.type == %q && c.reason == %q))",
		asked, v1alpha1.ConditionFinished, stage)
	probe := newPutIn(ns, suite.side, "probe", 1)
	probe.Spec.Load.Pods, probe.Spec.Load.Connections, probe.Spec.Load.Clients = 1, 1, 1
	probe.Labels = map[string]string{asked: "true"}
	h.probe = probe
	return h
}

// set makes the API server refuse until release. It returns when the policy is in force.
func (h writeBlock) set(t *testing.T) {
	t.Helper()
	for _, object := range []client.Object{h.policy(), h.binding()} {
		if err := suite.client.Create(suite.ctx, object); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() { h.release(t) })
	eventually(t, time.Minute, "the policy to be in force", func(ctx context.Context) error {
		err := suite.client.Create(ctx, h.probe.DeepCopyObject().(client.Object), client.DryRunAll)
		if err == nil || !strings.Contains(err.Error(), blockedMessage) {
			return fmt.Errorf("a write that the policy should refuse returned: %w", err)
		}
		return nil
	})
}

// release removes what set created, if it exists.
func (h writeBlock) release(t *testing.T) {
	t.Helper()
	for _, object := range []client.Object{h.binding(), h.policy()} {
		if err := suite.client.Delete(suite.detached().ctx, object); client.IgnoreNotFound(err) != nil {
			t.Error(err)
		}
	}
}

func (h writeBlock) meta() metav1.ObjectMeta { return metav1.ObjectMeta{Name: h.ns + "-" + h.name} }

func (h writeBlock) policy() *admissionv1.ValidatingAdmissionPolicy {
	equivalent := admissionv1.Equivalent
	return &admissionv1.ValidatingAdmissionPolicy{
		ObjectMeta: h.meta(),
		Spec: admissionv1.ValidatingAdmissionPolicySpec{
			MatchConstraints: &admissionv1.MatchResources{
				MatchPolicy:       &equivalent,
				NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelMetadataName: h.ns}},
				ObjectSelector:    &metav1.LabelSelector{MatchLabels: h.labels},
				ResourceRules: []admissionv1.NamedRuleWithOperations{{RuleWithOperations: admissionv1.RuleWithOperations{
					Operations: []admissionv1.OperationType{admissionv1.Create, admissionv1.Update},
					Rule:       admissionv1.Rule{APIGroups: []string{h.group}, APIVersions: []string{h.version}, Resources: h.resources},
				}}},
			},
			Validations: []admissionv1.Validation{{Expression: h.allowed, Message: blockedMessage}},
		},
	}
}

func (h writeBlock) binding() *admissionv1.ValidatingAdmissionPolicyBinding {
	return &admissionv1.ValidatingAdmissionPolicyBinding{
		ObjectMeta: h.meta(),
		Spec: admissionv1.ValidatingAdmissionPolicyBindingSpec{
			PolicyName:        h.meta().Name,
			ValidationActions: []admissionv1.ValidationAction{admissionv1.Deny},
		},
	}
}

// annotatedPod is a valid pod with the annotation that h refuses.
func annotatedPod(h writeBlock, annotation string) *corev1.Pod {
	no, yes := false, true
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: h.ns, Name: "probe", Labels: h.labels, Annotations: map[string]string{annotation: "true"},
		},
		Spec: corev1.PodSpec{
			SecurityContext: &corev1.PodSecurityContext{
				RunAsNonRoot:   &yes,
				SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
			},
			Containers: []corev1.Container{{Name: "probe", Image: suite.image, SecurityContext: &corev1.SecurityContext{
				AllowPrivilegeEscalation: &no,
				Capabilities:             &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
			}}},
		},
	}
}
