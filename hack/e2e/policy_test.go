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

// heldMessage is what the policy of a hold answers.
const heldMessage = "held back by the end-to-end test"

// hold makes the API server refuse what the operator wants to write.
type hold struct {
	// ns is the namespace that it is about, name its own name there.
	ns, name string
	// labels select the objects; none means all.
	labels map[string]string
	group  string
	// version and resources are of the objects.
	version   string
	resources []string
	// allowed is the CEL expression of what is not refused.
	allowed string
	// probe is an object that the policy refuses and nothing else does.
	probe client.Object
}

// holdAnnotation keeps an annotation from all pods of a run.
func holdAnnotation(ns, run, annotation string) hold {
	h := hold{ns: ns, name: run + "-annotation", version: "v1", resources: []string{"pods"}}
	h.labels = map[string]string{v1alpha1.LabelComponent: v1alpha1.ComponentLoad, v1alpha1.LabelRunName: run}
	h.allowed = fmt.Sprintf("!has(object.metadata.annotations) || !(%q in object.metadata.annotations)", annotation)
	h.probe = annotatedPod(h, annotation)
	return h
}

// ofPod narrows a hold on pods to one of them, by its index in the Job.
func (h hold) ofPod(index int) hold {
	h.labels = maps.Clone(h.labels)
	h.labels[batchv1.JobCompletionIndexAnnotation] = strconv.Itoa(index)
	h.probe.SetLabels(h.labels)
	return h
}

// holdStage keeps the runs of a namespace from being said to be in a stage.
func holdStage(ns, stage string) hold {
	const asked = "e2e.etcdbench.dev/probe"
	h := hold{ns: ns, name: "stage", group: v1alpha1.GroupVersion.Group, version: v1alpha1.GroupVersion.Version}
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

// set makes the API server refuse until release: it returns when that is in force.
func (h hold) set(t *testing.T) {
	t.Helper()
	for _, object := range []client.Object{h.policy(), h.binding()} {
		if err := suite.client.Create(suite.ctx, object); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() { h.release(t) })
	eventually(t, time.Minute, "the policy to be in force", func(ctx context.Context) error {
		err := suite.client.Create(ctx, h.probe.DeepCopyObject().(client.Object), client.DryRunAll)
		if err == nil || !strings.Contains(err.Error(), heldMessage) {
			return fmt.Errorf("what it should refuse got: %w", err)
		}
		return nil
	})
}

// release removes what set created, if it is there.
func (h hold) release(t *testing.T) {
	t.Helper()
	for _, object := range []client.Object{h.binding(), h.policy()} {
		if err := suite.client.Delete(suite.detached().ctx, object); client.IgnoreNotFound(err) != nil {
			t.Error(err)
		}
	}
}

func (h hold) meta() metav1.ObjectMeta { return metav1.ObjectMeta{Name: h.ns + "-" + h.name} }

func (h hold) policy() *admissionv1.ValidatingAdmissionPolicy {
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
			Validations: []admissionv1.Validation{{Expression: h.allowed, Message: heldMessage}},
		},
	}
}

func (h hold) binding() *admissionv1.ValidatingAdmissionPolicyBinding {
	return &admissionv1.ValidatingAdmissionPolicyBinding{
		ObjectMeta: h.meta(),
		Spec: admissionv1.ValidatingAdmissionPolicyBindingSpec{
			PolicyName:        h.meta().Name,
			ValidationActions: []admissionv1.ValidationAction{admissionv1.Deny},
		},
	}
}

// annotatedPod is a pod that is fine but for what h refuses.
func annotatedPod(h hold, annotation string) *corev1.Pod {
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
