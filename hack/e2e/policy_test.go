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
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
)

// heldMessage is what the policy of denyStart answers.
const heldMessage = "held back by the end-to-end test"

// denyStart makes the API server refuse, until allowStart, the start of one pod
// of a run: it returns when the policy is in force.
func denyStart(t *testing.T, ns, run string, index int) {
	t.Helper()
	policy, binding := startPolicy(ns, run, index)
	for _, object := range []client.Object{policy, binding} {
		if err := suite.client.Create(suite.ctx, object); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() { allowStart(t, ns) })
	eventually(t, time.Minute, "the policy to be in force", func(ctx context.Context) error {
		err := suite.client.Create(ctx, startedPod(ns, run, index), client.DryRunAll)
		if err == nil || !strings.Contains(err.Error(), heldMessage) {
			return fmt.Errorf("a pod with a start got: %w", err)
		}
		return nil
	})
}

// allowStart removes the policy of denyStart, if it is there.
func allowStart(t *testing.T, ns string) {
	t.Helper()
	policy, binding := startPolicy(ns, "", 0)
	for _, object := range []client.Object{binding, policy} {
		if err := suite.client.Delete(suite.detached().ctx, object); client.IgnoreNotFound(err) != nil {
			t.Error(err)
		}
	}
}

func startPolicy(ns, run string, index int) (*admissionv1.ValidatingAdmissionPolicy, *admissionv1.ValidatingAdmissionPolicyBinding) {
	equivalent := admissionv1.Equivalent
	held := fmt.Sprintf("object.metadata.labels[%q] == %q && object.metadata.labels[%q] == %q && has(object.metadata.annotations) && %q in object.metadata.annotations",
		v1alpha1.LabelRunName, run, batchv1.JobCompletionIndexAnnotation, strconv.Itoa(index), plan.AnnotationStartAt)
	policy := &admissionv1.ValidatingAdmissionPolicy{
		ObjectMeta: metav1.ObjectMeta{Name: ns},
		Spec: admissionv1.ValidatingAdmissionPolicySpec{
			MatchConstraints: &admissionv1.MatchResources{
				MatchPolicy:       &equivalent,
				NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelMetadataName: ns}},
				ObjectSelector:    &metav1.LabelSelector{MatchLabels: map[string]string{v1alpha1.LabelComponent: v1alpha1.ComponentLoad}},
				ResourceRules: []admissionv1.NamedRuleWithOperations{{RuleWithOperations: admissionv1.RuleWithOperations{
					Operations: []admissionv1.OperationType{admissionv1.Create, admissionv1.Update},
					Rule:       admissionv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"pods"}},
				}}},
			},
			Validations: []admissionv1.Validation{{Expression: "!(" + held + ")", Message: heldMessage}},
		},
	}
	binding := &admissionv1.ValidatingAdmissionPolicyBinding{
		ObjectMeta: metav1.ObjectMeta{Name: ns},
		Spec: admissionv1.ValidatingAdmissionPolicyBindingSpec{
			PolicyName:        ns,
			ValidationActions: []admissionv1.ValidationAction{admissionv1.Deny},
		},
	}
	return policy, binding
}

// startedPod is a pod that the policy of denyStart refuses and nothing else does.
func startedPod(ns, run string, index int) *corev1.Pod {
	no, yes := false, true
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: ns, Name: "probe",
			Labels: map[string]string{
				v1alpha1.LabelComponent: v1alpha1.ComponentLoad, v1alpha1.LabelRunName: run,
				batchv1.JobCompletionIndexAnnotation: strconv.Itoa(index),
			},
			Annotations: map[string]string{plan.AnnotationStartAt: "now"},
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
