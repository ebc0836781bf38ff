package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
)

// PodSettings are the fields of the client pods that a user may set.
type PodSettings struct {
	// resources of the client container. Default: requests of 100m CPU and 128 MiB
	// memory, and no limits, so that the kernel does not throttle the measurement.
	//
	// +optional
	Resources *corev1.ResourceRequirements `json:"resources,omitempty"`

	// labels are added to those of the client pods and of the pods that delete
	// remaining keys: for a policy that demands a label, or for a mesh that would
	// add a sidecar. The operator's own labels keep Istio's and Linkerd's away.
	// A label can also let a Service, a NetworkPolicy, a PodDisruptionBudget or a
	// webhook select the pods. So the user needs the right to create pods.
	// Refused are the keys of the operator (etcdbench.dev/, app.kubernetes.io/name,
	// component and managed-by, and those that keep sidecars and evictions away)
	// and those of Kubernetes (in kubernetes.io and k8s.io, except other ones of
	// app.kubernetes.io/; controller-uid; job-name). Absent: none are added.
	//
	// +optional
	// +kubebuilder:validation:XValidation:rule="self.all(k, self[k].size() <= 63 && self[k].matches('^([A-Za-z0-9]([A-Za-z0-9_.-]*[A-Za-z0-9])?)?$'))",message="must have values of at most 63 letters, digits, '-', '_' and '.', which begin and end with a letter or a digit"
	Labels PodMetadata `json:"labels,omitempty"`

	// annotations are added like labels, and the same keys are refused. An
	// annotation can let a webhook or a network plugin change the pods.
	//
	// +optional
	Annotations PodMetadata `json:"annotations,omitempty"`

	// nodeSelector restricts the nodes of the client pods. Absent: any node.
	//
	// +optional
	// +kubebuilder:validation:MaxProperties=64
	NodeSelector map[string]string `json:"nodeSelector,omitempty"`

	// tolerations of the client pods. Absent: none.
	//
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	Tolerations []corev1.Toleration `json:"tolerations,omitempty"`

	// affinity of the client pods. Absent: none.
	//
	// +optional
	Affinity *corev1.Affinity `json:"affinity,omitempty"`

	// topologySpreadConstraints of the client pods. Absent: none.
	//
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=16
	TopologySpreadConstraints []corev1.TopologySpreadConstraint `json:"topologySpreadConstraints,omitempty"`

	// imagePullSecrets are used to pull the client image. Absent: none.
	//
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=8
	ImagePullSecrets []corev1.LocalObjectReference `json:"imagePullSecrets,omitempty"`
}

// PodMetadata are labels or annotations of the user for the client pods, by key.
//
// +kubebuilder:validation:MaxProperties=32
// +kubebuilder:validation:XValidation:rule="self.all(k, k.size() <= 317 && k.matches('^([a-z0-9.-]+/)?[A-Za-z0-9]([A-Za-z0-9_.-]*[A-Za-z0-9])?$'))",message="must have keys such as team or example.org/team"
// +kubebuilder:validation:XValidation:rule="self.all(k, !k.startsWith('etcdbench.dev/'))",message="must not have keys in etcdbench.dev/: the operator sets them; remove them"
// +kubebuilder:validation:XValidation:rule="self.all(k, k.startsWith('app.kubernetes.io/') || !k.matches('^([^/]*[.])?(kubernetes|k8s)[.]io/'))",message="must not have keys in kubernetes.io or k8s.io, except in app.kubernetes.io/: Kubernetes sets them; remove them"
// +kubebuilder:validation:XValidation:rule="!self.exists(k, k in ['app.kubernetes.io/name', 'app.kubernetes.io/component', 'app.kubernetes.io/managed-by', 'controller-uid', 'job-name'])",message="must not have app.kubernetes.io/name, app.kubernetes.io/component, app.kubernetes.io/managed-by, controller-uid or job-name: the operator and Kubernetes set them; remove them"
// +kubebuilder:validation:XValidation:rule="!self.exists(k, k in ['sidecar.istio.io/inject', 'linkerd.io/inject', 'karpenter.sh/do-not-disrupt'])",message="must not have sidecar.istio.io/inject, linkerd.io/inject or karpenter.sh/do-not-disrupt: the operator keeps sidecars and evictions away with them; remove them"
type PodMetadata map[string]MetadataValue

// MetadataValue is the value of a label or an annotation.
//
// +kubebuilder:validation:MaxLength=2048
type MetadataValue string

// PodLossPolicy is what happens to a run that loses a client pod after its
// start.
//
// +kubebuilder:validation:Enum=Fail;Continue
type PodLossPolicy string

const (
	// PodLossFail ends the run as PodFailed.
	PodLossFail PodLossPolicy = "Fail"
	// PodLossContinue lets the remaining pods complete their work.
	PodLossContinue PodLossPolicy = "Continue"
)
