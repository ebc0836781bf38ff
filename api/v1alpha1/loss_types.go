package v1alpha1

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

// ReasonPartlyCompleted: client pods were lost, spec.onPodLost let the others go
// on, and these did all that was asked of them.
const ReasonPartlyCompleted = "PartlyCompleted"
