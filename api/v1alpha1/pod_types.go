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
