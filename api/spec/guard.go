package spec

import "time"

// Guard keeps a run from harming its target. What it refuses, it refuses before
// the first write; what comes up later ends the run.
type Guard struct {
	// maxFreeQuotaPercent is how much of what its quota leaves free in a
	// member's database, in percent, the run may be expected to write. A run
	// that would write more is refused as QuotaInsufficient. The estimate follows
	// from the number of writes. For a closed loop without load.requests it cannot be
	// made: set load.requests or load.rate. Members tell their quota from etcd 3.6
	// on. Default 50.
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

// defaultMaxFreeQuotaPercent is that of Guard.
const defaultMaxFreeQuotaPercent = 50

// DefaultGuard is the guard of a run whose spec has none.
func DefaultGuard() Guard { return Guard{MaxFreeQuotaPercent: defaultMaxFreeQuotaPercent} }

// QuotaPercent is how much of the free quota the run may be expected to write;
// 0 is any amount.
func (g Guard) QuotaPercent() int64 {
	switch {
	case g.AcceptWrites:
		return 0
	case g.MaxFreeQuotaPercent == 0:
		return defaultMaxFreeQuotaPercent
	}
	return int64(g.MaxFreeQuotaPercent)
}

// Rules are the rules that end the run while it goes on.
func (g Guard) Rules() StopRules {
	if g.StopOn == nil {
		return StopRules{Alarm: true}
	}
	return *g.StopOn
}

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

// OfTarget says whether a rule is about the target, and not about requests alone.
func (r StopRules) OfTarget() bool {
	return r.Alarm || r.LeaderChange || r.DatabaseSize != nil || r.WALFsync != nil
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

// For is the time over which the rule counts.
func (r ErrorRatioRule) For() time.Duration { return time.Duration(r.ForSeconds) * time.Second }

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

// For is the time over which the rule takes the mean.
func (r WALFsyncRule) For() time.Duration { return time.Duration(r.ForSeconds) * time.Second }

// MaxMean is the longest mean that the rule allows.
func (r WALFsyncRule) MaxMean() time.Duration {
	return time.Duration(r.MaxMeanMicroseconds) * time.Microsecond
}

// GuardRule names a rule of StopRules.
//
// +kubebuilder:validation:Enum=Alarm;LeaderChange;DatabaseSize;ErrorRatio;WALFsync
type GuardRule string

// The rules.
const (
	GuardAlarm        GuardRule = "Alarm"
	GuardLeaderChange GuardRule = "LeaderChange"
	GuardDatabaseSize GuardRule = "DatabaseSize"
	GuardErrorRatio   GuardRule = "ErrorRatio"
	GuardWALFsync     GuardRule = "WALFsync"
)

// GuardRules are all rules.
func GuardRules() []GuardRule {
	return []GuardRule{GuardAlarm, GuardLeaderChange, GuardDatabaseSize, GuardErrorRatio, GuardWALFsync}
}
