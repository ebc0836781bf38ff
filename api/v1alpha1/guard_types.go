package v1alpha1

// Guard keeps a run from harming its target. What it refuses, it refuses before
// the first write; what comes up later ends the run.
type Guard struct {
	// maxFreeQuotaPercent is how much of what its quota leaves free in a
	// member's database, in percent, the run may be expected to write. A run
	// that would write more is refused as QuotaInsufficient. It is expected from
	// the number of writes, which a closed loop bound by durationSeconds does not
	// tell; members tell their quota from etcd 3.6 on. Default 50.
	//
	// +optional
	// +kubebuilder:default=50
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=100
	MaxFreeQuotaPercent int32 `json:"maxFreeQuotaPercent,omitempty"`

	// acceptWrites lets the run write, whatever is expected of it, for example
	// because the target is compacted while it runs. Default false.
	//
	// +optional
	// +kubebuilder:default=false
	AcceptWrites bool `json:"acceptWrites"`

	// acknowledgeControlPlane lets the run load an etcd that holds the objects
	// of a Kubernetes API server: keys under /registry/, or an address that the
	// operator's configuration names as one of a control plane. Without it such
	// a run is refused as ControlPlaneTarget. Default false.
	//
	// +optional
	// +kubebuilder:default=false
	AcknowledgeControlPlane bool `json:"acknowledgeControlPlane"`

	// allowStoreWide lets spec.disturbances do what concerns the whole store, and
	// so everybody who uses it: compact it, and defragment its members. Default
	// false.
	//
	// +optional
	// +kubebuilder:default=false
	AllowStoreWide bool `json:"allowStoreWide"`

	// stopOn are the rules that end the run while it goes on. With none the run
	// ends once a member raises an alarm.
	//
	// +optional
	StopOn *StopRules `json:"stopOn,omitempty"`
}

// DefaultMaxFreeQuotaPercent is that of Guard.
const DefaultMaxFreeQuotaPercent = 50

// Reasons of Finished=True, of runs that were refused to keep the target safe.
const (
	// ReasonNoQuorum: the members have no leader.
	ReasonNoQuorum = "NoQuorum"
	// ReasonAlarmRaised: a member has raised NOSPACE or CORRUPT.
	ReasonAlarmRaised = "AlarmRaised"
	// ReasonQuotaInsufficient: the run is expected to write more than
	// spec.guard lets it.
	ReasonQuotaInsufficient = "QuotaInsufficient"
	// ReasonEndpointNotAllowed: the operator's configuration does not let
	// anybody load an address of the target.
	ReasonEndpointNotAllowed = "EndpointNotAllowed"
	// ReasonLimitExceeded: the run asks for more pods, a higher rate or one more
	// run than the operator's configuration lets it.
	ReasonLimitExceeded = "LimitExceeded"
	// ReasonControlPlaneTarget: the target holds a Kubernetes API server's objects,
	// or the operator's configuration names its address as one of a control plane.
	ReasonControlPlaneTarget = "ControlPlaneTarget"
	// ReasonUnsupported: a member does not serve a call that the workload is made of.
	ReasonUnsupported = "Unsupported"
)
