package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// StopRules end a run that goes on, as spec.stop would: what is in flight is
// awaited, the keys are deleted, what was measured is kept. They hold from
// before the first write until the measured window ends.
type StopRules struct {
	// alarm ends the run once a member has raised NOSPACE or CORRUPT. Default true.
	//
	// +optional
	// +kubebuilder:default=true
	Alarm bool `json:"alarm"`

	// leaderChange ends the run once another member leads, or an election was
	// held. Default false.
	//
	// +optional
	// +kubebuilder:default=false
	LeaderChange bool `json:"leaderChange"`

	// databaseSize ends the run once a member's database has grown too large.
	//
	// +optional
	DatabaseSize *DatabaseSizeRule `json:"databaseSize,omitempty"`

	// errorRatio ends the run once too many requests of a client pod fail.
	//
	// +optional
	ErrorRatio *ErrorRatioRule `json:"errorRatio,omitempty"`

	// walFsync ends the run once a member takes too long to flush its log. It
	// needs the members' own metrics; one that does not serve them is not
	// watched, and a warning says so.
	//
	// +optional
	WALFsync *WALFsyncRule `json:"walFsync,omitempty"`
}

// DatabaseSizeRule limits the database of each member.
type DatabaseSizeRule struct {
	// maxBytes is the size, in bytes, above which a member's database ends the
	// run. It counts as the quota does, free pages included.
	//
	// +required
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1125899906842624
	MaxBytes int64 `json:"maxBytes"`
}

// ErrorRatioRule limits the share of requests that fail.
type ErrorRatioRule struct {
	// maxPerMillion is how many in a million of the requests of one client pod
	// that ended within forSeconds, warm-up included, may have failed.
	//
	// +required
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=1000000
	MaxPerMillion int32 `json:"maxPerMillion"`

	// forSeconds is over what time, in seconds, they are counted. Default 10.
	//
	// +optional
	// +kubebuilder:default=10
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=3600
	ForSeconds int32 `json:"forSeconds,omitempty"`
}

// WALFsyncRule limits the mean time that a member takes to flush its log.
type WALFsyncRule struct {
	// maxMeanMicroseconds is the mean, in microseconds, of the flushes within
	// forSeconds, above which a member ends the run.
	//
	// +required
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=60000000
	MaxMeanMicroseconds int64 `json:"maxMeanMicroseconds"`

	// forSeconds is over what time, in seconds, the mean is taken. Default 10.
	//
	// +optional
	// +kubebuilder:default=10
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=3600
	ForSeconds int32 `json:"forSeconds,omitempty"`
}

// GuardRule names a rule of StopRules.
//
// +kubebuilder:validation:Enum=Alarm;LeaderChange;DatabaseSize;ErrorRatio;WALFsync
type GuardRule string

// GuardStatus is the rule of spec.guard.stopOn that has ended the run.
type GuardStatus struct {
	// rule that fired: Alarm, LeaderChange, DatabaseSize, ErrorRatio or WALFsync.
	//
	// +required
	Rule GuardRule `json:"rule"`

	// subject is the member or the client pod that was over the limit.
	//
	// +optional
	// +kubebuilder:validation:MaxLength=256
	Subject string `json:"subject,omitempty"`

	// wanted is the limit, with its unit.
	//
	// +optional
	// +kubebuilder:validation:MaxLength=256
	Wanted string `json:"wanted,omitempty"`

	// got is what was found instead, with its unit.
	//
	// +optional
	// +kubebuilder:validation:MaxLength=256
	Got string `json:"got,omitempty"`

	// firedAt is when that was, by the clock of the client pod that saw it.
	//
	// +required
	FiredAt metav1.MicroTime `json:"firedAt"`
}

// ReasonGuardStopped: a rule of spec.guard.stopOn ended the run; status.guard
// says which, and the result is what was measured until then.
const ReasonGuardStopped = "GuardStopped"
