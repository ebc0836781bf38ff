package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
)

// PodSettings are the fields of the client pods that a user may choose.
type PodSettings struct {
	// resources of the client container. Default: requests of 100m CPU and
	// 128 MiB memory, no limits, so that the kernel does not throttle the
	// measurement.
	//
	// +optional
	Resources *corev1.ResourceRequirements `json:"resources,omitempty"`

	// nodeSelector restricts the nodes of the client pods.
	//
	// +optional
	// +kubebuilder:validation:MaxProperties=64
	NodeSelector map[string]string `json:"nodeSelector,omitempty"`

	// tolerations of the client pods.
	//
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	Tolerations []corev1.Toleration `json:"tolerations,omitempty"`

	// affinity of the client pods.
	//
	// +optional
	Affinity *corev1.Affinity `json:"affinity,omitempty"`

	// topologySpreadConstraints of the client pods.
	//
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=16
	TopologySpreadConstraints []corev1.TopologySpreadConstraint `json:"topologySpreadConstraints,omitempty"`

	// imagePullSecrets to pull the client image with.
	//
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=8
	ImagePullSecrets []corev1.LocalObjectReference `json:"imagePullSecrets,omitempty"`
}

// PodLossPolicy says what becomes of a run that loses a client pod after its start.
//
// +kubebuilder:validation:Enum=Fail;Continue
type PodLossPolicy string

const (
	// PodLossFail ends the run as PodFailed.
	PodLossFail PodLossPolicy = "Fail"
	// PodLossContinue lets the pods that live do their part.
	PodLossContinue PodLossPolicy = "Continue"
)
