//go:build e2e

package e2e

import (
	"context"
	"fmt"
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

// hold keeps the operator from setting an annotation on a run's pods.
type hold struct {
	ns, run, annotation string
	// index is the pod that it is about, by its index in the Job.
	index int
}

// set makes the API server refuse the annotation until release: it returns when
// that is in force.
func (h hold) set(t *testing.T) {
	t.Helper()
	for _, object := range []client.Object{h.policy(), h.binding()} {
		if err := suite.client.Create(suite.ctx, object); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() { h.release(t) })
	eventually(t, time.Minute, "the policy to be in force", func(ctx context.Context) error {
		err := suite.client.Create(ctx, h.probe(), client.DryRunAll)
		if err == nil || !strings.Contains(err.Error(), heldMessage) {
			return fmt.Errorf("a pod with the annotation got: %w", err)
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

func (h hold) meta() metav1.ObjectMeta { return metav1.ObjectMeta{Name: h.ns + "-" + h.run} }

func (h hold) policy() *admissionv1.ValidatingAdmissionPolicy {
	equivalent := admissionv1.Equivalent
	return &admissionv1.ValidatingAdmissionPolicy{
		ObjectMeta: h.meta(),
		Spec: admissionv1.ValidatingAdmissionPolicySpec{
			MatchConstraints: &admissionv1.MatchResources{
				MatchPolicy:       &equivalent,
				NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelMetadataName: h.ns}},
				ObjectSelector:    &metav1.LabelSelector{MatchLabels: h.labels()},
				ResourceRules: []admissionv1.NamedRuleWithOperations{{RuleWithOperations: admissionv1.RuleWithOperations{
					Operations: []admissionv1.OperationType{admissionv1.Create, admissionv1.Update},
					Rule:       admissionv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"pods"}},
				}}},
			},
			Validations: []admissionv1.Validation{{
				Expression: fmt.Sprintf("!has(object.metadata.annotations) || !(%q in object.metadata.annotations)", h.annotation),
				Message:    heldMessage,
			}},
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

func (h hold) labels() map[string]string {
	return map[string]string{
		v1alpha1.LabelComponent:              v1alpha1.ComponentLoad,
		v1alpha1.LabelRunName:                h.run,
		batchv1.JobCompletionIndexAnnotation: strconv.Itoa(h.index),
	}
}

// probe is a pod that the policy refuses and nothing else does.
func (h hold) probe() *corev1.Pod {
	no, yes := false, true
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: h.ns, Name: "probe", Labels: h.labels(), Annotations: map[string]string{h.annotation: "true"},
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
