package resources

import (
	"maps"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
)

// Labels returns the labels of an object of the run; component is one of the API's values of LabelComponent.
func Labels(run *v1alpha1.EtcdBenchmark, component string) map[string]string {
	return map[string]string{
		"app.kubernetes.io/name":      "etcd-benchmark",
		"app.kubernetes.io/component": component,
		v1alpha1.LabelManagedBy:       v1alpha1.ManagedBy,
		v1alpha1.LabelRunUID:          string(run.UID),
		v1alpha1.LabelRunName:         run.Name,
		v1alpha1.LabelWorkload:        string(run.Resolved().Workload.Type),
		v1alpha1.LabelComponent:       component,
	}
}

// podLabels are those that the user has set, those of the run, and the one that opts out of Istio's sidecar.
func podLabels(run *v1alpha1.EtcdBenchmark, component string) map[string]string {
	labels := map[string]string{}
	if run.Spec.Pod != nil {
		addTo(labels, run.Spec.Pod.Labels)
	}
	maps.Copy(labels, Labels(run, component))
	labels["sidecar.istio.io/inject"] = "false"
	return labels
}

// podAnnotations are those that the user has set, and those that prevent other controllers from evicting the pods or adding
// containers, because either would distort the measurement.
func podAnnotations(run *v1alpha1.EtcdBenchmark, more map[string]string) map[string]string {
	annotations := map[string]string{}
	if run.Spec.Pod != nil {
		addTo(annotations, run.Spec.Pod.Annotations)
	}
	maps.Copy(annotations, map[string]string{
		"cluster-autoscaler.kubernetes.io/safe-to-evict": "false",
		"karpenter.sh/do-not-disrupt":                    "true",
		"sidecar.istio.io/inject":                        "false",
		"linkerd.io/inject":                              "disabled",
	})
	maps.Copy(annotations, more)
	return annotations
}

func addTo[V ~string](to map[string]string, from map[string]V) {
	for key, value := range from {
		to[key] = string(value)
	}
}

func controllerOf(run *v1alpha1.EtcdBenchmark) metav1.OwnerReference {
	return *metav1.NewControllerRef(run, v1alpha1.GroupVersion.WithKind("EtcdBenchmark"))
}

func ownerOf(run *v1alpha1.EtcdBenchmark) *metav1ac.OwnerReferenceApplyConfiguration {
	return metav1ac.OwnerReference().
		WithAPIVersion(v1alpha1.GroupVersion.String()).WithKind("EtcdBenchmark").
		WithName(run.Name).WithUID(run.UID).
		WithController(true).WithBlockOwnerDeletion(true)
}
