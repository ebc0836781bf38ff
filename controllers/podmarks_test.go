package controllers

import (
	"context"
	"maps"
	"slices"
	"testing"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/controllers/internal/resources"
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
)

// Companies demand labels on all pods, and the API server refuses others.
func TestAPolicyThatDemandsALabel(t *testing.T) {
	s := newHarness(t, func(run *v1alpha1.EtcdBenchmark) {
		run.Spec.Pod = &v1alpha1.PodSettings{Labels: v1alpha1.PodMetadata{"team": "billing"}}
	})
	s.demandLabel("team")
	plain := podOf(s.loadJob())
	delete(plain.Labels, "team")
	s.await("the policy to be in force", func() bool {
		return apierrors.IsForbidden(s.api.Create(t.Context(), plain.DeepCopy(), client.DryRunAll))
	})
	s.playPreparing()
	s.playReady()
	s.playRunning()
	for _, a := range s.pods {
		a.exits(137, nil)
	}
	s.awaitFinished(v1alpha1.ReasonPodFailed)
	s.makePod(s.cleanupJob(), 0)
}

// demandLabel makes the API server refuse pods without a label in the namespace of the run.
func (s *harness) demandLabel(label string) {
	s.t.Helper()
	name := metav1.ObjectMeta{Name: "demand-" + s.run.Namespace}
	policy := &admissionregistrationv1.ValidatingAdmissionPolicy{ObjectMeta: name, Spec: admissionregistrationv1.ValidatingAdmissionPolicySpec{
		MatchConstraints: &admissionregistrationv1.MatchResources{ResourceRules: []admissionregistrationv1.NamedRuleWithOperations{{
			RuleWithOperations: admissionregistrationv1.RuleWithOperations{
				Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Create},
				Rule:       admissionregistrationv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"pods"}},
			},
		}}},
		Validations: []admissionregistrationv1.Validation{{Expression: "has(object.metadata.labels) && '" + label + "' in object.metadata.labels", Message: "the label " + label + " is missing", Reason: new(metav1.StatusReasonForbidden)}},
	}}
	binding := &admissionregistrationv1.ValidatingAdmissionPolicyBinding{ObjectMeta: name, Spec: admissionregistrationv1.ValidatingAdmissionPolicyBindingSpec{
		PolicyName: name.Name, ValidationActions: []admissionregistrationv1.ValidationAction{admissionregistrationv1.Deny},
		MatchResources: &admissionregistrationv1.MatchResources{NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelMetadataName: s.run.Namespace}}},
	}}
	for _, o := range []client.Object{policy, binding} {
		s.must(s.api.Create(s.t.Context(), o))
		s.t.Cleanup(func() { _ = s.api.Delete(context.Background(), o) })
	}
}

// A user cannot set a key that the operator or the Job controller sets on a pod of a run.
func TestNoKeyOfThePodsCanBeSet(t *testing.T) {
	s := newHarness(t)
	load := s.loadJob()
	run := s.run.DeepCopy()
	run.Status = s.status()
	cleanup, err := resources.CleanupJob(run, "example.org/loadgen:v1", 0)
	s.must(err)
	set := map[string]string{
		plan.AnnotationStartAt: "", plan.AnnotationAdmitted: "", plan.AnnotationStop: "", plan.AnnotationCollected: "",
		batchv1.JobCompletionIndexAnnotation: "", v1alpha1.LabelSuite: "",
	}
	for _, job := range []*batchv1.Job{load, cleanup} {
		maps.Copy(set, job.Spec.Template.Labels)
		maps.Copy(set, job.Spec.Template.Annotations)
	}
	if len(set) < 15 || set[batchv1.JobNameLabel] == "" {
		t.Fatalf("found only the keys %v", slices.Sorted(maps.Keys(set)))
	}
	for key := range set {
		for field, pod := range map[string]*v1alpha1.PodSettings{
			"labels":      {Labels: v1alpha1.PodMetadata{key: "x"}},
			"annotations": {Annotations: v1alpha1.PodMetadata{key: "x"}},
		} {
			try := newRun(s.run.Namespace, "try", func(run *v1alpha1.EtcdBenchmark) { run.Spec.Pod = pod })
			if err := s.api.Create(t.Context(), try, client.DryRunAll); !apierrors.IsInvalid(err) || !contains(err.Error(), "spec.pod."+field) || !contains(err.Error(), "must not have") {
				t.Errorf("%s with the key %s: wanted a refusal, found %v", field, key, err)
			}
		}
	}
}
